package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// What nearly every attempt comes to: it completed, and nobody wishes for
// another. Its log gets its end, which shows, as any entry does, that the lease
// holds; and so the row of work is as this process knows it, but for a wish that
// may have been noted. It goes. A wish fails the statement (by a division by
// zero, as there is no plainer way to fail), and what others share it with goes
// the careful way too.
//
// Whoever takes an execution over, or changes it, locks its row of work first,
// and then finds none. The rows go in the order of their ids.
const (
	endsSQL = `
INSERT INTO restaq.entry (execution, token, position, started_at, ended_at, outcome, attempt, kind, earlier, detail)
SELECT unnest($1::uuid[]), unnest($2::integer[]), unnest($3::integer[]), unnest($4::timestamptz[]), now(), 0,
	unnest($5::integer[]), unnest($6::smallint[]), unnest($7::text[]), unnest($8::bytea[])`

	goneSQL = `
DELETE FROM restaq.work WHERE execution = ANY ($1::uuid[]) RETURNING now(), 1 / (wish = 0)::integer`

	// One execution in one statement. A wish leaves it undone.
	oneCompletionSQL = `
WITH gone AS (
	DELETE FROM restaq.work WHERE execution = $1::uuid AND token = $2::integer AND status = 'running' AND wish = 0
	RETURNING 1
)
INSERT INTO restaq.entry (execution, token, position, started_at, ended_at, outcome, attempt, kind, earlier, detail)
SELECT $1::uuid, $2::integer, $3::integer, $4::timestamptz, now(), 0, $5::integer, $6::smallint, $7::text, $8::bytea FROM gone
RETURNING ended_at`
)

// finishCall is what Finish is asked for.
type finishCall struct {
	tail    *tail
	outcome restaq.Outcome
	terms   []int32 // of the steps
	end     int32   // the position of the end
}

// completes reports whether an outcome is that of a sharedCompletion.
func completes(o *restaq.Outcome) bool {
	return o.Status == restaq.Completed && o.Attempt == restaq.AttemptCompleted && o.Error == "" && o.Step == "" && !o.Uncounted
}

// taken sorts calls and leaves out those whose logs others write to, or of which
// it is not known where they end. It adds the steps of the rest to rows, and
// says where their ends go.
func (b *batch) taken(rows *entryRows, calls []*call) []*call {
	slices.SortStableFunc(calls, func(x, y *call) int {
		return compareIDs(x.in.(*finishCall).tail.id, y.in.(*finishCall).tail.id)
	})
	calls = slices.DeleteFunc(slices.Clone(calls), func(c *call) bool { return !b.take(c.in.(*finishCall).tail) })
	for _, c := range calls {
		in := c.in.(*finishCall)
		t := in.tail
		if !in.outcome.Uncounted {
			rows.addNew(t.id, t.token, &t.next, &t.written, in.outcome.Steps, in.terms)
		}
		in.end = t.next
		t.forget() // either the log has ended, or it is to be seen what there is
	}
	return calls
}

// sharedCompletion ends attempts that completed. What it returns of an execution
// is known.
func (s *Store) sharedCompletion(b *batch, calls []*call) {
	rows := b.entries()
	calls = b.taken(&rows, calls)
	b.append(&rows)
	if len(calls) == 0 {
		return
	}
	ids, tokens, positions := b.column(pgtype.UUIDOID), b.column(pgtype.Int4OID), b.column(pgtype.Int4OID)
	started, attempts, kinds := b.column(pgtype.TimestamptzOID), b.column(pgtype.Int4OID), b.column(pgtype.Int2OID)
	earlier, details := b.column(pgtype.TextOID), b.column(pgtype.ByteaOID)
	for _, c := range calls {
		in := c.in.(*finishCall)
		t := in.tail
		ids.uuid(t.id)
		tokens.int4(t.token)
		positions.int4(in.end)
		started.time(t.startedAt)
		attempts.int4(t.attempt)
		kinds.int2(int16(t.kind))
		earlier.textOrNull(t.earlier)
		details.bytes(in.outcome.Detail)
	}
	all := []*array{ids, tokens, positions, started, attempts, kinds, earlier, details}
	read := func(row [][]byte) error {
		for _, c := range calls {
			t := c.in.(*finishCall).tail
			x := t.execution
			x.Status, x.Attempts, x.Error, x.FinishedAt = restaq.Completed, int(t.attempt), t.earlier, readTime(row[0])
			c.committed, c.out = true, &x
		}
		return nil
	}
	if len(calls) == 1 {
		b.addOne(oneCompletionSQL, read, all...)
		return
	}
	gone := 0
	b.add(endsSQL, nil, all...)
	b.add(goneSQL, func(row [][]byte) error {
		if gone++; gone < len(calls) {
			return nil
		}
		return read(row)
	}, ids)
}

// finishSQL ends attempts with any outcome. FOR UPDATE waits for writes that are
// under way and lock the row of work, and nobody can take the execution over
// until this one has committed. A completed execution's row of work goes; any
// other outcome, or a wish noted meanwhile, moves it on.
//
// The end of an attempt that does not count has no number, and its kind waits
// for the next one.
//
// The rows are locked one after the other as the arguments have them, in the
// order of their ids. Together with others, those that somebody holds are left
// out.
const (
	finishSQL       = finishHeldSQL + finishRestSQL
	sharedFinishSQL = finishHeldSQL + ` SKIP LOCKED` + finishRestSQL
)

const finishHeldSQL = `
WITH held AS MATERIALIZED (
	SELECT r.*, w.attempts AS attempt, w.kind, w.wish, w.started_at, w.error AS earlier,
		CASE WHEN w.wish <> 0 THEN 'pending' ELSE r.next END AS becomes,
		CASE WHEN r.outcome IN (` + failedCode + `, ` + releasedCode + `) THEN r.error ELSE w.error END AS last_error
	FROM (SELECT unnest($14::integer[]) AS n, unnest($15::uuid[]) AS execution, unnest($16::integer[]) AS token,
		unnest($17::integer[]) AS position, unnest($18::text[]) AS next, unnest($19::smallint[]) AS outcome,
		unnest($20::boolean[]) AS retry, unnest($21::bigint[]) AS retry_in,
		unnest($22::text[]) AS error, unnest($23::text[]) AS step, unnest($24::bytea[]) AS detail,
		unnest($25::boolean[]) AS uncounted, unnest($26::text[]) AS stopped_by) AS r
	CROSS JOIN LATERAL (
		SELECT attempts, kind, wish, started_at, error FROM restaq.work
		WHERE execution = r.execution AND token = r.token AND status = 'running'
		FOR UPDATE`

const finishRestSQL = `
	) w
), ` + appendSQL + `, closed AS (
	INSERT INTO restaq.entry (execution, token, position, attempt, kind, started_at, ended_at, outcome, error, name, earlier, detail)
	SELECT execution, token, position, CASE WHEN NOT uncounted THEN attempt END, kind, started_at, now(),
		outcome, error, step, earlier, detail
	FROM held
	RETURNING execution, attempt, ended_at, earlier, name AS step
), gone AS (
	DELETE FROM restaq.work w USING held h WHERE w.execution = h.execution AND h.becomes = 'completed'
), moved AS (
	UPDATE restaq.work w SET
		status = h.becomes,
		attempts = CASE WHEN h.uncounted THEN h.attempt - 1 ELSE h.attempt END,
		wish = CASE WHEN h.uncounted THEN greatest(h.wish, h.kind) ELSE h.wish END,
		due_at = CASE
			WHEN h.wish <> 0 THEN now()
			WHEN h.becomes = 'pending' THEN now() + h.retry_in * interval '1 microsecond'
			WHEN h.retry THEN now() + h.retry_in * interval '1 microsecond' END,
		finished_at = CASE WHEN h.becomes = 'failed' AND NOT h.retry THEN now() END,
		lease_until = NULL, started_at = NULL, owner = NULL,
		error = h.last_error, step = h.step, stopped_by = h.stopped_by
	FROM held h WHERE w.execution = h.execution AND h.becomes <> 'completed'
	RETURNING w.execution, w.status, w.attempts, w.finished_at, w.due_at, w.error, w.step, w.stopped_by
)
SELECT h.n, ` + executionColumns + `, ` + stateColumns + `
FROM held h
JOIN restaq.execution e ON e.id = h.execution
JOIN restaq.event ev ON ` + ofEvent + `
LEFT JOIN moved w ON w.execution = h.execution
LEFT JOIN closed a ON a.execution = h.execution`

// endRows are ends of attempts column by column.
type endRows struct {
	numbers, ids, tokens, positions, next, outcomes, retry, retryIn, errs, steps, details, uncounted, stopped *array
}

func (b *batch) ends() endRows {
	return endRows{
		numbers: b.column(pgtype.Int4OID), ids: b.column(pgtype.UUIDOID), tokens: b.column(pgtype.Int4OID),
		positions: b.column(pgtype.Int4OID), next: b.column(pgtype.TextOID), outcomes: b.column(pgtype.Int2OID),
		retry: b.column(pgtype.BoolOID), retryIn: b.column(pgtype.Int8OID),
		errs: b.column(pgtype.TextOID), steps: b.column(pgtype.TextOID), details: b.column(pgtype.ByteaOID),
		uncounted: b.column(pgtype.BoolOID), stopped: b.column(pgtype.TextOID),
	}
}

func (r *endRows) add(n int, id pgtype.UUID, token, position int32, o *restaq.Outcome) {
	r.numbers.int4(int32(n))
	r.ids.uuid(id)
	r.tokens.int4(token)
	r.positions.int4(position)
	r.next.text(string(o.Status))
	r.outcomes.int2(outcomeCode(o.Attempt))
	r.retry.bool(o.Retry)
	r.retryIn.int8(max(o.RetryIn, 0).Microseconds())
	r.errs.textOrNull(o.Error)
	r.steps.textOrNull(o.Step)
	r.details.bytes(o.Detail)
	r.uncounted.bool(o.Uncounted)
	r.stopped.textOrNull(string(o.StoppedBy))
}

func (r *endRows) all() []*array {
	return []*array{
		r.numbers, r.ids, r.tokens, r.positions, r.next, r.outcomes, r.retry, r.retryIn, r.errs, r.steps, r.details, r.uncounted, r.stopped,
	}
}

// sharedFinish ends attempts with any outcome.
func (s *Store) sharedFinish(b *batch, calls []*call) {
	rows, ends := b.entries(), b.ends()
	calls = b.taken(&rows, calls)
	if len(calls) == 0 {
		return
	}
	for i, c := range calls {
		in := c.in.(*finishCall)
		ends.add(i, in.tail.id, in.tail.token, in.end, &in.outcome)
	}
	b.add(sharedFinishSQL, func(row [][]byte) error {
		n := readInt(row[0])
		x := readExecution(row[1:])
		calls[n].committed, calls[n].out = true, &x
		return nil
	}, append(rows.all(), ends.all()...)...)
}

// finishShared ends an attempt in a commit that others share. The execution is
// nil if it has to be done the careful way.
func (s *Store) finishShared(ctx context.Context, t *tail, o *restaq.Outcome, terms []int32) (*restaq.Execution, error) {
	if t == nil {
		return nil, nil
	}
	c := newCall(outcomes, stepSize(o.Steps)+len(o.Error)+len(o.Detail))
	defer c.free()
	c.finish = finishCall{tail: t, outcome: *o, terms: terms} // the caller goes on to change o if it gives up
	c.in = &c.finish
	if completes(o) {
		c.kind = completions
	}
	if err := s.writes.do(ctx, c); err != nil || !c.committed {
		return nil, err
	}
	return c.out.(*restaq.Execution), nil
}
