package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// appendSQL goes on from a common table held (execution, attempt), the rows of
// work that the statement has locked and whose tokens it has tested, and
// appends steps to them. Rows that are there already are left alone: the same
// write may come twice if an answer was lost.
const appendSQL = `
rows AS (
	INSERT INTO restaq.step (execution, attempt, seq, started_at, ended_at,
		name, func, status, error, shape, output, inputs, detail)
	SELECT h.execution, h.attempt, r.seq, r.started_at, r.ended_at,
		r.name, restaq.term_id(r.func), r.status, r.error, restaq.term_id(r.shape), r.output, r.inputs, r.detail
	FROM held h
	JOIN unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[],
		$7::smallint[], $8::text[], $9::text[], $10::bytea[], $11::bytea[], $12::bytea[])
		AS r (execution, seq, started_at, ended_at, name, func, status, error, shape, output, inputs, detail)
		ON r.execution = h.execution
	ON CONFLICT (execution, attempt, seq) DO NOTHING
)`

// stepRows are the arguments of appendSQL, column by column.
type stepRows struct {
	executions                []pgtype.UUID
	seqs                      []int32
	started, ended            []time.Time
	names, funcs, errs, shape []string
	status                    []int16
	outputs, inputs, details  [][]byte
}

func (r *stepRows) add(execution pgtype.UUID, steps []restaq.StepRow) {
	n := len(steps)
	r.executions, r.seqs = slices.Grow(r.executions, n), slices.Grow(r.seqs, n)
	for i := range steps {
		s := &steps[i]
		r.executions, r.seqs = append(r.executions, execution), append(r.seqs, int32(s.Seq))
		r.started, r.ended = append(r.started, s.StartedAt.UTC()), append(r.ended, s.EndedAt.UTC())
		r.names, r.funcs = append(r.names, s.Name), append(r.funcs, s.Func)
		r.status, r.errs = append(r.status, statusCode(s.Status)), append(r.errs, s.Error)
		r.shape = append(r.shape, s.Shape)
		r.outputs, r.inputs, r.details = append(r.outputs, s.Output), append(r.inputs, s.Inputs), append(r.details, s.Detail)
	}
}

func (r *stepRows) arguments(more ...any) []any {
	return append([]any{
		r.executions, r.seqs, r.started, r.ended, r.names, r.funcs, r.status, r.errs, r.shape, r.outputs, r.inputs, r.details,
	}, more...)
}

// recordSQL appends to the attempt that holds the lease. FOR KEY SHARE keeps
// the row from being taken over, cancelled or finished until the write has
// committed; if somebody got there first, the statement waits for that commit
// and tests the token of what it left. A renewal meanwhile is not held up.
//
// The step under way is written only if it is another one than before.
const recordSQL = `
WITH held AS MATERIALIZED (
	SELECT execution, attempts AS attempt, step FROM restaq.work
	WHERE execution = $13::uuid AND token = $14::bigint AND status = 'running'
	FOR KEY SHARE
), ` + appendSQL + `, current AS (
	UPDATE restaq.work w SET step = $15::text
	FROM held h WHERE w.execution = h.execution AND h.step <> $15::text
)
SELECT count(*) FROM held`

// Record appends progress to the attempt that holds the lease.
func (s *Store) Record(ctx context.Context, lease restaq.Lease, p *restaq.Progress) error {
	id, ok := parseID(lease.Execution)
	if !ok {
		return restaq.ErrLeaseLost
	}
	done, err := s.recordShared(ctx, id, lease.Token, p)
	if err == nil && !done {
		err = s.record(ctx, id, lease.Token, p)
	}
	if err != nil && !errors.Is(err, restaq.ErrLeaseLost) {
		return fmt.Errorf("record step: %w", err)
	}
	return err
}

// record records by itself. It waits for whoever holds the row of work.
func (s *Store) record(ctx context.Context, id pgtype.UUID, token int64, p *restaq.Progress) error {
	var rows stepRows
	rows.add(id, p.Steps)
	args := rows.arguments(id, token, p.Current)
	var held int64
	err := s.statement(ctx, func(q querier) (err error) {
		held, err = one[int64](ctx, q, s.q(recordSQL), args...)
		return err
	})
	if err == nil && held == 0 {
		err = restaq.ErrLeaseLost
	}
	return err
}

// renewSQL extends leases and appends what the attempts have to say. The rows
// are locked in the order of their ids, so that two statements over the same
// rows cannot wait for each other; the token is tested on the locked row. The
// lock does not conflict with FOR KEY SHARE: a renewal waits for no write of
// the attempt, be it a long one. A row that somebody holds for good reason, or
// is stuck with, is left out at first, so that it does not hold up the others.
const (
	renewFreeSQL = renewHeldSQL + ` SKIP LOCKED` + renewRestSQL
	renewSQL     = renewHeldSQL + renewRestSQL
)

const (
	renewHeldSQL = `
WITH held AS MATERIALIZED (
	SELECT w.execution, w.attempts AS attempt, r.current
	FROM restaq.work w
	JOIN unnest($13::uuid[], $14::bigint[], $15::text[]) AS r (execution, token, current)
		ON r.execution = w.execution AND r.token = w.token
	WHERE w.status = 'running'
	ORDER BY w.execution
	FOR NO KEY UPDATE OF w`

	renewRestSQL = `
), ` + appendSQL + `, renewed AS (
	UPDATE restaq.work w SET
		lease_until = clock_timestamp() + $16::bigint * interval '1 microsecond', step = h.current
	FROM held h WHERE w.execution = h.execution
)
SELECT execution::text FROM held`
)

// Renew extends leases and returns the executions that lost theirs.
func (s *Store) Renew(ctx context.Context, renewals []restaq.Renewal, d time.Duration) ([]string, error) {
	left, err := s.renew(ctx, renewFreeSQL, renewals, d)
	if err == nil && len(left) > 0 {
		left, err = s.renew(ctx, renewSQL, left, d)
	}
	if err != nil {
		return nil, fmt.Errorf("renew leases: %w", err)
	}
	var lost []string
	for i := range left {
		lost = append(lost, left[i].Lease.Execution)
	}
	return lost, nil
}

// renew extends leases and returns the renewals that it did not do.
func (s *Store) renew(ctx context.Context, sql string, renewals []restaq.Renewal, d time.Duration) (left []restaq.Renewal, err error) {
	var (
		rows    stepRows
		ids     []pgtype.UUID
		tokens  []int64
		current []string
	)
	for i := range renewals {
		r := &renewals[i]
		if id, ok := parseID(r.Lease.Execution); ok {
			ids, tokens, current = append(ids, id), append(tokens, r.Lease.Token), append(current, r.Progress.Current)
			rows.add(id, r.Progress.Steps)
		}
	}
	args := rows.arguments(ids, tokens, current, d.Microseconds())
	var held []string
	err = s.statementOn(ctx, s.renewPool, func(q querier) error {
		found, err := q.Query(ctx, s.q(sql), args...)
		if err != nil {
			return err
		}
		held, err = pgx.CollectRows(found, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return nil, err
	}
	renewed := make(map[string]bool, len(held))
	for _, id := range held {
		renewed[id] = true
	}
	for i := range renewals {
		if !renewed[renewals[i].Lease.Execution] {
			left = append(left, renewals[i])
		}
	}
	return left, nil
}

// finishSQL ends the attempt that holds the lease. FOR UPDATE waits for writes
// of the attempt that are under way, and nobody can take the execution over
// until this one has committed. A completed execution's row of work goes; any
// other outcome, or a wish noted meanwhile, moves it on.
//
// An attempt that does not count leaves no row, and its kind waits for the
// next one.
const (
	finishSQL       = finishHeldSQL + finishRestSQL
	sharedFinishSQL = finishHeldSQL + ` SKIP LOCKED` + finishRestSQL
)

// The rows are locked one after the other as the arguments have them, in the
// order of their ids. Together with others, those that somebody holds are left
// out.
const finishHeldSQL = `
WITH held AS MATERIALIZED (
	SELECT r.n, r.execution, w.attempts AS attempt, w.kind, w.wish, w.token, w.started_at, w.error AS earlier,
		r.outcome, r.retry, r.retry_in, r.error, r.step, r.detail, r.uncounted,
		CASE WHEN w.wish <> 0 THEN 'pending' ELSE r.next END AS next,
		CASE WHEN r.outcome = 'failed' THEN r.error ELSE w.error END AS last_error
	FROM unnest($13::integer[], $14::uuid[], $15::bigint[], $16::text[], $17::text[], $18::boolean[], $19::bigint[],
		$20::text[], $21::text[], $22::bytea[], $23::boolean[])
		AS r (n, execution, token, next, outcome, retry, retry_in, error, step, detail, uncounted)
	CROSS JOIN LATERAL (
		SELECT attempts, kind, wish, token, started_at, error FROM restaq.work
		WHERE execution = r.execution AND token = r.token AND status = 'running'
		FOR UPDATE`

const finishRestSQL = `
	) w
), ` + appendSQL + `, closed AS (
	INSERT INTO restaq.attempt (execution, number, kind, token, started_at, ended_at, outcome, error, step, earlier, detail)
	SELECT execution, attempt, kind, token, started_at, now(), outcome, error, step, earlier, detail
	FROM held WHERE NOT uncounted
	RETURNING execution, number, ended_at, earlier, step
), gone AS (
	DELETE FROM restaq.work w USING held h WHERE w.execution = h.execution AND h.next = 'completed'
), moved AS (
	UPDATE restaq.work w SET
		status = h.next,
		attempts = CASE WHEN h.uncounted THEN h.attempt - 1 ELSE h.attempt END,
		wish = CASE WHEN h.uncounted THEN greatest(h.wish, h.kind) ELSE h.wish END,
		due_at = CASE
			WHEN h.next = 'pending' THEN now()
			WHEN h.retry THEN now() + h.retry_in * interval '1 microsecond' END,
		finished_at = CASE WHEN h.next = 'failed' AND NOT h.retry THEN now() END,
		lease_until = NULL, started_at = NULL, owner = NULL,
		error = h.last_error, step = h.step
	FROM held h WHERE w.execution = h.execution AND h.next <> 'completed'
	RETURNING w.execution, w.status, w.attempts, w.finished_at, w.due_at, w.error, w.step
)
SELECT h.n, ` + executionColumns + `, ` + stateColumns + `
FROM held h
JOIN restaq.execution e ON e.id = h.execution
JOIN restaq.event ev ON ev.seq = e.event
LEFT JOIN moved w ON w.execution = h.execution
LEFT JOIN closed a ON a.execution = h.execution`

// Finish closes the attempt that holds the lease.
func (s *Store) Finish(ctx context.Context, lease restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	id, ok := parseID(lease.Execution)
	if !ok {
		return nil, restaq.ErrLeaseLost
	}
	x, err := s.finishShared(ctx, id, lease.Token, o)
	if err == nil && x == nil {
		x, err = s.finish(ctx, id, lease.Token, o)
	}
	if errors.Is(err, restaq.ErrNotFound) {
		x, err = s.finishedBefore(ctx, id, lease, o)
	}
	if errors.Is(err, restaq.ErrNotFound) {
		return nil, restaq.ErrLeaseLost
	}
	if err != nil {
		return nil, fmt.Errorf("finish attempt: %w", err)
	}
	return x, nil
}

// finish ends an attempt by itself. It waits for whoever holds the row of work.
func (s *Store) finish(ctx context.Context, id pgtype.UUID, token int64, o *restaq.Outcome) (*restaq.Execution, error) {
	c := &call{in: &finishCall{id: id, token: token, outcome: o}}
	st := s.sharedFinish([]*call{c})
	err := s.statement(ctx, func(q querier) error {
		rows, err := q.Query(ctx, s.q(finishSQL), st.args...)
		if err != nil {
			return err
		}
		return readAll(rows, &st)
	})
	if err == nil && !c.committed {
		err = restaq.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return c.out.(*restaq.Execution), nil
}

// finishedBeforeSQL reads the execution if the lease's own process ended the
// attempt with this very outcome, the answer to which was lost. An uncounted
// attempt left no row: it is known by its token for as long as nobody claims
// the execution.
const finishedBeforeSQL = `
SELECT ` + executionColumns + `, ` + stateColumns + `
FROM restaq.execution e
JOIN restaq.event ev ON ev.seq = e.event` + stateTables + `
WHERE e.id = $1::uuid AND CASE WHEN $7::boolean
	THEN w.token = $2::bigint AND w.attempts = $3::integer - 1
	ELSE EXISTS (
		SELECT FROM restaq.attempt t
		WHERE t.execution = e.id AND t.number = $3::integer AND t.token = $2::bigint
			AND t.outcome = $4::text AND t.error = $5::text AND t.step = $6::text)
	END`

func (s *Store) finishedBefore(ctx context.Context, id pgtype.UUID, lease restaq.Lease, o *restaq.Outcome) (x *restaq.Execution, err error) {
	err = s.statement(ctx, func(q querier) (err error) {
		x, err = s.execution(ctx, q, finishedBeforeSQL, id, lease.Token, int32(lease.Attempt), string(o.Attempt), o.Error, o.Step, o.Uncounted)
		return err
	})
	return x, err
}

// execution runs a statement that returns executionColumns and stateColumns of
// at most one execution. No row is ErrNotFound.
func (s *Store) execution(ctx context.Context, q querier, sql string, args ...any) (*restaq.Execution, error) {
	rows, err := q.Query(ctx, s.q(sql), args...)
	if err != nil {
		return nil, err
	}
	x, err := pgx.CollectExactlyOneRow(rows, scanExecution)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, restaq.ErrNotFound
	}
	return x, err
}

func scanExecution(row pgx.CollectableRow) (*restaq.Execution, error) {
	x := new(restaq.Execution)
	return x, row.Scan(append(executionTargets(x), stateTargets(x)...)...)
}
