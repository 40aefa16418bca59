package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// forgetSQL deletes events that have no execution, oldest first. Who adds an
// execution to an event locks it as well: those that are locked are passed over,
// and those that have changed since the snapshot are looked at again.
const forgetSQL = `
WITH old AS MATERIALIZED (
	SELECT event_id, source FROM restaq.event
	WHERE (executions IS NULL OR executions = '{}')
		AND provider = (SELECT id FROM restaq.term WHERE text = $1::text)
		AND received_at <= now() - $2::bigint * interval '1 microsecond'
	ORDER BY received_at LIMIT $3::bigint
	FOR UPDATE SKIP LOCKED
), gone AS (
	DELETE FROM restaq.event ev USING old WHERE ev.event_id = old.event_id AND ev.source = old.source
	RETURNING 1
)
SELECT count(*) FROM gone`

// Forget deletes events of a provider that have no execution, oldest first.
func (s *Store) Forget(ctx context.Context, provider string, olderThan time.Duration, limit int) (int, error) {
	if olderThan <= 0 {
		return 0, errors.New("forget events: age must be positive")
	}
	var n int64
	err := s.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
		n, err = one[int64](ctx, tx, s.q(forgetSQL), provider, olderThan.Microseconds(), int64(limit))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("forget events: %w", err)
	}
	return int(n), nil
}

// takeTurnSQL returns a row if the name is the owner's. The row's lock decides
// between processes that want it at once.
const takeTurnSQL = `
INSERT INTO restaq.turn AS t (name, owner, until)
VALUES ($1::text, $2::text, clock_timestamp() + $3::bigint * interval '1 microsecond')
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE t.owner = excluded.owner OR t.until <= clock_timestamp()
RETURNING name`

// TakeTurn gives a name to an owner, unless another has it.
func (s *Store) TakeTurn(ctx context.Context, name, owner string, d time.Duration) (bool, error) {
	var mine []string
	err := s.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
		mine, err = column[string](ctx, tx, s.q(takeTurnSQL), name, owner, d.Microseconds())
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take turn %s: %w", name, err)
	}
	return len(mine) == 1, nil
}
