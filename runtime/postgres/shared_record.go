package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// recordCall is what Record is asked for.
type recordCall struct {
	tail     *tail
	progress *restaq.Progress
	terms    []int32 // of the steps
}

// noteSQL notes the steps under way. The entries of the same commit have shown
// that the leases hold. What somebody has locked is left as it is: the next
// renewal notes it.
const noteSQL = `
UPDATE restaq.work w SET step = r.current
FROM (SELECT unnest($1::uuid[]) AS execution, unnest($2::text[]) AS current) r
WHERE w.execution = r.execution AND w.execution = ANY (ARRAY (
	SELECT execution FROM restaq.work WHERE execution = ANY ($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED))`

// sharedRecord appends steps to the logs of attempts. Calls whose logs others
// write to, or of which it is not known where they end, go the careful way, and
// so do those with nothing to write that would show that the lease holds.
func (s *Store) sharedRecord(b *batch, calls []*call) {
	slices.SortStableFunc(calls, func(x, y *call) int {
		return compareIDs(x.in.(*recordCall).tail.id, y.in.(*recordCall).tail.id)
	})
	rows := b.entries()
	var noted, current *array
	for _, c := range calls {
		in := c.in.(*recordCall)
		t := in.tail
		if !b.take(t) {
			continue
		}
		before := rows.n
		rows.addNew(t.id, t.token, &t.next, &t.written, in.progress.Steps, in.terms)
		if c.committed = rows.n > before; !c.committed {
			continue
		}
		if now := in.progress.Current; now != t.noted() {
			if noted == nil {
				noted, current = b.column(pgtype.UUIDOID), b.column(pgtype.TextOID)
			}
			noted.uuid(t.id)
			current.textOrNull(now)
			t.note(now)
		}
	}
	b.append(&rows)
	if noted != nil {
		b.add(noteSQL, nil, noted, current)
	}
}

// recordShared records in a commit that others share. done is false if it has to
// be done the careful way.
func (s *Store) recordShared(ctx context.Context, t *tail, p *restaq.Progress, terms []int32) (done bool, err error) {
	if t == nil || len(p.Steps) == 0 {
		return false, nil
	}
	c := newCall(records, stepSize(p.Steps))
	defer c.free()
	c.record = recordCall{t, p, terms}
	c.in = &c.record
	if err := s.writes.do(ctx, c); err != nil {
		return false, err
	}
	return c.committed, nil
}
