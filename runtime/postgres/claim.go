package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

// claimSQL begins the next attempts of due executions, oldest due time first.
//
// candidate looks through each handler's range of the index of unfinished
// work, without locks and a few rows further than wanted, for another process
// may be after the same ones. taken then locks as many as wanted, skipping
// those that others hold, and repeats the condition on the row as it is once
// it is locked: what has just been claimed, finished or renewed is left alone.
// The lock conflicts with the FOR KEY SHARE of a write by the old owner: a row
// under such a write is skipped, and a write that comes later waits and then
// finds the token gone.
//
// An execution waits for earlier ones of its order key by the snapshot. That
// is safe: one that was unfinished in the snapshot and has finished since only
// makes it wait for the next claim.
const claimSQL = `
WITH candidate AS MATERIALIZED (
	SELECT c.execution, c.due
	FROM restaq.term h
	CROSS JOIN LATERAL (
		(SELECT w.execution, w.due_at AS due FROM restaq.work w
		WHERE w.handler = h.id AND w.finished_at IS NULL AND w.due_at <= now() AND ` + inOrder + `
		ORDER BY w.due_at
		LIMIT 4 * $2::bigint + 16)
		UNION ALL
		(SELECT w.execution, w.lease_until FROM restaq.work w
		WHERE w.handler = h.id AND w.finished_at IS NULL AND w.due_at IS NULL
			AND w.status = 'running' AND w.lease_until <= now() AND ` + inOrder + `
		LIMIT 4 * $2::bigint + 16)
	) c
	WHERE h.text = ANY ($1::text[])
	ORDER BY c.due
), taken AS MATERIALIZED (
	SELECT t.*, c.due
	FROM candidate c
	CROSS JOIN LATERAL (
		SELECT w.execution, w.attempts, w.kind, w.status, w.started_at FROM restaq.work w
		WHERE w.execution = c.execution AND w.finished_at IS NULL
			AND (w.due_at <= now() OR w.due_at IS NULL AND w.status = 'running' AND w.lease_until <= now())
		FOR UPDATE SKIP LOCKED
	) t
	LIMIT $2::bigint
), lost AS (
	INSERT INTO restaq.attempt (execution, number, kind, token, outcome, started_at, ended_at)
	SELECT execution, attempts, kind, 0, 'lost', started_at, clock_timestamp() FROM taken
	WHERE status = 'running'
), begun AS (
	UPDATE restaq.work w SET
		status = 'running', attempts = w.attempts + 1, token = w.token + 1, kind = w.wish, wish = 0, step = '',
		due_at = NULL, started_at = clock_timestamp(), owner = $3::uuid,
		lease_until = clock_timestamp() + $4::bigint * interval '1 microsecond'
	WHERE w.execution = ANY (ARRAY (SELECT execution FROM taken))
	RETURNING w.execution, w.attempts, w.token, w.kind, w.error
)
SELECT ` + executionColumns + `, ev.payload, ev.header, b.attempts, b.token, b.kind, b.error
FROM begun b
JOIN taken t ON t.execution = b.execution
JOIN restaq.execution e ON e.id = b.execution
JOIN restaq.event ev ON ev.seq = e.event
ORDER BY t.due, e.id`

// inOrder says that no earlier execution of w's order key is unfinished, and
// that no other one runs under a lease that holds.
const inOrder = `(w.order_key = '' OR NOT EXISTS (
	SELECT FROM restaq.work o
	WHERE o.order_key <> '' AND o.finished_at IS NULL
		AND hashtextextended(o.order_key, 0) = hashtextextended(w.order_key, 0)
		AND o.order_key = w.order_key AND o.handler = w.handler
		AND (o.event, o.execution) < (w.event, w.execution))
	AND NOT EXISTS (
	SELECT FROM restaq.work o
	WHERE o.order_key <> '' AND o.finished_at IS NULL
		AND hashtextextended(o.order_key, 0) = hashtextextended(w.order_key, 0)
		AND o.order_key = w.order_key AND o.handler = w.handler
		AND o.status = 'running' AND o.lease_until > now() AND o.execution <> w.execution))`

// Claim begins the next attempts of due executions.
func (s *Store) Claim(ctx context.Context, c restaq.Claim) ([]restaq.Claimed, error) {
	var claimed []restaq.Claimed
	err := s.statement(ctx, func(q querier) error {
		rows, err := q.Query(ctx, s.q(claimSQL), slices.Compact(slices.Sorted(slices.Values(c.Handlers))), int64(c.Limit), ownerID(c.Owner), c.Lease.Microseconds())
		if err != nil {
			return err
		}
		claimed, err = pgx.CollectRows(rows, scanClaimed)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim executions: %w", err)
	}
	for i := range claimed {
		if id, ok := parseID(claimed[i].Execution.ID); ok {
			s.begun.put(id, &claimed[i].Execution)
		}
	}
	return claimed, nil
}

func scanClaimed(row pgx.CollectableRow) (restaq.Claimed, error) {
	var c restaq.Claimed
	x := &c.Execution
	targets := append(executionTargets(x), &c.Event.Payload, header{&c.Event.Header},
		&x.Attempts, &c.Lease.Token, &c.Kind, &x.Error)
	if err := row.Scan(targets...); err != nil {
		return c, err
	}
	x.Status = restaq.Running
	c.Lease.Execution, c.Lease.Attempt = x.ID, x.Attempts
	c.Event.Source, c.Event.Provider, c.Event.ID = x.Event.Source, x.Event.Provider, x.Event.ID
	c.Event.Type, c.Event.ReceivedAt = x.Event.Type, x.Event.ReceivedAt
	return c, nil
}
