package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// Finish closes the attempt that holds the lease.
func (s *Store) Finish(ctx context.Context, lease restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	x, err := s.finish(ctx, lease, o)
	if err != nil && !errors.Is(err, restaq.ErrLeaseLost) {
		return nil, fmt.Errorf("finish attempt: %w", err)
	}
	return x, err
}

func (s *Store) finish(ctx context.Context, lease restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	id, ok := parseLease(lease)
	if !ok {
		return nil, restaq.ErrLeaseLost
	}
	t := s.tails.get(id, lease.Token)
	terms, err := s.stepTerms(ctx, o.Steps)
	if err != nil {
		return nil, err
	}
	x, err := s.finishShared(ctx, t, o, terms)
	if err == nil && x == nil {
		x, err = s.finishAlone(ctx, t, id, lease.Token, o, terms)
	}
	if errors.Is(err, restaq.ErrNotFound) {
		x, err = s.finishedBefore(ctx, id, lease, o)
	}
	if errors.Is(err, restaq.ErrNotFound) {
		err = restaq.ErrLeaseLost
	}
	if err == nil || errors.Is(err, restaq.ErrLeaseLost) {
		s.tails.drop(t)
	}
	return x, err
}

// finishAlone ends an attempt by itself. It waits for whoever holds the row of
// work, or writes to the same log.
func (s *Store) finishAlone(ctx context.Context, t *tail, id pgtype.UUID, token int64, o *restaq.Outcome, terms []int32) (x *restaq.Execution, err error) {
	if err := t.wait(ctx); err != nil {
		return nil, err
	}
	defer t.release()
	t.forget()
	err = s.statement(ctx, func(q querier) error {
		next, written, err := s.readLog(ctx, q, id, token)
		if err != nil {
			return err
		}
		b := newBatch()
		defer b.free()
		rows, ends := b.entries(), b.ends()
		if !o.Uncounted {
			rows.addNew(id, int32(token), &next, &written, o.Steps, terms)
		}
		ends.add(0, id, int32(token), next, o)
		row, err := rawRow(ctx, q, s.q(finishSQL), b.parameters(append(rows.all(), ends.all()...)))
		switch {
		case err != nil:
			return err
		case row == nil:
			return restaq.ErrNotFound
		}
		read := readExecution(row[1:])
		x = &read
		return nil
	})
	return x, err
}

// finishedBeforeSQL reads the execution if the lease's own process ended the
// attempt with this very outcome, the answer to which was lost. Lost and
// cancelled are what others make of it.
const finishedBeforeSQL = `
SELECT ` + executionColumns + `, ` + stateColumns + `
FROM restaq.execution e
JOIN restaq.event ev ON ` + ofEvent + stateTables + `
WHERE e.id = $1::uuid AND EXISTS (
	SELECT FROM restaq.entry t
	WHERE t.execution = e.id AND t.token = $2::bigint AND t.kind IS NOT NULL AND t.outcome = $3::smallint
		AND t.outcome NOT IN (` + lostCode + `, ` + cancelledCode + `)
		AND coalesce(t.error, '') = $4::text AND coalesce(t.name, '') = $5::text
		AND CASE WHEN $7::boolean THEN t.attempt IS NULL ELSE t.attempt = $6::integer END)`

func (s *Store) finishedBefore(ctx context.Context, id pgtype.UUID, lease restaq.Lease, o *restaq.Outcome) (x *restaq.Execution, err error) {
	err = s.statement(ctx, func(q querier) (err error) {
		x, err = s.execution(ctx, q, finishedBeforeSQL, id, lease.Token, outcomeCode(o.Attempt), o.Error, o.Step, int32(lease.Attempt), o.Uncounted)
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
