package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// kind is what a call asks for. Calls of a kind share a statement or a few; the
// statements of a commit run in the order of the kinds.
type kind int

const (
	lookups kind = iota
	readings
	arrivals
	records
	completions
	outcomes
	kindsOfCalls
)

// commitLimit bounds a commit. One that takes longer is given up, for the
// server may be out of reach.
const commitLimit = 10 * time.Second

// commitOn returns what commits a group's calls on a connection of a pool.
//
// No statement of it waits long for a lock: what is locked is left out, or the
// wait ends after a while. After an error that the server reports, nothing of it
// was done; neither then nor for what was left out does a call get an error
// here. Its caller goes the careful way, alone, and gets the error that is its
// own. Only if it is unknown what was done, for the connection was lost, do all
// calls of the commit hear of it.
func (s *Store) commitOn(g *group, pool *pgxpool.Pool) func(ctx context.Context, calls []*call) {
	var used lastUse
	return func(ctx context.Context, calls []*call) {
		// A connection that was good a moment ago needs no timer: it has a
		// deadline of its own.
		if !used.lately() {
			bounded, cancel := context.WithTimeout(ctx, commitLimit)
			defer cancel()
			ctx = bounded
		}
		b := newBatch()
		defer b.free()
		err := s.once(ctx, pool, func(c *pgxpool.Conn) error {
			g.read(calls, func(calls []*call) { s.build(b, calls) })
			return s.run(ctx, c.Conn(), b.statements)
		})
		used.note(err)
		if err != nil {
			var pg *pgconn.PgError
			unknown := err
			if undone := errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR"; undone {
				unknown = nil
			}
			for _, c := range calls {
				c.committed, c.out, c.err = false, nil, unknown
			}
		}
		b.give(err != nil)
	}
}

// lastUse is when a connection was last found good.
type lastUse struct{ at atomic.Int64 } // in nanoseconds of Unix time

// lately reports whether that is so short a while ago that the pool hands it out
// without asking it.
func (u *lastUse) lately() bool {
	return time.Since(time.Unix(0, u.at.Load())) < 500*time.Millisecond
}

func (u *lastUse) note(err error) {
	if err != nil {
		u.at.Store(0)
		return
	}
	u.at.Store(time.Now().UnixNano())
}

// build puts the statements that calls share into b.
func (s *Store) build(b *batch, calls []*call) {
	make := [kindsOfCalls]func(b *batch, calls []*call){
		lookups: s.sharedLookup, readings: s.sharedReading, arrivals: s.sharedInsert,
		records: s.sharedRecord, completions: s.sharedCompletion, outcomes: s.sharedFinish,
	}
	b.alone = len(calls) == 1
	slices.SortStableFunc(calls, func(a, b *call) int { return int(a.kind) - int(b.kind) })
	for len(calls) > 0 {
		k, n := calls[0].kind, 1
		for n < len(calls) && calls[n].kind == k {
			n++
		}
		make[k](b, calls[:n])
		calls = calls[n:]
	}
}

// patienceSQL sets lockPatience for the transaction that it is sent in, and its
// other limits where the session has none.
func (s *Store) patienceSQL() string {
	sql := `SELECT set_config('lock_timeout', '` + lockPatience + `', true)`
	if !s.session {
		for _, name := range s.limits {
			sql += `, set_config('` + name + `', '` + milliseconds(deadAfter) + `', true)`
		}
	}
	return sql
}

// run runs statements as one transaction at READ COMMITTED, in one round trip.
// Without a word to the contrary the server takes what comes in one request as
// one transaction.
func (s *Store) run(ctx context.Context, conn *pgx.Conn, statements []statement) error {
	if len(statements) == 0 {
		return nil
	}
	socket := conn.PgConn().Conn()
	if err := socket.SetDeadline(time.Now().Add(commitLimit)); err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	err := s.converse(ctx, conn, statements)
	if !conn.IsClosed() {
		if e := socket.SetDeadline(time.Time{}); e != nil {
			err = errors.Join(err, e, conn.Close(ctx))
		}
	}
	return err
}

// converse is run within its limit.
func (s *Store) converse(ctx context.Context, conn *pgx.Conn, statements []statement) error {
	prepared, err := s.prepare(ctx, conn, statements)
	if err != nil {
		return err
	}
	p := conn.PgConn().StartPipeline(ctx)
	before := 0 // statements
	say := func(sql string) { p.SendQueryParams(sql, nil, nil, nil, nil) }
	if !s.readCommitted {
		say(`BEGIN ISOLATION LEVEL READ COMMITTED`)
		before++
	}
	if !s.session {
		say(s.patienceSQL())
		before++
	}
	for i := range statements {
		if st := &statements[i]; s.session {
			p.SendQueryStatement(prepared[st.sql], st.params, binary1, binary1)
		} else {
			p.SendQueryParams(s.q(st.sql), st.params, nil, binary1, binary1)
		}
	}
	if !s.readCommitted {
		say(`COMMIT`)
	}
	err = p.Sync()
	if err == nil {
		err = readAll(p, before, statements)
	}
	if closing := p.Close(); err == nil {
		err = closing
	}
	if err != nil && !conn.IsClosed() {
		err = s.recover(ctx, conn, err)
	}
	return err
}

// readAll reads the results of statements, that of the commit included.
func readAll(p *pgconn.Pipeline, before int, statements []statement) error {
	for n := -before; ; n++ {
		result, err := p.GetResults()
		if err != nil {
			return err
		}
		rows, ok := result.(*pgconn.ResultReader)
		if !ok {
			return nil // the end of the request
		}
		var read func(row [][]byte) error
		if n >= 0 && n < len(statements) {
			read = statements[n].read
		}
		for rows.NextRow() {
			if read != nil {
				if e := read(rows.Values()); e != nil && err == nil {
					err = e
				}
			}
		}
		if _, e := rows.Close(); e != nil {
			err = e
		}
		if err != nil {
			return err
		}
	}
}

// recover brings a connection in order on which statements failed.
func (s *Store) recover(ctx context.Context, conn *pgx.Conn, failed error) error {
	var pg *pgconn.PgError
	stale := errors.As(failed, &pg) && (pg.Code == "0A000" || pg.Code == "26000") // a prepared statement is out of date
	if stale || !errors.As(failed, &pg) {
		return errors.Join(failed, conn.Close(ctx))
	}
	if conn.PgConn().TxStatus() != 'I' {
		if err := conn.PgConn().Exec(ctx, `ROLLBACK`).Close(); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// preparedKey is where a connection keeps its prepared statements.
const preparedKey = "restaq"

// prepare prepares those statements on a connection that are not prepared
// there, if it keeps them.
func (s *Store) prepare(ctx context.Context, conn *pgx.Conn, statements []statement) (map[string]*pgconn.StatementDescription, error) {
	if !s.session {
		return nil, nil
	}
	data := conn.PgConn().CustomData()
	prepared, _ := data[preparedKey].(map[string]*pgconn.StatementDescription)
	if prepared == nil {
		prepared = make(map[string]*pgconn.StatementDescription)
		data[preparedKey] = prepared
	}
	for i := range statements {
		sql := statements[i].sql
		if prepared[sql] != nil {
			continue
		}
		description, err := conn.PgConn().Prepare(ctx, fmt.Sprint("restaq_", len(prepared)), s.q(sql), nil)
		if err != nil {
			return nil, err
		}
		prepared[sql] = description
	}
	return prepared, nil
}
