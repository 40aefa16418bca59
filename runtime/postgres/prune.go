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

const defaultPrune = 1000 // executions

// finished is the condition under which an execution e may go: dead or
// cancelled by its row of work w, completed by its last attempt a.
const finished = `
	(CASE WHEN w.execution IS NULL THEN a.ended_at ELSE w.finished_at END) <= now() - $1::bigint * interval '1 microsecond'
	AND CASE
		WHEN w.execution IS NULL THEN $2::boolean
		WHEN w.status = 'cancelled' THEN $3::boolean
		ELSE $4::boolean END`

// oldSQL finds executions that may go, longest finished first, and locks them:
// after that nobody reopens one. Dead and cancelled ones are found by the
// index on their row of work. Completed ones are found among the oldest by their
// ids, up to $6: one finished no sooner than it was created.
const oldSQL = `
WITH candidate AS MATERIALIZED (
	(SELECT w.execution, w.finished_at FROM restaq.work w
	WHERE ($3::boolean AND w.status = 'cancelled' OR $4::boolean AND w.status = 'failed')
		AND w.finished_at <= now() - $1::bigint * interval '1 microsecond'
	ORDER BY w.finished_at LIMIT $5::bigint)
	UNION ALL
	(SELECT e.id, a.ended_at FROM restaq.execution e
	LEFT JOIN restaq.work w ON w.execution = e.id` + lastAttempt + `
	WHERE $2::boolean AND w.execution IS NULL AND e.id <= $6::uuid
		AND e.created_at <= now() - $1::bigint * interval '1 microsecond'
		AND a.ended_at <= now() - $1::bigint * interval '1 microsecond'
	ORDER BY e.id LIMIT $5::bigint)
	ORDER BY 2 LIMIT $5::bigint
)
SELECT e.id FROM restaq.execution e
WHERE e.id = ANY (ARRAY (SELECT execution FROM candidate))
ORDER BY e.id
FOR UPDATE SKIP LOCKED`

// pruneSQL deletes executions that the transaction has locked, with all that
// belongs to them. It repeats the condition, for one may have been reopened
// between the snapshot of the statement before and its lock.
const pruneSQL = `
WITH old AS MATERIALIZED (
	SELECT e.id FROM restaq.execution e
	LEFT JOIN restaq.work w ON w.execution = e.id` + lastAttempt + `
	WHERE e.id = ANY ($5::uuid[]) AND ` + finished + `
), works AS (
	DELETE FROM restaq.work WHERE execution = ANY (ARRAY (SELECT id FROM old))
), entries AS (
	DELETE FROM restaq.entry WHERE execution = ANY (ARRAY (SELECT id FROM old))
)
DELETE FROM restaq.execution WHERE id = ANY (ARRAY (SELECT id FROM old)) RETURNING source, event_id`

// Events are locked, in the order of their keys, before it is decided that they
// have no execution left: who adds one locks the event as well.
const (
	lockEventsSQL = `
SELECT true FROM restaq.event ev
WHERE (event_id, source) IN (SELECT * FROM unnest($2::text[], $1::integer[]))
ORDER BY event_id, source
FOR UPDATE`

	emptyEventsSQL = `
WITH emptied AS (
	UPDATE restaq.event ev SET payload = NULL, header = NULL, executions = '{}'
	WHERE (event_id, source) IN (SELECT * FROM unnest($2::text[], $1::integer[]))
		AND (payload IS NOT NULL OR header IS NOT NULL)
		AND NOT EXISTS (SELECT FROM restaq.execution e WHERE e.id = ANY (ev.executions) AND ` + ofEvent + `)
	RETURNING 1
)
SELECT count(*) FROM emptied`
)

// Prune deletes finished executions with their histories, in one transaction.
func (s *Store) Prune(ctx context.Context, p restaq.Prune) (restaq.Pruned, error) {
	if p.OlderThan <= 0 {
		return restaq.Pruned{}, errors.New("prune executions: OlderThan must be positive")
	}
	if p.Limit <= 0 {
		p.Limit = defaultPrune
	}
	all := len(p.Statuses) == 0
	which := []any{
		p.OlderThan.Microseconds(),
		all || slices.Contains(p.Statuses, string(restaq.Completed)),
		all || slices.Contains(p.Statuses, string(restaq.Cancelled)),
		all || slices.Contains(p.Statuses, "dead"),
	}
	var done restaq.Pruned
	err := s.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
		done, err = s.prune(ctx, tx, which, p.OlderThan, p.Limit)
		return err
	})
	if err != nil {
		return restaq.Pruned{}, fmt.Errorf("prune executions: %w", err)
	}
	return done, nil
}

func (s *Store) prune(ctx context.Context, tx pgx.Tx, which []any, olderThan time.Duration, limit int) (done restaq.Pruned, err error) {
	now, err := one[time.Time](ctx, tx, `SELECT now()`)
	if err != nil {
		return done, err
	}
	youngest := idAt(now.Add(clockError - olderThan))
	ids, err := column[pgtype.UUID](ctx, tx, s.q(oldSQL), append(slices.Clone(which), int64(limit), youngest)...)
	if err != nil || len(ids) == 0 {
		return done, err
	}
	rows, err := tx.Query(ctx, s.q(pruneSQL), append(slices.Clone(which), ids)...)
	if err != nil {
		return done, err
	}
	var (
		sources []int32
		events  []string
		source  int32
		event   string
	)
	if _, err := pgx.ForEachRow(rows, []any{&source, &event}, func() error {
		sources, events = append(sources, source), append(events, event)
		return nil
	}); err != nil {
		return done, err
	}
	done.Executions = len(events)
	if _, err := column[bool](ctx, tx, s.q(lockEventsSQL), sources, events); err != nil {
		return done, err
	}
	emptied, err := one[int64](ctx, tx, s.q(emptyEventsSQL), sources, events)
	done.Payloads = int(emptied)
	return done, err
}

// column returns the only column of all rows.
func column[T any](ctx context.Context, q querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}
