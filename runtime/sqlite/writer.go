package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

var errClosed = errors.New("store is closed")

// writer owns the one connection that writes. Its goroutine, run, alone uses
// the connection and the statements.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // by their text
	now   func() time.Time

	// patience is how long to wait for another process; tests shorten it.
	patience atomic.Int64

	mu     sync.Mutex
	queue  []*job        // under mu
	closed bool          // under mu
	wake   chan struct{} // holds a token when queue or closed changed
	done   chan struct{} // closed when run has returned
}

// job is a caller's write.
type job struct {
	// run does the writing. It may be run again after a rollback, so it sets
	// what it hands to its caller anew each time.
	run func(tx *tx) error

	// hold, if it is set, is called instead, between two transactions: the
	// writer stands still until it returns.
	hold func()

	// state says who has the job: while it is queued, the caller may still
	// give it up; once taken, the caller waits for its end.
	state atomic.Int32
	err   error         // the result, once done is closed
	done  chan struct{} // closed by the writer
}

const (
	queued int32 = iota
	taken
	givenUp
)

// openWriter opens the connection and starts the writer.
//
// If check is set, it sees the file before anything in it is changed.
func openWriter(ctx context.Context, path string, now func() time.Time, check func(queryFunc) error) (*writer, error) {
	db, err := sql.Open("sqlite", dsn(path, "cache_size(-16000)", "journal_size_limit(67108864)"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := connect(ctx, db, check)
	if err != nil {
		db.Close()
		return nil, err
	}
	w := &writer{
		db: db, conn: conn, stmts: map[string]*sql.Stmt{}, now: now,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	w.patience.Store(int64(busyLimit))
	go w.run()
	return w, nil
}

func connect(ctx context.Context, db *sql.DB, check func(queryFunc) error) (*sql.Conn, error) {
	var conn *sql.Conn
	err := whileBusy(busyLimit, func() (err error) {
		conn, err = db.Conn(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if check != nil {
		err = check(func(query string, args ...any) (*sql.Rows, error) {
			return conn.QueryContext(ctx, query, args...)
		})
	}
	if err == nil {
		err = useWAL(ctx, conn)
	}
	if err == nil {
		// From here on whileBusy waits, in shorter steps than SQLite's.
		_, err = conn.ExecContext(ctx, `PRAGMA busy_timeout = 0`)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// useWAL puts the file into WAL mode, where it stays. Processes that do so at
// once get in each other's way without SQLite waiting, so this does.
func useWAL(ctx context.Context, conn *sql.Conn) error {
	var mode string
	err := whileBusy(busyLimit, func() error {
		return conn.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
	})
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the file cannot be put into WAL mode, it stays in mode %s", mode)
	}
	return err
}

// do has fn run in a write transaction and waits until it is committed. Fn
// must not keep the tx.
func (w *writer) do(ctx context.Context, fn func(tx *tx) error) error {
	j := &job{run: fn, done: make(chan struct{})}
	if err := w.enqueue(ctx, j); err != nil {
		return err
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	if j.state.CompareAndSwap(queued, givenUp) {
		return ctx.Err()
	}
	// The transaction is under way; its end is near, and known.
	<-j.done
	return j.err
}

// enqueue hands a job to the writer.
func (w *writer) enqueue(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ctx.Value(standing{w}) != nil {
		return errInTransaction
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	w.queue = append(w.queue, j)
	w.signal()
	return nil
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run commits what queues up, until the writer is closed and the queue empty.
// Between commits it stands still for one job at a time that wants it to, so
// that a write, a renewal above all, waits for one of them at most.
func (w *writer) run() {
	defer close(w.done)
	var holds []*job
	for closed := false; !closed || len(holds) > 0; {
		if len(holds) == 0 {
			<-w.wake
		}
		w.mu.Lock()
		jobs := w.queue
		w.queue = nil
		closed = w.closed // nothing is queued after it was set
		w.mu.Unlock()
		var writes []*job
		for _, j := range jobs {
			if j.hold != nil {
				holds = append(holds, j)
			} else {
				writes = append(writes, j)
			}
		}
		if len(writes) > 0 {
			w.commit(writes)
		}
		if len(holds) > 0 {
			if j := holds[0]; j.take() {
				j.hold()
			}
			holds = holds[1:]
		}
	}
}

// close waits for the writes that are queued up and closes the connection.
func (w *writer) close() error {
	w.mu.Lock()
	again := w.closed
	w.closed = true
	w.mu.Unlock()
	w.signal()
	<-w.done
	if again {
		return nil
	}
	for _, stmt := range w.stmts {
		stmt.Close()
	}
	return errors.Join(w.conn.Close(), w.db.Close())
}

// commit runs jobs in one transaction and answers their callers.
func (w *writer) commit(jobs []*job) {
	tx, err := w.begin()
	if err == nil {
		err = tx.run(jobs)
		if err != nil && len(jobs) > 1 {
			// Nothing of it was stored. Each in a transaction of its own, a
			// job that fails fails its own caller alone.
			err = nil
			for _, j := range jobs {
				j.err = w.single(j)
			}
		}
	}
	for _, j := range jobs {
		if err != nil {
			j.err = err
		}
		close(j.done)
	}
}

// single runs a job in a transaction of its own.
func (w *writer) single(j *job) error {
	tx, err := w.begin()
	if err != nil {
		return err
	}
	return tx.run([]*job{j})
}

// take gives the job to the writer, unless its caller has given it up.
func (j *job) take() bool {
	return j.state.CompareAndSwap(queued, taken) || j.state.Load() == taken
}

// begin starts a transaction when no other process has one.
func (w *writer) begin() (*tx, error) {
	tx := &tx{w: w}
	err := whileBusy(time.Duration(w.patience.Load()), func() error {
		_, err := tx.exec(`BEGIN IMMEDIATE`)
		return err
	})
	if err != nil {
		return nil, err
	}
	tx.now = w.now().UTC().Truncate(time.Microsecond)
	return tx, nil
}

// tx is a write transaction. It belongs to the writer's goroutine, unless it
// is a user's.
type tx struct {
	w    *writer
	user *userTx   // nil for one of the writer's
	now  time.Time // of all that it writes
}

// run runs jobs and commits; it leaves each job's own error with it. After an
// error nothing is stored, and the transaction has ended.
func (t *tx) run(jobs []*job) (err error) {
	defer func() {
		if err != nil {
			t.exec(`ROLLBACK`) // fails if SQLite has rolled back by itself
		}
	}()
	for _, j := range jobs {
		if !j.take() {
			continue
		}
		if len(jobs) == 1 {
			err = j.run(t)
		} else {
			err = t.savepoint(j)
		}
		if err != nil {
			return err
		}
	}
	_, err = t.exec(`COMMIT`)
	return err
}

// savepoint runs a job so that its failure leaves the others' work alone. It
// returns an error only if the whole transaction is lost.
func (t *tx) savepoint(j *job) error {
	if _, err := t.exec(`SAVEPOINT job`); err != nil {
		return err
	}
	j.err = j.run(t)
	if j.err != nil {
		// This fails if the error made SQLite roll everything back.
		if _, err := t.exec(`ROLLBACK TO job`); err != nil {
			return j.err
		}
	}
	_, err := t.exec(`RELEASE job`)
	return err
}

// stmt returns a prepared statement, which is kept. The context is that of no
// caller: a statement of a shared transaction is not cut off.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if stmt := t.w.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := t.w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	t.w.stmts[query] = stmt
	return stmt, nil
}

func (t *tx) exec(query string, args ...any) (sql.Result, error) {
	if t.user != nil {
		return t.user.tx.ExecContext(t.user.ctx, query, args...)
	}
	stmt, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return stmt.Exec(args...)
}

func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	if t.user != nil {
		return t.user.tx.QueryContext(t.user.ctx, query, args...)
	}
	stmt, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return stmt.Query(args...)
}

// whileBusy calls fn until it returns something else than that another
// connection holds a lock, or limit has passed. It asks often, as a lock that
// is taken again and again is free for a moment only.
func whileBusy(limit time.Duration, fn func() error) error {
	deadline := time.Now().Add(limit)
	for wait := 100 * time.Microsecond; ; wait = min(2*wait, 2*time.Millisecond) {
		err := fn()
		if err == nil || !busy(err) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("another process has held the file for %v: %w", limit, err)
		}
		time.Sleep(wait/2 + rand.N(wait))
	}
}

// busy reports whether err says that another connection holds a lock.
func busy(err error) bool {
	code := primaryCode(err)
	return code == lib.SQLITE_BUSY || code == lib.SQLITE_LOCKED
}

// primaryCode is SQLite's code of an error, without what extends it; 0 if it
// has none.
func primaryCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// explain says in plain words what is wrong with a file.
func explain(err error) error {
	if primaryCode(err) == lib.SQLITE_NOTADB {
		return fmt.Errorf("the file is not an SQLite database: %w", err)
	}
	return err
}
