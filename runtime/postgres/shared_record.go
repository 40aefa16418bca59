package postgres

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// sharedRecordSQL is recordSQL for the steps of many attempts. There is a row
// for each step, and one with the step number 0 for an attempt that has none.
//
// The rows of work are locked one after the other as the arguments have them,
// in the order of their ids. One that somebody holds is left out: its caller
// waits for it alone. Steps are inserted without looking for their like, which
// would cost a third of the write; if there is one, the statement fails, and
// all its callers go the careful way.
const sharedRecordSQL = `
WITH held AS MATERIALIZED (
	SELECT r.*, w.attempts AS attempt, w.step
	FROM unnest($1::integer[], $2::uuid[], $3::bigint[], $4::text[],
		$5::integer[], $6::timestamptz[], $7::timestamptz[], $8::integer[], $9::integer[], $10::smallint[],
		$11::text[], $12::text[], $13::bytea[], $14::bytea[], $15::bytea[])
		AS r (n, execution, token, current,
			seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail)
	CROSS JOIN LATERAL (
		SELECT attempts, step FROM restaq.work
		WHERE execution = r.execution AND token = r.token AND status = 'running'
		FOR KEY SHARE SKIP LOCKED
	) w
), rows AS (
	INSERT INTO restaq.step (execution, attempt, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail)
	SELECT execution, attempt, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail
	FROM held WHERE seq > 0
), current AS (
	UPDATE restaq.work w SET step = h.current
	FROM held h WHERE w.execution = h.execution AND h.step <> h.current
)
SELECT array_agg(n) FROM held`

// recordCall is what Record is asked for.
type recordCall struct {
	id       pgtype.UUID
	token    int64
	progress *restaq.Progress
	terms    []int32 // the function and the shape of each step
}

func (s *Store) sharedRecord(calls []*call) shared {
	slices.SortStableFunc(calls, func(a, b *call) int {
		return compareIDs(a.in.(*recordCall).id, b.in.(*recordCall).id)
	})
	rows := newSharedSteps(len(calls))
	var (
		ids     = make([]pgtype.UUID, 0, len(calls))
		tokens  = make([]int64, 0, len(calls))
		current = make([]string, 0, len(calls))
		left    = make([]int, len(calls)) // rows of each call that are not known to be written
	)
	for i, c := range calls {
		in := c.in.(*recordCall)
		rows.add(i, in.progress.Steps, in.terms)
		if len(in.progress.Steps) == 0 {
			rows.add(i, []restaq.StepRow{{}}, []int32{0, 0})
		}
		for range max(len(in.progress.Steps), 1) {
			ids, tokens, current = append(ids, in.id), append(tokens, in.token), append(current, in.progress.Current)
			left[i]++
		}
	}
	return shared{
		sql:  sharedRecordSQL,
		args: append([]any{rows.calls, ids, tokens, current}, rows.columns()...),
		read: func(rows pgx.Rows) error {
			written, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]int32])
			for _, n := range written {
				left[n]--
			}
			for i, c := range calls {
				c.committed = left[i] == 0
			}
			return err
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
	ids, err := s.stepTerms(ctx, p.Steps)
	if err != nil {
		return false, err
	}
	c := &call{kind: records, in: &recordCall{id, token, p, ids}, size: stepSize(p.Steps)}
	err = s.writes.do(ctx, c)
	return c.committed, cmp.Or(err, c.err)
}
