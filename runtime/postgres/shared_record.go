package postgres

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// oneRecordSQL and sharedRecordSQL append steps to attempts that hold their
// leases, as recordSQL does, where no other step is under way, and none was
// noted. FOR KEY SHARE
// keeps a row of work from being taken over, cancelled or finished until the
// write has committed; the token is tested on the row as it is once locked.
//
// A row of work that somebody holds is left out, and its caller goes the
// careful way; so is one on which a step is noted that is no longer under way.
// The rows are locked one after the other as the arguments have them, in the
// order of their ids. Steps are inserted without looking for their like, which
// would cost a third of the write; if there is one, the statement fails, and
// all its callers go the careful way.
const (
	oneRecordSQL = `
INSERT INTO restaq.step (execution, attempt, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail)
SELECT $1::uuid, w.attempts, $3::integer, $4::timestamptz, $5::timestamptz, $6::integer, $7::integer, $8::smallint,
	$9::text, $10::text, $11::bytea, $12::bytea, $13::bytea
FROM restaq.work w
WHERE w.execution = $1::uuid AND w.token = $2::bigint AND w.status = 'running' AND w.step = ''
FOR KEY SHARE SKIP LOCKED`

	sharedRecordSQL = `
INSERT INTO restaq.step (execution, attempt, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail)
SELECT r.execution, w.attempts, r.seq, r.started_at, r.ended_at, r.func, r.shape, r.status, r.name, r.error, r.output, r.inputs, r.detail
FROM unnest($1::uuid[], $2::bigint[],
	$3::integer[], $4::timestamptz[], $5::timestamptz[], $6::integer[], $7::integer[], $8::smallint[],
	$9::text[], $10::text[], $11::bytea[], $12::bytea[], $13::bytea[])
	AS r (execution, token, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail)
CROSS JOIN LATERAL (
	SELECT attempts FROM restaq.work
	WHERE execution = r.execution AND token = r.token AND status = 'running' AND step = ''
	FOR KEY SHARE SKIP LOCKED
) w
RETURNING execution`

	// Where other steps are under way, that is noted as well.
	sharedNoteSQL = `
WITH held AS MATERIALIZED (
	SELECT r.*, w.attempts AS attempt, w.step
	FROM unnest($1::uuid[], $2::bigint[],
		$3::integer[], $4::timestamptz[], $5::timestamptz[], $6::integer[], $7::integer[], $8::smallint[],
		$9::text[], $10::text[], $11::bytea[], $12::bytea[], $13::bytea[], $14::text[])
		AS r (execution, token, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail, current)
	CROSS JOIN LATERAL (
		SELECT attempts, step FROM restaq.work
		WHERE execution = r.execution AND token = r.token AND status = 'running'
		FOR KEY SHARE SKIP LOCKED
	) w
), current AS (
	UPDATE restaq.work w SET step = h.current
	FROM held h WHERE w.execution = h.execution AND h.step <> h.current
)
INSERT INTO restaq.step (execution, attempt, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail)
SELECT execution, attempt, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail FROM held
RETURNING execution`
)

// recordCall is what Record is asked for.
type recordCall struct {
	id       pgtype.UUID
	token    int64
	progress *restaq.Progress
	terms    []int32 // the function and the shape of each step
}

func (s *Store) sharedRecord(calls []*call) shared {
	if len(calls) == 1 && len(calls[0].in.(*recordCall).progress.Steps) == 1 {
		return s.oneRecord(calls[0])
	}
	args, _ := recordRows(calls)
	return shared{sharedRecordSQL, args, func(rows pgx.Rows) error { return readRecords(rows, calls) }}
}

// sharedNote is sharedRecord for attempts with other steps under way.
func (s *Store) sharedNote(calls []*call) shared {
	args, current := recordRows(calls)
	return shared{sharedNoteSQL, append(args, current), func(rows pgx.Rows) error { return readRecords(rows, calls) }}
}

// recordRows sorts calls and returns their steps column by column, and the step
// under way beside each.
func recordRows(calls []*call) (args []any, current []string) {
	slices.SortStableFunc(calls, func(a, b *call) int {
		return compareIDs(a.in.(*recordCall).id, b.in.(*recordCall).id)
	})
	rows := newSharedSteps(len(calls))
	ids, tokens := make([]pgtype.UUID, 0, len(calls)), make([]int64, 0, len(calls))
	for _, c := range calls {
		in := c.in.(*recordCall)
		rows.add(0, in.progress.Steps, in.terms)
		for range in.progress.Steps {
			ids, tokens, current = append(ids, in.id), append(tokens, in.token), append(current, in.progress.Current)
		}
	}
	return append([]any{ids, tokens}, rows.columns()...), current
}

// readRecords finds the calls all of whose steps were inserted. Rows come as
// they were inserted, less those left out.
func readRecords(rows pgx.Rows, calls []*call) error {
	written := make(map[[16]byte]int, len(calls))
	var id pgtype.UUID
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return err
		}
		written[id.Bytes]++
	}
	wanted := make(map[[16]byte]int, len(calls))
	for _, c := range calls {
		in := c.in.(*recordCall)
		wanted[in.id.Bytes] += len(in.progress.Steps)
	}
	for _, c := range calls {
		id := c.in.(*recordCall).id.Bytes
		c.committed = written[id] == wanted[id]
	}
	return rows.Err()
}

// oneRecord is sharedRecord for one step.
func (s *Store) oneRecord(c *call) shared {
	in := c.in.(*recordCall)
	r := &in.progress.Steps[0]
	return shared{
		sql: oneRecordSQL,
		args: []any{
			in.id, in.token, int32(r.Seq), r.StartedAt, r.EndedAt, in.terms[0], in.terms[1],
			statusCode(r.Status), r.Name, r.Error, r.Output, r.Inputs, r.Detail,
		},
		read: func(rows pgx.Rows) error {
			rows.Close()
			c.committed = rows.CommandTag().RowsAffected() == 1
			return rows.Err()
		},
	}
}

// sharedSteps are steps column by column, each with the number of its call.
type sharedSteps struct {
	calls, seqs             []int32
	started, ended          []time.Time
	funcs, shapes           []int32
	status                  []int16
	names, errs             []string
	outputs, inputs, detail [][]byte
}

func newSharedSteps(n int) *sharedSteps {
	return &sharedSteps{
		make([]int32, 0, n), make([]int32, 0, n), make([]time.Time, 0, n), make([]time.Time, 0, n),
		make([]int32, 0, n), make([]int32, 0, n), make([]int16, 0, n), make([]string, 0, n), make([]string, 0, n),
		make([][]byte, 0, n), make([][]byte, 0, n), make([][]byte, 0, n),
	}
}

func (r *sharedSteps) add(call int, steps []restaq.StepRow, terms []int32) {
	for i := range steps {
		s := &steps[i]
		r.calls, r.seqs = append(r.calls, int32(call)), append(r.seqs, int32(s.Seq))
		r.started, r.ended = append(r.started, s.StartedAt.UTC()), append(r.ended, s.EndedAt.UTC())
		r.funcs, r.shapes = append(r.funcs, terms[2*i]), append(r.shapes, terms[2*i+1])
		r.status = append(r.status, statusCode(s.Status))
		r.names, r.errs = append(r.names, s.Name), append(r.errs, s.Error)
		r.outputs, r.inputs, r.detail = append(r.outputs, s.Output), append(r.inputs, s.Inputs), append(r.detail, s.Detail)
	}
}

// columns are all but the numbers of the calls.
func (r *sharedSteps) columns() []any {
	return []any{
		r.seqs, r.started, r.ended, r.funcs, r.shapes, r.status, r.names, r.errs, r.outputs, r.inputs, r.detail,
	}
}

// stepTerms are the ids of the functions and the shapes of steps.
func (s *Store) stepTerms(ctx context.Context, steps []restaq.StepRow) ([]int32, error) {
	if len(steps) == 0 {
		return nil, nil
	}
	texts := make([]string, 0, 2*len(steps))
	for i := range steps {
		texts = append(texts, steps[i].Func, steps[i].Shape)
	}
	return s.resolve(ctx, make([]int32, 0, len(texts)), texts...)
}

// stepSize is about how many bytes steps carry.
func stepSize(steps []restaq.StepRow) (n int) {
	for i := range steps {
		n += 100 + len(steps[i].Output) + len(steps[i].Error) + len(steps[i].Detail)
	}
	return n
}

func compareIDs(a, b pgtype.UUID) int { return bytes.Compare(a.Bytes[:], b.Bytes[:]) }

// recordShared records in a commit that others share. done is false if it has to
// be done the careful way.
func (s *Store) recordShared(ctx context.Context, id pgtype.UUID, token int64, p *restaq.Progress) (done bool, err error) {
	if len(p.Steps) == 0 {
		return false, nil // there is only the step under way to note
	}
	ids, err := s.stepTerms(ctx, p.Steps)
	if err != nil {
		return false, err
	}
	c := &call{kind: records, in: &recordCall{id, token, p, ids}, size: stepSize(p.Steps)}
	if p.Current != "" {
		c.kind = notes
	}
	if err := s.writes.do(ctx, c); err != nil {
		return false, err
	}
	return c.committed, nil
}
