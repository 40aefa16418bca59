package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	restaq "github.com/restaq/restaq/runtime"
)

// errInTransaction is what a write gets that would wait for its own
// transaction.
var errInTransaction = errors.New("called inside a step's transaction, which holds the file's only writer: call it before or after the step, or put an event into the transaction by DeliverTx")

// standing marks a context whose holder has made the writer stand still.
type standing struct{ w *writer }

// userTx is a transaction that a user writes in.
type userTx struct {
	ctx context.Context
	tx  *sql.Tx
}

func (u *userTx) exec(query string, args ...any) (changed int64, err error) {
	result, err := u.tx.ExecContext(u.ctx, query, copyArgs(args)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (u *userTx) query(query string, args ...any) (rows, error) {
	found, err := u.tx.QueryContext(u.ctx, query, copyArgs(args)...)
	if err != nil {
		return nil, err // no typed nil
	}
	return found, nil
}

// copyArgs copies arguments, so that those of the writer's statements, which end
// here only in a user's transaction, need no memory of the heap.
func copyArgs(args []any) []any {
	copies := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case int64:
			copies[i] = v
		case int:
			copies[i] = v
		case bool:
			copies[i] = v
		case string:
			copies[i] = v
		case []byte:
			copies[i] = v
		case restaq.Status:
			copies[i] = string(v)
		case restaq.StepStatus:
			copies[i] = string(v)
		case restaq.AttemptOutcome:
			copies[i] = string(v)
		case restaq.AttemptKind:
			copies[i] = int64(v)
		case nil:
		default:
			panic("sqlite: cannot bind a " + reflect.TypeOf(arg).String())
		}
	}
	return copies
}

// transactions are the connections for steps that take a transaction, apart
// from the writer's: whatever a step leaves behind on one does not reach the
// Store's own writes. Foreign keys are checked on them.
type transactions struct {
	db      *sql.DB
	timeout time.Duration
}

func openTransactions(path string, timeout time.Duration) (*transactions, error) {
	name := dsn(path, "busy_timeout(0)", "foreign_keys(ON)", "journal_size_limit(67108864)", fmt.Sprintf("wal_autocheckpoint(%d)", checkpointAfter)) + "&_txlock=immediate"
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	// One is in use at a time, and perhaps others whose step does not stop.
	db.SetMaxIdleConns(1)
	return &transactions{db: db, timeout: timeout}, nil
}

func (t *transactions) close() error { return t.db.Close() }

// TxType says that steps get a *sql.Tx.
func (s *Store) TxType() string { return "*sql.Tx" }

// Transact runs fn in a transaction that its progress is recorded in. The
// writer stands still for it, and BEGIN IMMEDIATE takes the lock of the file
// from other processes, so that the lease that was checked holds until the
// commit.
//
// The transaction ends with ctx, and TxTimeout after it began: it is rolled
// back then, and the writer goes on, even if fn does not return.
func (s *Store) Transact(ctx context.Context, lease restaq.Lease, _ time.Duration, fn func(ctx context.Context, tx any) (*restaq.Progress, error)) error {
	resume, err := s.writer.pause(ctx)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer resume()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, resume)()

	conn, err := s.txs.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer conn.Close()
	w, err := watch(conn)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	t, err := s.begin(ctx, conn)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer end(conn, t, w)
	late := fmt.Errorf("the transaction was rolled back: it took longer than %v, and all other writes wait for it (sqlite.Config.TxTimeout)", s.txs.timeout)
	timer := time.AfterFunc(s.txs.timeout, func() { cancel(late) })
	defer timer.Stop()

	err = s.inTransaction(ctx, t, lease, fn)
	if cause := context.Cause(ctx); cause == late {
		return late
	}
	switch {
	case w.committed.Load(), w.ended.Load() && err == nil, errors.Is(err, sql.ErrTxDone) && ctx.Err() == nil:
		return restaq.Permanent(restaq.ErrTransactionEnded)
	case unwritten(err):
		return fmt.Errorf("%w: %w", restaq.ErrConnectionLost, err)
	case err != nil:
		return err
	}
	timer.Stop()
	w.allowed.Store(true)
	return committed(ctx, t.user.tx.Commit(), late)
}

// unwritten reports whether err says that the file could not be written or read:
// its disk is full or fails. That is no fault of a step.
func unwritten(err error) bool {
	code := primaryCode(err)
	return code == lib.SQLITE_FULL || code == lib.SQLITE_IOERR
}

// inTransaction does all that stands between BEGIN and COMMIT.
func (s *Store) inTransaction(ctx context.Context, t *tx, lease restaq.Lease, fn func(ctx context.Context, tx any) (*restaq.Progress, error)) error {
	e, err := t.held(lease)
	if err != nil {
		return err
	}
	p, err := fn(context.WithValue(ctx, standing{s.writer}, true), t.user.tx)
	if err != nil {
		return err
	}
	if err := t.progress(e, lease.Attempt, p); err != nil {
		return fmt.Errorf("record step: %w", err)
	}
	return nil
}

// committed is what the result of a commit means.
func committed(ctx context.Context, err, late error) error {
	switch {
	case err == nil:
		return nil
	case context.Cause(ctx) == late:
		return late
	case errors.Is(err, sql.ErrTxDone), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return fmt.Errorf("the transaction was rolled back: %w", context.Cause(ctx))
	case primaryCode(err) == lib.SQLITE_CONSTRAINT, busy(err):
		return fmt.Errorf("commit: %w", err)
	}
	return fmt.Errorf("%w: %w", restaq.ErrUncertain, err)
}

// begin begins a transaction on conn when no other process has one. The
// transaction ends with ctx.
func (s *Store) begin(ctx context.Context, conn *sql.Conn) (*tx, error) {
	var user *sql.Tx
	err := whileBusy(ctx, time.Duration(s.writer.patience.Load()), func() (err error) {
		user, err = conn.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.userTx(ctx, user), nil
}

func (s *Store) userTx(ctx context.Context, user *sql.Tx) *tx {
	return &tx{w: s.writer, user: &userTx{ctx, user}, now: s.now().UTC().Truncate(time.Microsecond)}
}

// end leaves conn without a transaction. A commit that a deferred constraint
// refuses leaves one open that database/sql knows nothing of.
func end(conn *sql.Conn, t *tx, w *watcher) {
	w.allowed.Store(true)
	t.user.tx.Rollback()
	conn.ExecContext(context.Background(), `ROLLBACK`) // fails if none is open, as it should be
}

// watcher sees how the transaction of a connection ends. It lets no commit
// pass that is not allowed.
type watcher struct {
	allowed   atomic.Bool
	committed atomic.Bool // somebody tried to
	ended     atomic.Bool
}

// watch begins to watch a connection.
func watch(conn *sql.Conn) (*watcher, error) {
	w := &watcher{}
	return w, conn.Raw(func(c any) error {
		hooks, ok := c.(sqlite.HookRegisterer)
		if !ok {
			return fmt.Errorf("the driver's connection, a %T, has no hooks", c)
		}
		hooks.RegisterCommitHook(func() int32 {
			if w.allowed.Load() {
				return 0
			}
			w.committed.Store(true)
			return 1 // makes it a rollback
		})
		hooks.RegisterRollbackHook(func() {
			if !w.allowed.Load() {
				w.ended.Store(true)
			}
		})
		return nil
	})
}

// Recorded reports whether a row is stored. Its place in the writer's queue
// makes it wait for this process's transactions; those of others belong to
// other attempts.
func (s *Store) Recorded(ctx context.Context, lease restaq.Lease, seq int) (found bool, err error) {
	err = s.writer.do(ctx, func(tx *tx) error {
		return scanOne(tx.query, []any{&found}, `SELECT EXISTS (SELECT 1 FROM restaq_step
			WHERE execution = (SELECT seq FROM restaq_execution WHERE id = ?) AND attempt = ? AND seq = ?)`,
			lease.Execution, lease.Attempt, seq)
	})
	if err != nil {
		return false, fmt.Errorf("look for step: %w", err)
	}
	return found, nil
}

// InsertTx stores a new event with its executions in a transaction of the
// caller's. It should have been begun by BEGIN IMMEDIATE (_txlock=immediate):
// one that only read before may find the file locked, at once and for good.
func (s *Store) InsertTx(ctx context.Context, user any, in *restaq.Insertion) (created bool, executions []restaq.Execution, err error) {
	tx, ok := user.(*sql.Tx)
	if !ok || tx == nil {
		return false, nil, fmt.Errorf("insert event: the transaction is a %T, want a *sql.Tx of this file", user)
	}
	t := s.userTx(ctx, tx)
	created, executions, err = t.insert(in)
	if err == nil && !created {
		var found *restaq.StoredEvent
		if found, err = lookup(t.query, in.Event.Source, in.Event.ID, false); err == nil {
			executions = found.Executions
		}
	}
	if err != nil {
		return false, nil, fmt.Errorf("insert event: %w", err)
	}
	return created, executions, nil
}

// pause waits for its turn and makes the writer stand still until resume is
// called, which may be called more than once.
func (w *writer) pause(ctx context.Context) (resume func(), err error) {
	stands, resumed := make(chan struct{}), make(chan struct{})
	j := &job{hold: func() { close(stands); <-resumed }}
	if err := w.enqueue(ctx, j); err != nil {
		return nil, err
	}
	resume = sync.OnceFunc(func() { close(resumed) })
	select {
	case <-stands:
		return resume, nil
	case <-ctx.Done():
	}
	if !j.state.CompareAndSwap(queued, givenUp) {
		resume() // its turn has come just now
	}
	return nil, ctx.Err()
}
