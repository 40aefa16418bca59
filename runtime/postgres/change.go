package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

const readSQL = `
SELECT ` + executionColumns + `, ` + stateColumns + `
FROM restaq.execution e
JOIN restaq.event ev ON ` + ofEvent + stateTables + `
WHERE e.id = $1::uuid`

// Changes of one execution go one after the other: each locks the execution's
// row first, then its row of work, which waits for the writes of an attempt
// that are under way. Each statement sees what was committed before it began,
// so the third sees what the second waited for.
const (
	lockExecutionSQL = `SELECT true FROM restaq.execution WHERE id = $1::uuid FOR UPDATE`
	lockWorkSQL      = `SELECT status FROM restaq.work WHERE execution = $1::uuid FOR UPDATE`
)

// reopenSQL gives a completed execution a row of work again, with the number
// and token of its last attempt to count on from.
const reopenSQL = `
INSERT INTO restaq.work (execution, token, attempts, handler, order_key, place, status, error, step)
SELECT n.id, a.token, a.attempt, n.handler, ` + keyHash + `, n.place, 'completed', a.earlier, a.name
FROM restaq.execution n
JOIN LATERAL (
	SELECT token, attempt, earlier, name FROM restaq.entry
	WHERE execution = n.id ORDER BY token DESC, position DESC LIMIT 1
) a ON true
WHERE n.id = $1::uuid`

// nextPosition is where the next entry goes of the log of a row of work w.
const nextPosition = `coalesce((
	SELECT max(position) FROM restaq.entry WHERE execution = w.execution AND token = w.token), 0) + 1`

// The changes themselves, on a row of work that the transaction has locked.
const (
	toPendingSQL = `
UPDATE restaq.work SET status = 'pending', wish = greatest(wish, $2::smallint),
	due_at = least(due_at, clock_timestamp()), finished_at = NULL
WHERE execution = $1::uuid`

	wishSQL = `
UPDATE restaq.work SET wish = greatest(wish, $2::smallint) WHERE execution = $1::uuid`

	// A write of the attempt that is under way and locks nothing may take the
	// position away. Then all of it is done again.
	closeCancelledSQL = `
INSERT INTO restaq.entry (execution, token, position, attempt, kind, outcome, started_at, ended_at)
SELECT w.execution, w.token, ` + nextPosition + `, w.attempts, w.kind, ` + cancelledCode + `, w.started_at, clock_timestamp()
FROM restaq.work w
WHERE w.execution = $1::uuid`

	toCancelledSQL = `
UPDATE restaq.work SET status = 'cancelled', due_at = NULL, finished_at = clock_timestamp(),
	lease_until = NULL, started_at = NULL, owner = NULL
WHERE execution = $1::uuid`
)

// Change moves an execution from one of c.From to c.To.
func (s *Store) Change(ctx context.Context, id string, c restaq.Change) (e *restaq.Execution, changed bool, err error) {
	key, ok := parseID(id)
	switch {
	case !ok:
		err = restaq.ErrNotFound
	case len(c.From) == 0:
		err = s.statement(ctx, func(q querier) (err error) {
			e, err = s.execution(ctx, q, readSQL, key)
			return err
		})
	default:
		err = s.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
			if changed, err = s.change(ctx, tx, key, c); err != nil {
				return err
			}
			e, err = s.execution(ctx, tx, readSQL, key)
			return err
		})
	}
	if err != nil {
		return nil, false, fmt.Errorf("change execution %s: %w", id, err)
	}
	if changed && c.To == restaq.Cancelled {
		s.tails.dropAll(key)
	}
	return e, changed, nil
}

// change does what c says if the execution's status allows it.
func (s *Store) change(ctx context.Context, tx pgx.Tx, id pgtype.UUID, c restaq.Change) (changed bool, err error) {
	if _, err := one[bool](ctx, tx, s.q(lockExecutionSQL), id); errors.Is(err, pgx.ErrNoRows) {
		return false, restaq.ErrNotFound
	} else if err != nil {
		return false, err
	}
	status, err := one[restaq.Status](ctx, tx, s.q(lockWorkSQL), id)
	if errors.Is(err, pgx.ErrNoRows) {
		status, err = restaq.Completed, nil
	}
	if err != nil || !slices.Contains(c.From, status) {
		return false, err
	}

	running := status == restaq.Running
	var script []string
	if status == restaq.Completed {
		script = append(script, reopenSQL)
	}
	args := []any{id}
	switch {
	case c.To == restaq.Pending && !running:
		script, args = append(script, toPendingSQL), append(args, int16(c.Kind))
	case c.To == restaq.Running && running:
		script, args = append(script, wishSQL), append(args, int16(c.Kind))
	case c.To == restaq.Cancelled:
		if running {
			script = append(script, closeCancelledSQL)
		}
		script = append(script, toCancelledSQL)
	default:
		return false, fmt.Errorf("no way from %s to %s", status, c.To)
	}
	for i, sql := range script {
		of := args[:1]
		if i == len(script)-1 {
			of = args
		}
		if _, err := tx.Exec(ctx, s.q(sql), of...); err != nil {
			return false, err
		}
	}
	return true, nil
}
