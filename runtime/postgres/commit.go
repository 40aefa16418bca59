package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// kind is what a call asks for. Calls of a kind share a statement; the
// statements of a commit run in the order of the kinds.
type kind int

const (
	lookups kind = iota
	arrivals
	records
	notes
	completions
	outcomes
	kindsOfCalls
)

// shared is the statement that calls of one kind share.
type shared struct {
	sql  string
	args []any
	read func(rows pgx.Rows) error // hands the calls what they asked for
}

// commitLimit bounds a commit. One that takes longer is given up, for the
// server may be out of reach.
const commitLimit = 10 * time.Second

// commitOn returns what commits calls on a connection of a pool.
//
// No statement of it waits long for a lock: rows that are locked are left out,
// and other waits end after a while. After an error that the server reports,
// nothing of it was done; neither then nor for a row that was left out does a
// call get an error here. Its caller goes the careful way, alone, and gets the
// error that is its own. Only if it is unknown what was done, for the
// connection was lost, do all calls of the commit hear of it.
func (s *Store) commitOn(pool *pgxpool.Pool) func(ctx context.Context, calls []*call) {
	return func(ctx context.Context, calls []*call) {
		ctx, cancel := context.WithTimeout(ctx, commitLimit)
		defer cancel()
		err := s.once(ctx, pool, func(c *pgxpool.Conn) error {
			// Connecting takes a while sometimes. A caller that has gone
			// meanwhile may have changed what its call points to.
			gone := func(c *call) bool { return c.left.Load() }
			staying := calls
			if slices.ContainsFunc(calls, gone) {
				staying = slices.DeleteFunc(slices.Clone(calls), gone)
			}
			if len(staying) == 0 {
				return nil
			}
			return s.run(ctx, c, s.statements(staying))
		})
		if err == nil {
			return
		}
		var pg *pgconn.PgError
		if undone := errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR"; undone {
			err = nil
		}
		for _, c := range calls {
			c.committed, c.out, c.err = false, nil, err
		}
	}
}

// statements are those that calls share.
func (s *Store) statements(calls []*call) []shared {
	make := [kindsOfCalls]func(calls []*call) shared{
		lookups: s.sharedLookup, arrivals: s.sharedInsert, records: s.sharedRecord, notes: s.sharedNote,
		completions: s.sharedCompletion, outcomes: s.sharedFinish,
	}
	if len(calls) == 1 {
		return []shared{make[calls[0].kind](calls)}
	}
	var byKind [kindsOfCalls][]*call
	for _, c := range calls {
		byKind[c.kind] = append(byKind[c.kind], c)
	}
	var statements []shared
	for k, calls := range byKind {
		if len(calls) > 0 {
			statements = append(statements, make[k](calls))
		}
	}
	return statements
}

// run runs statements in one transaction and, where the database's default is
// READ COMMITTED, in one round trip.
func (s *Store) run(ctx context.Context, c *pgxpool.Conn, statements []shared) error {
	if !s.readCommitted {
		return pgx.BeginTxFunc(ctx, c, s.bounded(pgx.TxOptions{IsoLevel: pgx.ReadCommitted}), func(tx pgx.Tx) error {
			return s.send(ctx, tx, statements)
		})
	}
	return s.send(ctx, c, statements)
}

// sender sends statements: a connection or a transaction.
type sender interface {
	querier
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// patienceSQL sets lockPatience for a transaction.
const patienceSQL = `SELECT set_config('lock_timeout', $1::text, true)`

func (s *Store) send(ctx context.Context, c sender, statements []shared) error {
	if !s.session {
		patience := shared{patienceSQL, []any{lockPatience}, func(rows pgx.Rows) error { return nil }}
		statements = append([]shared{patience}, statements...)
	}
	if len(statements) == 1 {
		st := &statements[0]
		rows, err := c.Query(ctx, s.q(st.sql), st.args...)
		if err != nil {
			return err
		}
		return readAll(rows, st)
	}
	var batch pgx.Batch
	for i := range statements {
		batch.Queue(s.q(statements[i].sql), statements[i].args...)
	}
	results := c.SendBatch(ctx, &batch)
	for i := range statements {
		rows, err := results.Query()
		if err == nil {
			err = readAll(rows, &statements[i])
		}
		if err != nil {
			return errors.Join(err, results.Close())
		}
	}
	return results.Close() // which waits for the commit
}

func readAll(rows pgx.Rows, st *shared) error {
	defer rows.Close()
	if err := st.read(rows); err != nil {
		return err
	}
	rows.Close()
	return rows.Err()
}
