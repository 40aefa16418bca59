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

// gaveWay reports whether the server rolled a transaction back because of a
// concurrent one: serialization_failure or deadlock_detected.
func gaveWay(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}
