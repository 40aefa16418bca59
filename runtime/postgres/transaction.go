package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statement runs fn, which runs one statement, as one transaction at READ
// COMMITTED. Where that is the database's default, the statement goes by
// itself. fn may be called more than once.
func (s *Store) statement(ctx context.Context, fn func(q querier) error) error {
	return s.statementOn(ctx, s.pool, fn)
}

// statementOn is statement on a connection of a pool.
func (s *Store) statementOn(ctx context.Context, pool *pgxpool.Pool, fn func(q querier) error) error {
	if s.readCommitted {
		return s.repeat(ctx, pool, func(c *pgxpool.Conn) error { return fn(c) })
	}
	return s.repeat(ctx, pool, func(c *pgxpool.Conn) error {
		return pgx.BeginTxFunc(ctx, c, s.bounded(pgx.TxOptions{IsoLevel: pgx.ReadCommitted}), func(tx pgx.Tx) error { return fn(tx) })
	})
}

// transaction runs fn in a transaction and commits it unless fn returns an
// error. fn may be called more than once.
func (s *Store) transaction(ctx context.Context, opts pgx.TxOptions, fn func(tx pgx.Tx) error) error {
	return s.repeat(ctx, s.pool, func(c *pgxpool.Conn) error { return pgx.BeginTxFunc(ctx, c, s.bounded(opts), fn) })
}

// The wait before a transaction is tried again, at first and at most.
const (
	firstWait = time.Millisecond
	longWait  = 100 * time.Millisecond
)

// repeat runs fn on a connection of a pool, and again for as long as the server
// gives it up in favour of another transaction.
func (s *Store) repeat(ctx context.Context, pool *pgxpool.Pool, fn func(c *pgxpool.Conn) error) error {
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		err := s.once(ctx, pool, fn)
		if !gaveWay(err) {
			return err
		}
		timer := time.NewTimer(rand.N(wait))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// once runs fn on a connection. If the connection breaks, the idle ones are
// suspects too (a server that restarts ends them all): none is used again.
func (s *Store) once(ctx context.Context, pool *pgxpool.Pool, fn func(c *pgxpool.Conn) error) error {
	c, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	err = fn(c)
	if err != nil && c.Conn().IsClosed() && ctx.Err() == nil {
		s.reset()
	}
	return err
}

// patiently runs one statement as statement does, one that waits no longer for a
// lock than a shared commit does: see tooLong.
func (s *Store) patiently(ctx context.Context, sql string, args []any, read func(rows pgx.Rows) error) error {
	return s.repeat(ctx, s.pool, func(c *pgxpool.Conn) error {
		if !s.readCommitted {
			return pgx.BeginTxFunc(ctx, c, s.bounded(pgx.TxOptions{IsoLevel: pgx.ReadCommitted}), func(tx pgx.Tx) error {
				return s.sendPatiently(ctx, tx, sql, args, read)
			})
		}
		return s.sendPatiently(ctx, c, sql, args, read)
	})
}

// sendPatiently sends a statement with its bound. Both go as one transaction.
func (s *Store) sendPatiently(ctx context.Context, c interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}, sql string, args []any, read func(rows pgx.Rows) error) (err error) {
	var b pgx.Batch
	b.Queue(s.patienceSQL())
	b.Queue(sql, args...)
	results := c.SendBatch(ctx, &b)
	if _, err = results.Exec(); err == nil {
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			err = read(rows)
			rows.Close()
		}
	}
	if closing := results.Close(); err == nil { // which waits for the commit
		err = closing
	}
	return err
}

// tooLong reports whether a statement gave up waiting for a lock.
func tooLong(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03" // lock_not_available
}

// gaveWay reports whether the server rolled a transaction back because of a
// concurrent one: serialization_failure or deadlock_detected, or
// unique_violation where both have written to one log.
func gaveWay(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01" || pg.Code == "23505" && pg.ConstraintName == "entry_pkey")
}
