package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// claimSQL begins the next attempts of due executions: the oldest due of each
// handler, in the order of the handlers, then the second oldest, and so on.
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
// lost ends the logs of attempts whose leases ran out. Other writes of an old
// owner lock nothing; they want the same position. If one was there first, its
// execution is left alone: the next claim takes it. If one is under way, this
// waits for it.
//
// What is to be passed over is what this process left to others, which is due.
//
// Executions with an order key are found by heads. take_turn then decides, on the
// locked row (LIMIT keeps it there): it lets one claim of a key happen at a time,
// and looks at what those before it have left.
const claimSQL = `
WITH candidate AS MATERIALIZED (
	SELECT c.execution, h.n AS handler, row_number() OVER (PARTITION BY h.n ORDER BY c.due) AS round
	FROM unnest($1::text[]) WITH ORDINALITY AS h (text, n)
	JOIN restaq.term t ON t.text = h.text
	CROSS JOIN LATERAL (
		(SELECT w.execution, w.due_at AS due FROM restaq.work w
		WHERE w.handler = t.id AND w.order_key IS NULL AND w.finished_at IS NULL AND w.due_at <= now()
			AND $6::uuid IS NULL AND NOT w.execution = ANY ($9::uuid[])
		ORDER BY w.due_at
		LIMIT 4 * $2::bigint + 16)
		UNION ALL
		(SELECT w.execution, w.lease_until FROM restaq.work w
		WHERE ` + runningPlain + ` AND w.lease_until <= now()
			AND $5::boolean AND ($6::uuid IS NULL OR w.execution = $6::uuid)
		LIMIT 4 * $2::bigint + 16)
		UNION ALL
		(SELECT w.execution, coalesce(w.due_at, w.lease_until)
		FROM restaq.heads(t.id, $8::bigint, CASE WHEN $6::uuid IS NULL THEN 4 * $2::bigint + 16 ELSE 9223372036854775807 END, $7::boolean) w
		WHERE w.due_at IS NOT NULL AND $6::uuid IS NULL AND NOT w.execution = ANY ($9::uuid[])
			OR w.due_at IS NULL AND $5::boolean AND ($6::uuid IS NULL OR w.execution = $6::uuid))
	) c
	ORDER BY round, handler
), taken AS MATERIALIZED (
	SELECT t.*, c.round, c.handler AS turn
	FROM candidate c
	CROSS JOIN LATERAL (
		SELECT w AS row, w.execution, w.token, w.attempts, w.kind, w.status, w.started_at, w.order_key FROM restaq.work w
		WHERE w.execution = c.execution AND w.finished_at IS NULL
			AND (w.due_at <= now() OR w.due_at IS NULL AND w.status = 'running' AND w.lease_until <= now())
		LIMIT 1
		FOR UPDATE SKIP LOCKED
	) t
	WHERE CASE WHEN t.order_key IS NULL THEN true ELSE restaq.take_turn(t.row, $7::boolean) END
	LIMIT $2::bigint
), lost AS (
	INSERT INTO restaq.entry (execution, token, position, attempt, kind, outcome, started_at, ended_at)
	SELECT w.execution, w.token, ` + nextPosition + `, w.attempts, w.kind, ` + lostCode + `, w.started_at, clock_timestamp()
	FROM taken w
	WHERE w.status = 'running'
	ON CONFLICT (execution, token, position) DO NOTHING
	RETURNING execution
), begun AS (
	UPDATE restaq.work w SET
		status = 'running', attempts = w.attempts + 1, token = w.token + 1, kind = w.wish, wish = 0, step = NULL,
		due_at = NULL, started_at = clock_timestamp(), owner = $3::uuid,
		lease_until = clock_timestamp() + $4::bigint * interval '1 microsecond'
	WHERE w.execution = ANY (ARRAY (
		SELECT execution FROM taken WHERE status <> 'running' UNION ALL SELECT execution FROM lost))
	RETURNING w.execution, w.attempts, w.token, w.kind, w.error, w.started_at
)
SELECT ` + claimedColumns + `
FROM begun b
JOIN taken t ON t.execution = b.execution
JOIN restaq.execution e ON e.id = b.execution
JOIN restaq.event ev ON ` + ofEvent + `
ORDER BY t.round, t.turn`

// Running executions of a handler t are at the end of its range in one index, and
// in front of each key's in the other.
const (
	runningPlain = `w.handler = t.id AND w.order_key IS NULL AND w.finished_at IS NULL AND w.due_at IS NULL AND w.status = 'running'`
	runningKeyed = `w.handler = t.id AND w.order_key IS NOT NULL AND w.finished_at IS NULL AND w.status = 'running'`
)

// recoverSQL extends the leases of an owner that it does not know of. It locks
// as a renewal does; a row that somebody holds is left out.
const recoverSQL = `
WITH found AS MATERIALIZED (
	SELECT w.execution
	FROM unnest($1::text[]) AS h (text)
	JOIN restaq.term t ON t.text = h.text
	CROSS JOIN LATERAL (
		SELECT w.execution, w.token FROM restaq.work w WHERE ` + runningPlain + ` AND w.owner = $3::uuid
		UNION ALL
		SELECT w.execution, w.token FROM restaq.work w WHERE ` + runningKeyed + ` AND w.owner = $3::uuid
	) w
	WHERE NOT EXISTS (
		SELECT FROM unnest($5::uuid[], $6::bigint[]) AS held (execution, token)
		WHERE held.execution = w.execution AND held.token = w.token)
), locked AS MATERIALIZED (
	SELECT w.execution FROM restaq.work w
	WHERE w.execution = ANY (ARRAY (SELECT execution FROM found))
		AND w.status = 'running' AND w.owner = $3::uuid
	LIMIT $2::bigint
	FOR NO KEY UPDATE SKIP LOCKED
), begun AS (
	UPDATE restaq.work w SET lease_until = clock_timestamp() + $4::bigint * interval '1 microsecond'
	FROM locked l WHERE w.execution = l.execution
	RETURNING w.execution, w.attempts, w.token, w.kind, w.error, w.started_at
)
SELECT ` + claimedColumns + `
FROM begun b
JOIN restaq.execution e ON e.id = b.execution
JOIN restaq.event ev ON ` + ofEvent + `
ORDER BY e.id`

// claimedColumns are what scanClaimed reads.
const claimedColumns = executionColumns + `, ev.payload, ev.header, b.attempts, b.token, b.kind, coalesce(b.error, ''), b.started_at`

// expiredSQL finds executions whose leases ran out.
const expiredSQL = `
SELECT w.execution FROM restaq.term t
CROSS JOIN LATERAL (
	(SELECT execution FROM restaq.work w WHERE ` + runningPlain + ` AND w.lease_until <= now() LIMIT $2::bigint)
	UNION ALL
	(SELECT execution FROM restaq.work w WHERE ` + runningKeyed + ` AND w.lease_until <= now() LIMIT $2::bigint)
) w
WHERE t.text = ANY ($1::text[])`

// Claim begins the next attempts of due executions.
func (s *Store) Claim(ctx context.Context, c restaq.Claim) (claimed []restaq.Claimed, err error) {
	s.endStopped(ctx)
	c.Handlers = distinct(c.Handlers)
	if c.Recover {
		claimed, err = s.recoverLeases(ctx, c)
	} else if claimed, err = s.claim(ctx, c, true, pgtype.UUID{}); tooLong(err) {
		claimed, err = s.claimAround(ctx, c)
	}
	if err != nil {
		return nil, fmt.Errorf("claim executions: %w", err)
	}
	return claimed, nil
}

// claimAround claims where a write of an old owner does not end: what is due,
// and then of the executions whose leases ran out each by itself.
func (s *Store) claimAround(ctx context.Context, c restaq.Claim) ([]restaq.Claimed, error) {
	claimed, err := s.claim(ctx, c, false, pgtype.UUID{})
	if err != nil {
		return nil, err
	}
	var expired []pgtype.UUID
	err = s.statement(ctx, func(q querier) (err error) {
		expired, err = column[pgtype.UUID](ctx, q, s.q(expiredSQL), c.Handlers, int64(c.Limit))
		return err
	})
	for _, id := range expired {
		if len(claimed) >= c.Limit || err != nil {
			break
		}
		var one []restaq.Claimed
		if one, err = s.claim(ctx, c, true, id); tooLong(err) {
			err = nil
		}
		claimed = append(claimed, one...)
	}
	if len(claimed) > 0 {
		err = nil // for the next claim to find out
	}
	return claimed, err
}

// claim claims what is due, those with leases that ran out if expired is set,
// and no other than one of these if only is valid.
func (s *Store) claim(ctx context.Context, c restaq.Claim, expired bool, only pgtype.UUID) (claimed []restaq.Claimed, err error) {
	except := make([]pgtype.UUID, 0, len(c.Except))
	for _, id := range c.Except {
		if id, ok := parseID(id); ok {
			except = append(except, id)
		}
	}
	args := []any{c.Handlers, int64(c.Limit), ownerID(c.Owner), c.Lease.Microseconds(), expired, only, c.DeadBlocks, rand.Int64(), except}
	return s.begin(ctx, claimSQL, args)
}

// recoverLeases returns what runs under leases of the owner that it does not know of.
func (s *Store) recoverLeases(ctx context.Context, c restaq.Claim) ([]restaq.Claimed, error) {
	ids, tokens := make([]pgtype.UUID, 0, len(c.Held)), make([]int64, 0, len(c.Held))
	for _, l := range c.Held {
		if id, ok := parseID(l.Execution); ok {
			ids, tokens = append(ids, id), append(tokens, l.Token)
		}
	}
	args := []any{c.Handlers, int64(c.Limit), ownerID(c.Owner), c.Lease.Microseconds(), ids, tokens}
	return s.begin(ctx, recoverSQL, args)
}

// begin runs a statement that claims executions.
func (s *Store) begin(ctx context.Context, sql string, args []any) (claimed []restaq.Claimed, err error) {
	var begun []*tail
	err = s.patiently(ctx, s.q(sql), args, func(rows pgx.Rows) error {
		claimed, begun = nil, nil
		for rows.Next() {
			one, t, err := scanClaimed(rows)
			if err != nil {
				return err
			}
			claimed, begun = append(claimed, one), append(begun, t)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	for _, t := range begun {
		s.tails.put(t)
	}
	return claimed, nil
}

// scanClaimed reads a claimed execution, and the tail of its new log.
func scanClaimed(rows pgx.Rows) (c restaq.Claimed, t *tail, err error) {
	x := &c.Execution
	var startedAt time.Time
	targets := append(executionTargets(x), &c.Event.Payload, header{&c.Event.Header},
		&x.Attempts, &c.Lease.Token, &c.Kind, &x.Error, utc{&startedAt})
	if err := rows.Scan(targets...); err != nil {
		return c, nil, err
	}
	x.Status = restaq.Running
	c.Lease.Execution, c.Lease.Attempt = x.ID, x.Attempts
	c.Event.Source, c.Event.Provider, c.Event.ID = x.Event.Source, x.Event.Provider, x.Event.ID
	c.Event.Type, c.Event.ReceivedAt = x.Event.Type, x.Event.ReceivedAt
	id, _ := parseID(x.ID)
	return c, newTail(x, id, c.Lease.Token, c.Kind, startedAt), nil
}

// distinct returns texts without those that came before.
func distinct(texts []string) []string {
	first := make([]string, 0, len(texts))
	for _, text := range texts {
		if !slices.Contains(first, text) {
			first = append(first, text)
		}
	}
	return first
}
