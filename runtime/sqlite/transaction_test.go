package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/storetest"
)

// txs is how the suite writes in a file beside the store.
func txs() *storetest.Tx {
	return &storetest.Tx{
		Prepare: func(t *testing.T, s restaq.Store) {
			execAll(t, plain(t, s.(*Store).path), `CREATE TABLE number (n INTEGER NOT NULL)`)
		},
		Write: func(ctx context.Context, _ restaq.Store, tx any, n int) error {
			_, err := tx.(*sql.Tx).ExecContext(ctx, `INSERT INTO number VALUES (?)`, n)
			return err
		},
		Written: func(t *testing.T, s restaq.Store) []int { return numbers(t, s.(*Store)) },
		Begin: func(t *testing.T, s restaq.Store) any {
			tx, err := immediate(t, s.(*Store).path).BeginTx(context.WithoutCancel(t.Context()), nil)
			if err != nil {
				t.Fatal(err)
			}
			return tx
		},
		Commit:   func(_ context.Context, tx any) error { return tx.(*sql.Tx).Commit() },
		Rollback: func(_ context.Context, tx any) error { return tx.(*sql.Tx).Rollback() },
	}
}

// numbers returns what is committed.
func numbers(t *testing.T, s *Store) (all []int) {
	t.Helper()
	rows, err := plain(t, s.path).Query(`SELECT n FROM number`)
	if err != nil {
		t.Fatal(err)
	}
	if err := each(rows, func() error {
		var n int
		err := rows.Scan(&n)
		all = append(all, n)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// immediate is a pool of connections whose transactions begin by BEGIN
// IMMEDIATE.
func immediate(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, "busy_timeout(10000)")+"&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// transacting is a store with one running execution and a table of numbers.
type transacting struct {
	*Store
	lease restaq.Lease
}

func newTransacting(t *testing.T, timeout time.Duration) *transacting {
	t.Helper()
	s := mustOpen(t, Config{Path: newPath(t), TxTimeout: timeout})
	txs().Prepare(t, s)
	f := &transacting{s, restaq.Lease{Execution: "execution-1", Attempt: 1, Token: 1}}
	_, _, err := s.Insert(t.Context(), &restaq.Insertion{
		Event:      &restaq.Event{Source: "s", Provider: "s", ID: "evt_1", Type: "s.paid"},
		Executions: []restaq.NewExecution{{ID: f.lease.Execution, Handler: "shop.Paid", Begin: true}},
		Owner:      "old", Lease: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// step runs a step that writes a number and calls do, which may be nil.
func (f *transacting) step(t *testing.T, do func(ctx context.Context, tx *sql.Tx) error) error {
	t.Helper()
	return f.Transact(t.Context(), f.lease, time.Minute, func(ctx context.Context, tx any) (*restaq.Progress, error) {
		if err := txs().Write(ctx, f.Store, tx, 1); err != nil {
			return nil, err
		}
		if do != nil {
			if err := do(ctx, tx.(*sql.Tx)); err != nil {
				return nil, err
			}
		}
		return &restaq.Progress{Steps: []restaq.StepRow{{Attempt: 1, Seq: 1, Name: "pay", Status: restaq.StepCompleted}}}, nil
	})
}

// stored checks that writes and record are there, or that neither is.
func (f *transacting) stored(t *testing.T, want bool) {
	t.Helper()
	n := 0
	if want {
		n = 1
	}
	if got := numbers(t, f.Store); len(got) != n {
		t.Errorf("written: %v, want %d", got, n)
	}
	if recorded, err := f.Recorded(t.Context(), f.lease, 1); err != nil || recorded != want {
		t.Errorf("Recorded = %v, %v; want %v", recorded, err, want)
	}
}

const lateText = "it took longer than 50ms, and all other writes wait for it"

// A full disk is the database's, not the step's. Where the page that finds no
// room belongs to the step or to its record makes no difference.
func TestATransactionWithoutRoomIsLost(t *testing.T) {
	f := newTransacting(t, time.Minute)
	full := func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `PRAGMA max_page_count = 1`) // as many as there are
		return err
	}
	tests := map[string]func(ctx context.Context, tx *sql.Tx) (output []byte, err error){
		"in the step": func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			if err := full(ctx, tx); err != nil {
				return nil, err
			}
			_, err := tx.ExecContext(ctx, `CREATE TABLE large AS SELECT zeroblob(1000000) AS b`)
			return nil, fmt.Errorf("write the invoice: %w", err)
		},
		"in its record": func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			return make([]byte, 1_000_000), full(ctx, tx)
		},
	}
	for name, do := range tests {
		t.Run(name, func(t *testing.T) {
			err := f.Transact(t.Context(), f.lease, time.Minute, func(ctx context.Context, tx any) (*restaq.Progress, error) {
				if err := txs().Write(ctx, f.Store, tx, 1); err != nil {
					return nil, err
				}
				output, err := do(ctx, tx.(*sql.Tx))
				return &restaq.Progress{Steps: []restaq.StepRow{{Attempt: 1, Seq: 1, Name: "pay", Status: restaq.StepCompleted, Output: output}}}, err
			})
			if !errors.Is(err, restaq.ErrConnectionLost) || primaryCode(err) != lib.SQLITE_FULL || restaq.IsPermanent(err) {
				t.Errorf("Transact = %v, want ErrConnectionLost", err)
			}
			f.stored(t, false)
		})
	}
	err := f.step(t, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `PRAGMA max_page_count = 1000000`) // there is room again
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f.stored(t, true)
}

func TestATransactionThatTakesTooLongIsRolledBack(t *testing.T) {
	f := newTransacting(t, 50*time.Millisecond)
	err := f.step(t, func(ctx context.Context, _ *sql.Tx) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if err == nil || !strings.Contains(err.Error(), lateText) || restaq.IsPermanent(err) {
		t.Errorf("Transact = %v", err)
	}
	f.stored(t, false)
	f.txs.timeout = time.Minute
	if err := f.step(t, nil); err != nil {
		t.Fatal(err)
	}
	f.stored(t, true)
}

func TestAStepThatDoesNotStopHoldsUpNobody(t *testing.T) {
	f := newTransacting(t, 50*time.Millisecond)
	stop := make(chan struct{})
	done := make(chan error, 1)
	begun := make(chan struct{})
	go func() {
		done <- f.Transact(t.Context(), f.lease, time.Minute, func(context.Context, any) (*restaq.Progress, error) {
			close(begun)
			<-stop // deaf to its context
			return &restaq.Progress{Steps: []restaq.StepRow{{Attempt: 1, Seq: 1, Name: "pay", Status: restaq.StepCompleted}}}, nil
		})
	}()
	<-begun
	f.txs.timeout = time.Minute
	// These wait for the transaction to be ended, not for the step.
	mustInsert(t, f.Store, "evt_2")
	if err := f.Transact(t.Context(), f.lease, time.Minute, func(context.Context, any) (*restaq.Progress, error) {
		return &restaq.Progress{}, nil
	}); err != nil {
		t.Error(err)
	}
	close(stop)
	if err := <-done; err == nil || !strings.Contains(err.Error(), lateText) {
		t.Errorf("Transact = %v", err)
	}
	f.stored(t, false)
}

func TestARenewalWaitsForOneTransactionAtMost(t *testing.T) {
	f := newTransacting(t, time.Minute)
	var order []string
	var mu sync.Mutex
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, what)
	}
	queued := func(n int) { // waits until n jobs are in the queue
		for {
			f.writer.mu.Lock()
			got := len(f.writer.queue)
			f.writer.mu.Unlock()
			if got == n {
				return
			}
			runtime.Gosched()
		}
	}
	var all sync.WaitGroup
	err := f.step(t, func(context.Context, *sql.Tx) error {
		for i := range 3 {
			all.Go(func() {
				if err := f.Transact(t.Context(), f.lease, time.Minute, func(context.Context, any) (*restaq.Progress, error) {
					note("transaction")
					return &restaq.Progress{}, nil
				}); err != nil {
					t.Error(err)
				}
			})
			queued(i + 1)
		}
		all.Go(func() {
			if err := f.writer.do(t.Context(), func(*tx) error { note("renewal"); return nil }); err != nil {
				t.Error(err)
			}
		})
		queued(4)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if order[0] != "renewal" {
		t.Errorf("order: %v", order)
	}
}

func TestAWriteInsideATransactionIsRefused(t *testing.T) {
	f := newTransacting(t, time.Minute)
	err := f.step(t, func(ctx context.Context, _ *sql.Tx) error {
		if err := insert(ctx, f.Store, "evt_2"); !errors.Is(err, errInTransaction) {
			t.Errorf("Insert = %v", err)
		}
		if err := f.Transact(ctx, f.lease, time.Minute, nil); !errors.Is(err, errInTransaction) {
			t.Errorf("Transact = %v", err)
		}
		mustMiss(t, f.Store, "evt_2") // reading is possible
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f.stored(t, true)
}

func TestADeferredConstraintFailsTheCommitAndTheStoreGoesOn(t *testing.T) {
	f := newTransacting(t, time.Minute)
	execAll(t, plain(t, f.path), `CREATE TABLE parent (id INTEGER PRIMARY KEY)`,
		`CREATE TABLE child (parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`)
	for range 3 {
		err := f.step(t, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO child VALUES (1)`)
			return err
		})
		if err == nil || errors.Is(err, restaq.ErrUncertain) || primaryCode(err) != lib.SQLITE_CONSTRAINT {
			t.Errorf("Transact = %v, want that the constraint failed", err)
		}
		f.stored(t, false)
		// A step that commits by itself does not get that far.
		err = f.step(t, func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, `INSERT INTO child VALUES (1)`); err != nil {
				return err
			}
			tx.Commit()
			return nil
		})
		if !errors.Is(err, restaq.ErrTransactionEnded) {
			t.Errorf("Transact = %v, want ErrTransactionEnded", err)
		}
		f.stored(t, false)
	}
	mustInsert(t, f.Store, "evt_2")
	if err := f.step(t, nil); err != nil {
		t.Fatal(err)
	}
	f.stored(t, true)
}

func TestATransactionWaitsForAnotherProcess(t *testing.T) {
	f := newTransacting(t, time.Minute)
	unlock := lock(t, f.path)
	done := make(chan error, 1)
	go func() { done <- f.step(t, nil) }()
	ctx, cancel := context.WithCancel(t.Context())
	impatient := make(chan error, 1)
	go func() {
		impatient <- f.Transact(ctx, f.lease, time.Minute, func(context.Context, any) (*restaq.Progress, error) { return nil, nil })
	}()
	cancel()
	if err := <-impatient; !errors.Is(err, context.Canceled) {
		t.Errorf("Transact = %v, want that it was cancelled", err)
	}
	unlock()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	f.stored(t, true)
}

func TestCloseWaitsForATransaction(t *testing.T) {
	path := newPath(t)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &transacting{s, restaq.Lease{Execution: "execution-evt_1", Attempt: 1, Token: 1}}
	txs().Prepare(t, s)
	in := &restaq.Insertion{
		Event:      &restaq.Event{Source: "acme", Provider: "acme", ID: "evt_1", Type: "acme.order"},
		Executions: []restaq.NewExecution{{ID: f.lease.Execution, Handler: "shop.Paid", Begin: true}}, Lease: time.Minute,
	}
	if _, _, err := s.Insert(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	err = f.step(t, func(context.Context, *sql.Tx) error {
		go func() { closed <- s.Close() }()
		for {
			s.writer.mu.Lock()
			closing := s.writer.closed
			s.writer.mu.Unlock()
			if closing {
				return nil
			}
			runtime.Gosched()
		}
	})
	if err != nil {
		t.Errorf("Transact = %v", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close = %v", err)
	}
	again := &transacting{mustOpen(t, Config{Path: path}), f.lease}
	again.stored(t, true)
	if err := f.step(t, nil); !errors.Is(err, errClosed) {
		t.Errorf("Transact after Close = %v", err)
	}
}

func TestTheLimitOfATransactionIsASecond(t *testing.T) {
	if s := mustOpen(t, Config{Path: newPath(t)}); s.txs.timeout != time.Second {
		t.Errorf("it is %v", s.txs.timeout)
	}
	if _, err := OpenConfig(Config{Path: newPath(t), TxTimeout: -1}); err == nil || !strings.Contains(err.Error(), "config: TxTimeout: must not be negative") {
		t.Errorf("a negative limit: %v", err)
	}
}
