package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

var errClosed = errors.New("store is closed")

// writer owns the one connection that writes. Its goroutine, run, alone uses
// the connection and what it remembers of the file.
type writer struct {
	conn *conn
	now  func() time.Time
	memory

	presence *presence // nil if it cannot be shown; set before the first lease

	// patience is how long to wait for another process; tests shorten it.
	patience atomic.Int64

	seen atomic.Pointer[func(jobs int)] // told what a commit holds

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
	err   error         // the result, once done
	done  chan struct{} // gets one token from the writer
}

// spare jobs are over and may be used again.
var spare = sync.Pool{New: func() any { return &job{done: make(chan struct{}, 1)} }}

const (
	queued int32 = iota
	taken
	givenUp
)

// openWriter opens the connection and starts the writer.
//
// If check is set, it sees the file before anything in it is changed.
func openWriter(ctx context.Context, path string, now func() time.Time, check func(queryFunc) error) (*writer, error) {
	w := &writer{now: now, memory: memory{introduced: map[string]bool{}}, wake: make(chan struct{}, 1), done: make(chan struct{})}
	w.patience.Store(int64(busyLimit))
	err := whileBusy(ctx, busyLimit, func() (err error) {
		w.conn, err = openConn(path, "cache_size = -4000", "journal_size_limit = 67108864", fmt.Sprint("wal_autocheckpoint = ", checkpointAfter))
		return err
	})
	if err != nil {
		return nil, err
	}
	if check != nil {
		err = check(w.conn.query)
	}
	if err == nil {
		err = useWAL(ctx, w.conn)
	}
	if err != nil {
		return nil, errors.Join(err, w.conn.close())
	}
	go w.run()
	return w, nil
}

// useWAL puts the file into WAL mode, where it stays.
func useWAL(ctx context.Context, c *conn) error {
	var mode string
	err := whileBusy(ctx, busyLimit, func() error {
		return scanOne(c.query, []any{&mode}, `PRAGMA journal_mode = WAL`)
	})
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the file cannot be put into WAL mode, it stays in mode %s", mode)
	}
	return err
}

// do has fn run in a write transaction and waits until it is committed. Fn
// must not keep the tx.
func (w *writer) do(ctx context.Context, fn func(tx *tx) error) error {
	j := spare.Get().(*job)
	j.run = fn
	if err := w.enqueue(ctx, j); err != nil {
		return err
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.state.CompareAndSwap(queued, givenUp) {
			return ctx.Err() // the writer still has the job
		}
		// The transaction is under way; its end is near, and known.
		<-j.done
	}
	err := j.err
	j.run, j.err = nil, nil
	j.state.Store(queued)
	spare.Put(j)
	return err
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
	w.leave()
	return w.conn.close()
}

// commit runs jobs and answers their callers.
func (w *writer) commit(jobs []*job) {
	if seen := w.seen.Load(); seen != nil {
		(*seen)(len(jobs))
	}
	w.together(jobs)
	for _, j := range jobs {
		j.done <- struct{}{}
	}
}

// together runs jobs in one transaction. One that fails half-way takes the
// transaction with it: the others are run again without it, and it alone, so
// that it fails its own caller. If the commit itself fails, each is tried
// alone.
func (w *writer) together(jobs []*job) {
	tx, err := w.begin()
	if err != nil {
		for _, j := range jobs {
			j.err = err
		}
		return
	}
	failed, err := tx.run(jobs)
	switch {
	case err == nil:
	case len(jobs) == 1:
		jobs[0].err = err
	case failed >= 0:
		w.together(slices.Concat(jobs[:failed], jobs[failed+1:]))
		w.together(jobs[failed : failed+1])
	default:
		for i := range jobs {
			w.together(jobs[i : i+1])
		}
	}
}

// take gives the job to the writer, unless its caller has given it up.
func (j *job) take() bool {
	return j.state.CompareAndSwap(queued, taken) || j.state.Load() == taken
}

// begin starts a transaction when no other process has one.
func (w *writer) begin() (*tx, error) {
	err := whileBusy(context.Background(), time.Duration(w.patience.Load()), func() error {
		_, err := w.conn.exec(`BEGIN IMMEDIATE`)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := w.refresh(w.conn.query); err != nil {
		w.conn.exec(`ROLLBACK`)
		return nil, err
	}
	return &tx{w: w, now: w.now().UTC().Truncate(time.Microsecond)}, nil
}

// tx is a write transaction. It belongs to the writer's goroutine, unless it
// is a user's.
type tx struct {
	w     *writer
	user  *userTx   // nil for one of the writer's
	now   time.Time // of all that it writes
	wrote bool      // something
}

// run runs jobs and commits; it leaves with each job its own error. After an
// error nothing is stored, and the transaction has ended; failed is the job
// whose error it is, -1 for the commit's.
func (t *tx) run(jobs []*job) (failed int, err error) {
	defer func() {
		if err != nil {
			t.w.rolledBack()
			t.w.conn.exec(`ROLLBACK`) // fails if SQLite has rolled back by itself
		}
	}()
	for i, j := range jobs {
		if !j.take() {
			continue
		}
		t.wrote = false
		if j.err = j.run(t); j.err != nil && (t.wrote || primaryCode(j.err) != 0) {
			return i, j.err
		}
	}
	_, err = t.w.conn.exec(`COMMIT`)
	return -1, err
}

// exec runs a statement and returns how many rows it changed. No caller's
// context ends it: the transaction is shared.
func (t *tx) exec(query string, args ...any) (changed int64, err error) {
	if t.user != nil {
		return t.user.exec(query, args...)
	}
	t.wrote = true
	return t.w.conn.exec(query, args...)
}

func (t *tx) query(query string, args ...any) (rows, error) {
	if t.user != nil {
		return t.user.query(query, args...)
	}
	return t.w.conn.query(query, args...)
}

// whileBusy calls fn until it returns something else than that another
// connection holds a lock, limit has passed, or ctx has ended. It asks often,
// as a lock that is taken again and again is free for a moment only.
func whileBusy(ctx context.Context, limit time.Duration, fn func() error) error {
	var deadline time.Time
	for wait := 100 * time.Microsecond; ; wait = min(2*wait, 2*time.Millisecond) {
		err := fn()
		if err == nil || !busy(err) {
			return err
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(limit)
		} else if time.Now().After(deadline) {
			return fmt.Errorf("another process has held the file for %v: %w", limit, err)
		}
		again := time.NewTimer(wait/2 + rand.N(wait))
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
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
	var own *libError
	var users *sqlite.Error
	switch {
	case errors.As(err, &own):
		return own.code & 0xff
	case errors.As(err, &users):
		return users.Code() & 0xff
	}
	return 0
}

// explain says in plain words what is wrong with a file.
func explain(err error) error {
	if primaryCode(err) == lib.SQLITE_NOTADB {
		return fmt.Errorf("the file is not an SQLite database: %w", err)
	}
	return err
}
