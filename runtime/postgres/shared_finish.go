package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// sharedCompletionSQL is finishSQL for what nearly every attempt comes to: it
// completed, and nobody wishes for another. The row of work goes, and that it
// goes is the lock: whoever takes an execution over, or changes it, locks its
// row of work first, and then finds none. Rows with a wish are left out. The
// rows go in the order of the arguments, which is that of their ids.
//
// Writing its steps stands apart, as most attempts have none left to write, and
// so does reading what never changes, as most have been begun by this process,
// which remembers it.
const (
	goneSQL = `
WITH gone AS (
	DELETE FROM restaq.work w
	USING unnest($1::integer[], $2::uuid[], $3::bigint[], $4::bytea[]) AS r (n, execution, token, detail)
	WHERE w.execution = r.execution AND w.token = r.token AND w.status = 'running' AND w.wish = 0
	RETURNING r.n, w.execution, w.attempts, w.kind, w.token, w.started_at, w.error, r.detail
)`

	goneStepsSQL = `, rows AS (
	INSERT INTO restaq.step (execution, attempt, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail)
	SELECT g.execution, g.attempts, r.seq, r.started_at, r.ended_at, r.func, r.shape, r.status, r.name, r.error, r.output, r.inputs, r.detail
	FROM gone g
	JOIN unnest($5::integer[],
		$6::integer[], $7::timestamptz[], $8::timestamptz[], $9::integer[], $10::integer[], $11::smallint[],
		$12::text[], $13::text[], $14::bytea[], $15::bytea[], $16::bytea[])
		AS r (n, seq, started_at, ended_at, func, shape, status, name, error, output, inputs, detail) ON r.n = g.n
)`

	closedSQL = `
	INSERT INTO restaq.attempt (execution, number, kind, token, started_at, ended_at, outcome, earlier, detail)
	SELECT execution, attempts, kind, token, started_at, now(), 'completed', error, detail FROM gone`

	// What became of executions that are remembered.
	knownSQL = closedSQL + `
	RETURNING execution, number, ended_at, earlier`

	// What became of others.
	unknownSQL = `, closed AS (` + closedSQL + `)
SELECT g.execution, g.attempts, now(), g.error, ` + executionColumns + `
FROM gone g
JOIN restaq.execution e ON e.id = g.execution
JOIN restaq.event ev ON ev.seq = e.event`

	sharedCompletionSQL             = goneSQL + knownSQL
	sharedCompletionStepsSQL        = goneSQL + goneStepsSQL + knownSQL
	sharedCompletionUnknownSQL      = goneSQL + unknownSQL
	sharedCompletionUnknownStepsSQL = goneSQL + goneStepsSQL + unknownSQL

	// One execution that is remembered, without steps.
	oneCompletionSQL = `
WITH gone AS (
	DELETE FROM restaq.work
	WHERE execution = $1::uuid AND token = $2::bigint AND status = 'running' AND wish = 0
	RETURNING execution, attempts, kind, token, started_at, error
)
INSERT INTO restaq.attempt (execution, number, kind, token, started_at, ended_at, outcome, earlier, detail)
SELECT execution, attempts, kind, token, started_at, now(), 'completed', error, $3::bytea FROM gone
RETURNING execution, number, ended_at, earlier`
)

// finishCall is what Finish is asked for.
type finishCall struct {
	id      pgtype.UUID
	token   int64
	outcome *restaq.Outcome
	terms   []int32           // the function and the shape of each step
	known   *restaq.Execution // what never changes of it, if that is remembered
}

// completes reports whether an outcome is that of sharedCompletionSQL.
func completes(o *restaq.Outcome) bool {
	return o.Status == restaq.Completed && o.Attempt == restaq.AttemptCompleted && o.Error == "" && o.Step == "" && !o.Uncounted
}

func sortFinishes(calls []*call) {
	slices.SortStableFunc(calls, func(a, b *call) int {
		return compareIDs(a.in.(*finishCall).id, b.in.(*finishCall).id)
	})
}

func (s *Store) sharedCompletion(calls []*call) shared {
	read := func(rows pgx.Rows) error { return readCompletions(rows, calls) }
	if in := calls[0].in.(*finishCall); len(calls) == 1 && in.known != nil && len(in.outcome.Steps) == 0 {
		return shared{oneCompletionSQL, []any{in.id, in.token, in.outcome.Detail}, read}
	}
	sortFinishes(calls)
	n := len(calls)
	var (
		numbers  = make([]int32, 0, n)
		ids      = make([]pgtype.UUID, 0, n)
		tokens   = make([]int64, 0, n)
		details  = make([][]byte, 0, n)
		steps    sharedSteps
		allKnown = true
	)
	for i, c := range calls {
		in := c.in.(*finishCall)
		numbers, ids, tokens = append(numbers, int32(i)), append(ids, in.id), append(tokens, in.token)
		details = append(details, in.outcome.Detail)
		steps.add(i, in.outcome.Steps, in.terms)
		allKnown = allKnown && in.known != nil
	}
	if !allKnown {
		for _, c := range calls {
			c.in.(*finishCall).known = nil
		}
	}
	st := shared{sql: sharedCompletionSQL, args: []any{numbers, ids, tokens, details}, read: read}
	withSteps := len(steps.calls) > 0
	switch {
	case withSteps && allKnown:
		st.sql = sharedCompletionStepsSQL
	case withSteps:
		st.sql = sharedCompletionUnknownStepsSQL
	case !allKnown:
		st.sql = sharedCompletionUnknownSQL
	}
	if withSteps {
		st.args = append(append(st.args, steps.calls), steps.columns()...)
	}
	return st
}

// readCompletions reads what became of executions: of each, what was read of
// it or what is remembered.
func readCompletions(rows pgx.Rows, calls []*call) error {
	byID := make(map[[16]byte]*call, len(calls))
	for _, c := range calls {
		byID[c.in.(*finishCall).id.Bytes] = c
	}
	for rows.Next() {
		var x restaq.Execution
		var id pgtype.UUID
		targets := []any{&id, &x.Attempts, utc{&x.FinishedAt}, &x.Error}
		if len(rows.FieldDescriptions()) > len(targets) {
			targets = append(targets, executionTargets(&x)...)
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		c := byID[id.Bytes]
		if known := c.in.(*finishCall).known; known != nil {
			x.ID, x.Handler, x.Event, x.ReplayOf, x.CreatedAt = known.ID, known.Handler, known.Event, known.ReplayOf, known.CreatedAt
		}
		x.Status = restaq.Completed
		c.committed, c.out = true, &x
	}
	return rows.Err()
}

// sharedFinish ends attempts with any outcome.
func (s *Store) sharedFinish(calls []*call) shared {
	sortFinishes(calls)
	var steps stepRows
	var ends finishRows
	for i, c := range calls {
		in := c.in.(*finishCall)
		ends.add(i, in.id, in.token, in.outcome)
		if !in.outcome.Uncounted {
			steps.add(in.id, in.outcome.Steps)
		}
	}
	return shared{
		sql:  sharedFinishSQL,
		args: steps.arguments(ends.columns()...),
		read: func(rows pgx.Rows) error {
			for rows.Next() {
				x := new(restaq.Execution)
				var n int32
				if err := rows.Scan(append(append([]any{&n}, executionTargets(x)...), stateTargets(x)...)...); err != nil {
					return err
				}
				calls[n].committed, calls[n].out = true, x
			}
			return rows.Err()
		},
	}
}

// finishRows are ends of attempts column by column.
type finishRows struct {
	numbers        []int32
	ids            []pgtype.UUID
	tokens         []int64
	next, outcomes []string
	retry          []bool
	retryIn        []int64
	errs, steps    []string
	details        [][]byte
	uncounted      []bool
}

func (r *finishRows) add(n int, id pgtype.UUID, token int64, o *restaq.Outcome) {
	r.numbers, r.ids, r.tokens = append(r.numbers, int32(n)), append(r.ids, id), append(r.tokens, token)
	r.next, r.outcomes = append(r.next, string(o.Status)), append(r.outcomes, string(o.Attempt))
	r.retry, r.retryIn = append(r.retry, o.Retry), append(r.retryIn, max(o.RetryIn, 0).Microseconds())
	r.errs, r.steps, r.details = append(r.errs, o.Error), append(r.steps, o.Step), append(r.details, o.Detail)
	r.uncounted = append(r.uncounted, o.Uncounted)
}

func (r *finishRows) columns() []any {
	return []any{
		r.numbers, r.ids, r.tokens, r.next, r.outcomes, r.retry, r.retryIn, r.errs, r.steps, r.details, r.uncounted,
	}
}

// finishShared ends an attempt in a commit that others share. The execution is
// nil if it has to be done the careful way.
func (s *Store) finishShared(ctx context.Context, id pgtype.UUID, token int64, o *restaq.Outcome) (*restaq.Execution, error) {
	own := *o // which the caller goes on to change if it gives up
	in := &finishCall{id: id, token: token, outcome: &own}
	c := &call{kind: outcomes, in: in, size: stepSize(o.Steps) + len(o.Error) + len(o.Detail)}
	if completes(o) {
		terms, err := s.stepTerms(ctx, o.Steps)
		if err != nil {
			return nil, err
		}
		c.kind, in.terms, in.known = completions, terms, s.begun.take(id)
	}
	if err := s.writes.do(ctx, c); err != nil || !c.committed {
		return nil, err
	}
	return c.out.(*restaq.Execution), nil
}
