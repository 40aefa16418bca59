package restaq_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
)

// txStep describes a step of one string input, with a transaction of store's,
// as generated code does.
func txStep(store restaq.Store, name string, fn func(ctx context.Context, tx any, v string) (string, error)) *restaq.Step[struct{}, in1, string] {
	s := step[string](name, nil)
	s.Call = nil
	s.Tx = "pgx.Tx"
	if t, ok := store.(restaq.Transactor); ok {
		s.Tx = t.TxType()
	}
	s.CallTx = func(ctx context.Context, tx any, _ struct{}, in in1) (string, error) { return fn(ctx, tx, in.v) }
	return s
}

// calling is a handler that calls a step and then fails, once for each of errs.
func calling(s *restaq.Step[struct{}, in1, string], errs ...error) restaq.Handler[restaq.Event] {
	var mu sync.Mutex
	return on("h", func(ctx context.Context, _ restaq.Event) error {
		out, err := s.Run(ctx, struct{}{}, in1{"in"})
		if err != nil {
			return err
		}
		if out != "out" {
			return restaq.Permanent(fmt.Errorf("output %q", out))
		}
		mu.Lock()
		defer mu.Unlock()
		if len(errs) == 0 {
			return nil
		}
		err, errs = errs[0], errs[1:]
		return err
	})
}

// firstTries are ways in which the first try of a step with a transaction
// fails.
var firstTries = map[string]struct {
	fail  func(ctx context.Context, l *ledger, tx any) error
	error string // what the history says; part of it
}{
	"error": {func(context.Context, *ledger, any) error { return errors.New("oops") }, "oops"},
	"panic": {func(context.Context, *ledger, any) error { panic("oops") }, "panic: oops"},
	"an error of a statement": {func(ctx context.Context, l *ledger, tx any) error {
		return l.exec(ctx, tx, `INSERT INTO ledger (name) VALUES (NULL)`)
	}, "null"},
	"a deferred constraint at the commit": {func(ctx context.Context, l *ledger, tx any) error {
		return l.exec(ctx, tx, `INSERT INTO debt (debtor) VALUES ('nobody')`)
	}, "commit: "},
	"a timeout": {func(ctx context.Context, _ *ledger, _ any) error { <-ctx.Done(); return nil }, "timeout"},
}

// Case 27: whatever becomes of a transaction that is not committed, its step
// runs again; once it is committed, it never does.
func TestAStepWithATransactionHappensOnce(t *testing.T) {
	for name, first := range firstTries {
		t.Run(name, func(t *testing.T) {
			eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
				store := open()
				var runs counter
				s := txStep(store, "pay", func(ctx context.Context, tx any, v string) (string, error) {
					n := runs.add("pay")
					if err := l.write(ctx, tx, v); err != nil {
						return "", err
					}
					if n == 1 {
						if err := first.fail(ctx, l, tx); err != nil {
							return "", err
						}
					}
					return "out", nil
				})
				if name == "a timeout" {
					s.Timeout = time.Second
				}
				rt, _ := start(t, store, quick(), calling(s, errors.New("after the step")), s.Bind(struct{}{}))
				e := deliver(t, rt, newEvent())
				wait(t, rt, e.ID, "completed")
				runs.want(t, map[string]int{"pay": 2})
				l.want(t, "in")

				h := inspect(t, rt, e.ID)
				var got []string
				for _, a := range h.Tries {
					for _, s := range a.Steps {
						got = append(got, fmt.Sprintf("%d %s %s", a.Number, s.Name, s.Status))
					}
				}
				want := []string{"1 pay failed", "2 pay completed", "3 pay skipped"}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("history %q, want %q", got, want)
				}
				if text := h.Tries[0].Steps[0].Error; !strings.Contains(strings.ToLower(text), first.error) {
					t.Errorf("the first try's error is %q, want %q in it", text, first.error)
				}
			})
		})
	}
}

func TestAStepThatEndsItsTransactionFailsForGood(t *testing.T) {
	ends := map[string]func(ctx context.Context, l *ledger, tx any){
		"commit":   func(_ context.Context, l *ledger, tx any) { l.end(tx, true) },
		"rollback": func(_ context.Context, l *ledger, tx any) { l.end(tx, false) },
		"COMMIT":   func(ctx context.Context, l *ledger, tx any) { l.exec(ctx, tx, "COMMIT") },
		"ROLLBACK": func(ctx context.Context, l *ledger, tx any) { l.exec(ctx, tx, "ROLLBACK") },
		"another one": func(ctx context.Context, l *ledger, tx any) {
			l.exec(ctx, tx, "ROLLBACK")
			l.exec(ctx, tx, "BEGIN")
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
				store := open()
				var runs counter
				s := txStep(store, "pay", func(ctx context.Context, tx any, v string) (string, error) {
					runs.add("pay")
					end(ctx, l, tx)
					l.write(ctx, tx, v)
					return "out", nil
				})
				rt, _ := start(t, store, quick(), calling(s), s.Bind(struct{}{}))
				e := wait(t, rt, deliver(t, rt, newEvent()).ID, "dead")
				if !strings.Contains(e.Error, "ended its transaction itself") || e.Step != "pay" || e.Attempts != 1 {
					t.Errorf("execution %+v", e)
				}
				runs.want(t, map[string]int{"pay": 1})
				if h := inspect(t, rt, e.ID); h.Tries[0].Steps[0].Status != restaq.StepPermanent {
					t.Errorf("history %+v", h.Tries)
				}
			})
		})
	}
}

func TestAStepIsNotCalledInTheTransactionOfAnother(t *testing.T) {
	eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
		store := open()
		var runs counter
		inner := step("inner", func(_ context.Context, v string) (string, error) { runs.add("inner"); return v, nil })
		s := txStep(store, "outer", func(ctx context.Context, tx any, v string) (string, error) {
			if err := l.write(ctx, tx, v); err != nil {
				return "", err
			}
			return inner.Run(ctx, struct{}{}, in1{v})
		})
		rt, _ := start(t, store, quick(), calling(s), s.Bind(struct{}{}), inner.Bind(struct{}{}))
		e := wait(t, rt, deliver(t, rt, newEvent()).ID, "dead")
		if !strings.Contains(e.Error, "step inner is called in the transaction of step outer") {
			t.Errorf("error %q", e.Error)
		}
		runs.want(t, map[string]int{"inner": 0})
		l.want(t)
	})
}

func TestRuntimeCallsInATransactionDoNotDeadlock(t *testing.T) {
	eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
		store := open()
		var rt *restaq.Runtime
		ready := newGate()
		own := on("own", func(context.Context, restaq.Event) error { return nil }, "acme.own")
		s := txStep(store, "pay", func(ctx context.Context, tx any, v string) (string, error) {
			ready.pass(ctx)
			_, isSQLite := tx.(*sql.Tx)
			_, deliver := rt.Deliver(ctx, restaq.Event{ID: "1", Type: "acme.own"})
			_, cancel := rt.Cancel(ctx, "0192f0c1-0000-7000-8000-000000000000")
			for name, err := range map[string]error{"Deliver": deliver, "Cancel": cancel} {
				refused := err != nil && strings.Contains(err.Error(), "called inside a step's transaction")
				if refused != isSQLite {
					t.Errorf("%s in a transaction: %v", name, err)
				}
			}
			if _, err := rt.Inspect(ctx, restaq.ExecutionID(ctx)); err != nil {
				t.Errorf("Inspect in a transaction: %v", err)
			}
			return "out", l.write(ctx, tx, v)
		})
		rt, _ = start(t, store, quick(), calling(s), s.Bind(struct{}{}), own)
		ready.open()
		wait(t, rt, deliver(t, rt, newEvent()).ID, "completed")
		l.want(t, "in")
	})
}

// lossy is a store whose answers to commits are lost.
type lossy struct {
	restaq.Store
	restaq.Transactor
	lose func(fn func() error) error
}

func (s *lossy) Transact(ctx context.Context, lease restaq.Lease, d time.Duration, fn func(ctx context.Context, tx any) (*restaq.Progress, error)) error {
	return s.lose(func() error { return s.Transactor.Transact(ctx, lease, d, fn) })
}

func TestACommitWhoseAnswerIsLostIsRecognised(t *testing.T) {
	eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
		store := open()
		var runs counter
		lost := &lossy{Store: store, Transactor: store.(restaq.Transactor), lose: func(fn func() error) error {
			if err := fn(); err != nil {
				return err
			}
			return fmt.Errorf("%w: connection reset", restaq.ErrUncertain)
		}}
		s := txStep(store, "pay", func(ctx context.Context, tx any, v string) (string, error) {
			runs.add("pay")
			return "out", l.write(ctx, tx, v)
		})
		rt, _ := start(t, lost, quick(), calling(s), s.Bind(struct{}{}))
		e := deliver(t, rt, newEvent())
		if e := wait(t, rt, e.ID, "completed"); e.Attempts != 1 {
			t.Errorf("%d attempts, want 1", e.Attempts)
		}
		runs.want(t, map[string]int{"pay": 1})
		l.want(t, "in")
		if h := inspect(t, rt, e.ID); len(h.Tries[0].Steps) != 1 || h.Tries[0].Steps[0].Status != restaq.StepCompleted {
			t.Errorf("history %+v", h.Tries)
		}
	})
}

// lostConnections are ways to lose the connection before the commit, and what
// the store says of it.
var lostConnections = map[string]struct {
	err    error
	called bool // the function was
}{
	"in the function": {fmt.Errorf("%w: unexpected EOF", restaq.ErrConnectionLost), true},
	"in the commit":   {fmt.Errorf("%w: connection reset", restaq.ErrUncertain), false},
}

func TestALostConnectionBeforeTheCommitIsNoFailedTry(t *testing.T) {
	for name, lost := range lostConnections {
		t.Run(name, func(t *testing.T) {
			eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
				store := open()
				var runs counter
				broken := errors.New("the connection breaks")
				lossy := &lossy{Store: store, Transactor: store.(restaq.Transactor), lose: func(fn func() error) error {
					if runs.add("transact") > 2 {
						return fn()
					}
					if lost.called {
						if err := fn(); !errors.Is(err, broken) {
							t.Errorf("Transact = %v, want what the function returned", err)
						}
					}
					return lost.err
				}}
				s := txStep(store, "pay", func(ctx context.Context, tx any, v string) (string, error) {
					if n := runs.add("pay"); lost.called && n <= 2 {
						return "", errors.Join(l.write(ctx, tx, "lost"), broken)
					}
					return "out", l.write(ctx, tx, v)
				})
				s.Attempts = 1 // no try is to spare
				rt, _ := start(t, lossy, quick(), calling(s), s.Bind(struct{}{}))
				e := wait(t, rt, deliver(t, rt, newEvent()).ID, "completed")
				if e.Attempts != 1 {
					t.Errorf("%d attempts, want 1", e.Attempts)
				}
				l.want(t, "in")
				if h := inspect(t, rt, e.ID); len(h.Tries[0].Steps) != 1 || h.Tries[0].Steps[0].Status != restaq.StepCompleted {
					t.Errorf("history %+v, want one step, completed", h.Tries)
				}
			})
		})
	}
}

// A step may be what ends the connection: a query that brings the server down.
func TestAStepThatLosesItsConnectionForALeaseFails(t *testing.T) {
	eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
		store := open()
		lossy := &lossy{Store: store, Transactor: store.(restaq.Transactor), lose: func(fn func() error) error {
			fn()
			return restaq.ErrConnectionLost
		}}
		s := txStep(store, "pay", func(context.Context, any, string) (string, error) { return "", errors.New("the server is gone") })
		s.Attempts = 1
		cfg := quick()
		cfg.Lease = 300 * time.Millisecond
		rt, _ := start(t, lossy, cfg, calling(s), s.Bind(struct{}{}))
		e := wait(t, rt, deliver(t, rt, newEvent()).ID, "dead")
		if !strings.Contains(e.Error, "the connection was lost") || e.Step != "pay" {
			t.Errorf("execution %+v", e)
		}
	})
}

func TestAStoreThatCannotBeginIsAskedAgain(t *testing.T) {
	eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
		store := open()
		var runs counter
		away := &lossy{Store: store, Transactor: store.(restaq.Transactor), lose: func(fn func() error) error {
			if runs.add("transact") < 3 {
				return errors.New("begin transaction: connection refused")
			}
			return fn()
		}}
		s := txStep(store, "pay", func(ctx context.Context, tx any, v string) (string, error) {
			return "out", l.write(ctx, tx, v)
		})
		rt, _ := start(t, away, quick(), calling(s), s.Bind(struct{}{}))
		if e := wait(t, rt, deliver(t, rt, newEvent()).ID, "completed"); e.Attempts != 1 {
			t.Errorf("%d attempts, want 1: a store that was away is no failure of the step", e.Attempts)
		}
		l.want(t, "in")
	})
}

func TestAStepWithATransactionNeedsAStoreThatHasThem(t *testing.T) {
	for _, test := range []struct {
		store restaq.Store
		tx    string
		want  string
	}{
		{memory.New(), "pgx.Tx", `register: step "pay" takes a transaction of type pgx.Tx and needs a store of package postgres; *memory.Store has no transactions for steps`},
		{memory.New(), "*sql.Tx", `register: step "pay" takes a transaction of type *sql.Tx and needs a store of package sqlite; *memory.Store has no transactions for steps`},
		{new(sqlite.Store), "pgx.Tx", `register: step "pay" takes a transaction of type pgx.Tx and needs a store of package postgres; *sqlite.Store gives *sql.Tx`},
		{new(postgres.Store), "*sql.Tx", `register: step "pay" takes a transaction of type *sql.Tx and needs a store of package sqlite; *postgres.Store gives pgx.Tx`},
	} {
		s := txStep(test.store, "pay", nil)
		s.Tx = test.tx
		rt, err := restaq.New(test.store, quick())
		if err != nil {
			t.Fatal(err)
		}
		if err := rt.Register(calling(s), s.Bind(struct{}{})); err == nil || err.Error() != test.want {
			t.Errorf("Register = %v\nwant %s", err, test.want)
		}
	}
}

func TestAStepWithATransactionThatIsNotRegisteredFailsForGood(t *testing.T) {
	store := memory.New()
	s := txStep(store, "pay", nil)
	rt, _ := start(t, store, quick(), calling(s))
	e := wait(t, rt, deliver(t, rt, newEvent()).ID, "dead")
	if !strings.Contains(e.Error, "needs a store of package postgres") {
		t.Errorf("error %q", e.Error)
	}
}

func TestDeliverTxDeliversWithTheTransaction(t *testing.T) {
	eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
		store := open()
		var runs counter
		own := on("own", func(_ context.Context, e restaq.Event) error { runs.add(e.ID); return nil }, "acme.own")
		receipts := make(chan restaq.Receipt, 1)
		var rt *restaq.Runtime
		ready := newGate()
		s := txStep(store, "pay", func(ctx context.Context, tx any, v string) (string, error) {
			ready.pass(ctx)
			receipt, err := rt.DeliverTx(ctx, tx, restaq.Event{ID: "from step", Type: "acme.own"})
			if err != nil {
				return "", err
			}
			if runs.add("try") == 1 {
				return "", errors.New("oops") // and the event with it
			}
			receipts <- receipt
			return "out", l.write(ctx, tx, v)
		})
		rt, _ = start(t, store, quick(), calling(s), s.Bind(struct{}{}), own)
		ready.open()
		wait(t, rt, deliver(t, rt, newEvent()).ID, "completed")
		receipt := await(t, receipts)
		if receipt.Duplicate || len(receipt.Executions) != 1 {
			t.Fatalf("receipt %+v", receipt)
		}
		wait(t, rt, receipt.Executions[0].ID, "completed")

		// In a transaction of one's own.
		for _, commit := range []bool{false, true} {
			tx := l.begin(t)
			receipt, err := rt.DeliverTx(t.Context(), tx, restaq.Event{ID: "from me", Type: "acme.own"})
			if err != nil || receipt.Duplicate || len(receipt.Executions) != 1 {
				t.Fatalf("DeliverTx = %+v, %v", receipt, err)
			}
			if err := l.write(t.Context(), tx, "mine"); err != nil {
				t.Fatal(err)
			}
			if err := l.end(tx, commit); err != nil {
				t.Fatal(err)
			}
			if commit {
				wait(t, rt, receipt.Executions[0].ID, "completed")
			} else if _, err := rt.Inspect(t.Context(), receipt.Executions[0].ID); !errors.Is(err, restaq.ErrNotFound) {
				t.Errorf("after the rollback: %v, want ErrNotFound", err)
			}
		}
		tx := l.begin(t)
		receipt, err := rt.DeliverTx(t.Context(), tx, restaq.Event{ID: "from me", Type: "acme.own"})
		if err != nil || !receipt.Duplicate || len(receipt.Executions) != 1 {
			t.Errorf("DeliverTx = %+v, %v; want a duplicate", receipt, err)
		}
		if err := l.end(tx, false); err != nil {
			t.Fatal(err)
		}
		runs.want(t, map[string]int{"from step": 1, "from me": 1})
		l.want(t, "in", "mine")
	})
}

func TestDeliverTxSaysWhatItCannotDo(t *testing.T) {
	rt := receive(t, memory.New(), quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
	if _, err := rt.DeliverTx(t.Context(), nil, newEvent()); !errors.Is(err, restaq.ErrUnsupported) {
		t.Errorf("on the memory store: %v, want ErrUnsupported", err)
	}
	if _, err := rt.DeliverTx(t.Context(), nil, restaq.Event{}); !errors.Is(err, restaq.ErrInvalidEvent) {
		t.Errorf("an empty event: %v, want ErrInvalidEvent", err)
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "restaq.db"))
	rt, err = restaq.New(opened(t, store, err), quick())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rt.DeliverTx(t.Context(), nil, newEvent()); !errors.Is(err, restaq.ErrNotRegistered) {
		t.Errorf("without handlers: %v, want ErrNotRegistered", err)
	}
	if err := rt.Register(on("h", func(context.Context, restaq.Event) error { return nil })); err == nil {
		_, err = rt.DeliverTx(t.Context(), "no transaction", newEvent())
		if err == nil || !strings.Contains(err.Error(), "the transaction is a string, want a *sql.Tx") {
			t.Errorf("a string: %v", err)
		}
	}
}

func TestAStepWithATransactionIsNotInvokedByName(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "restaq.db"))
	rt, err := restaq.New(opened(t, store, err), quick())
	if err != nil {
		t.Fatal(err)
	}
	s := txStep(store, "pay", nil)
	if err := rt.Register(s.Bind(struct{}{})); err != nil {
		t.Fatal(err)
	}
	if _, err := rt.Invoke(t.Context(), s.Func, []byte(`["x"]`)); err == nil || !strings.Contains(err.Error(), "in a transaction of the store") {
		t.Errorf("Invoke = %v", err)
	}
}
