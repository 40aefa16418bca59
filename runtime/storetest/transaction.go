package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Tx says how the suite writes numbers of its own into the database of a store
// that is a restaq.Transactor or Outbox.
type Tx struct {
	// Prepare makes the table that the numbers go to, in a new store's
	// database.
	Prepare func(t *testing.T, s restaq.Store)

	// Write writes a number in a transaction.
	Write func(ctx context.Context, s restaq.Store, tx any, n int) error

	// Written returns the numbers that are committed, in any order.
	Written func(t *testing.T, s restaq.Store) []int

	// Begin begins a transaction beside the store, ready to write. The test
	// ends it.
	Begin func(t *testing.T, s restaq.Store) any

	// Commit and Rollback call the transaction's own methods.
	Commit, Rollback func(ctx context.Context, tx any) error
}

// usesTx skips a test of an ability that the store lacks.
func usesTx[Ability any](f *fixture) Ability {
	f.Helper()
	able, ok := f.store.(Ability)
	if !ok {
		f.Skipf("the store is no %T", new(Ability))
	}
	if f.backend.Tx == nil {
		f.Fatal("storetest: a store with transactions needs Backend.Tx")
	}
	f.backend.Tx.Prepare(f.T, f.store)
	return able
}

// write writes a number in a transaction.
func (f *fixture) write(ctx context.Context, tx any, n int) error {
	return f.backend.Tx.Write(ctx, f.store, tx, n)
}

// written checks which numbers are committed.
func (f *fixture) written(want ...int) {
	f.Helper()
	got := f.backend.Tx.Written(f.T, f.store)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		f.Errorf("written: %v, want %v", got, want)
	}
}

// recorded checks that as many steps are recorded.
func (f *fixture) recorded(l restaq.Lease, want int) {
	f.Helper()
	if got := len(f.history(l.Execution).Steps); got != want {
		f.Errorf("%d steps are recorded, want %d", got, want)
	}
}

// writing writes n and returns step seq.
func (f *fixture) writing(n, seq int) func(ctx context.Context, tx any) (*restaq.Progress, error) {
	return func(ctx context.Context, tx any) (*restaq.Progress, error) {
		if err := f.write(ctx, tx, n); err != nil {
			return nil, err
		}
		return &restaq.Progress{Steps: steps(1, seq, 1)}, nil
	}
}

// badEnds are ways to end a transaction that leave nothing behind.
var badEnds = map[string]struct {
	fn  func(f *fixture, ctx context.Context, tx any) error
	err error // what Transact returns; nil for any
}{
	"an error": {func(*fixture, context.Context, any) error { return errOops }, errOops},
	"a rollback and an error": {func(f *fixture, ctx context.Context, tx any) error {
		return errors.Join(errOops, f.backend.Tx.Rollback(ctx, tx))
	}, errOops},
	"a rollback and no error": {func(f *fixture, ctx context.Context, tx any) error { return f.backend.Tx.Rollback(ctx, tx) }, restaq.ErrTransactionEnded},
	"a commit and no error":   {func(f *fixture, ctx context.Context, tx any) error { f.backend.Tx.Commit(ctx, tx); return nil }, restaq.ErrTransactionEnded},
	"a commit and an error":   {func(f *fixture, ctx context.Context, tx any) error { f.backend.Tx.Commit(ctx, tx); return errOops }, restaq.ErrTransactionEnded},
	"a commit and then a write": {func(f *fixture, ctx context.Context, tx any) error {
		f.backend.Tx.Commit(ctx, tx)
		f.write(ctx, tx, 2)
		return nil
	}, restaq.ErrTransactionEnded},
}

var errOops = errors.New("oops")

var transactionTests = []test{
	{"writes and record are committed together", func(f *fixture) {
		s := usesTx[restaq.Transactor](f)
		l := f.begun("evt_1")
		p := &restaq.Progress{Steps: steps(1, 1, 3), Current: "four"}
		calls := 0
		err := s.Transact(f.ctx, l, lease, func(ctx context.Context, tx any) (*restaq.Progress, error) {
			calls++
			if got := fmt.Sprintf("%T", tx); got == "<nil>" {
				f.Errorf("the transaction is %s", got)
			}
			err := f.write(ctx, tx, 1)
			f.written() // nothing is to be seen from outside
			f.recorded(l, 0)
			return p, err
		})
		if err != nil || calls != 1 {
			f.Fatalf("Transact = %v after %d calls", err, calls)
		}
		f.written(1)
		h := f.history(l.Execution)
		f.equal("steps", h.Steps, p.Steps)
		if h.Execution.Step != "four" {
			f.Errorf("step under way = %q, want four", h.Execution.Step)
		}
		if err := s.Transact(f.ctx, l, lease, f.writing(2, 4)); err != nil {
			f.Fatal(err)
		}
		f.written(1, 2)
		f.recorded(l, 4)
		f.finish(l, completed)
	}},

	{"whatever goes wrong leaves neither writes nor record", func(f *fixture) {
		usesTx[restaq.Transactor](f)
		for name, end := range badEnds {
			f.Run(name, func(t *testing.T) {
				f := newFixture(t, f.backend)
				s := usesTx[restaq.Transactor](f)
				l := f.begun("evt_1")
				calls := 0
				err := s.Transact(f.ctx, l, lease, func(ctx context.Context, tx any) (*restaq.Progress, error) {
					calls++
					if err := f.write(ctx, tx, 1); err != nil {
						return nil, err
					}
					return &restaq.Progress{Steps: steps(1, 1, 1)}, end.fn(f, ctx, tx)
				})
				f.is("Transact", err, end.err)
				if ended := errors.Is(err, restaq.ErrTransactionEnded); ended != restaq.IsPermanent(err) || calls != 1 {
					f.Errorf("Transact = %v (permanent: %v) after %d calls", err, restaq.IsPermanent(err), calls)
				}
				f.written()
				f.recorded(l, 0)
				if err := s.Transact(f.ctx, l, lease, f.writing(1, 1)); err != nil {
					f.Errorf("the next one: %v", err)
				}
				f.written(1)
				f.recorded(l, 1)
			})
		}
	}},

	{"a panic goes on and leaves nothing", func(f *fixture) {
		s := usesTx[restaq.Transactor](f)
		l := f.begun("evt_1")
		func() {
			defer func() {
				if p := recover(); p != "oops" {
					f.Errorf("recovered %v", p)
				}
			}()
			s.Transact(f.ctx, l, lease, func(ctx context.Context, tx any) (*restaq.Progress, error) {
				if err := f.write(ctx, tx, 1); err != nil {
					f.Error(err)
				}
				panic("oops")
			})
		}()
		f.written()
		f.recorded(l, 0)
		if err := s.Transact(f.ctx, l, lease, f.writing(2, 1)); err != nil {
			f.Fatal(err)
		}
		f.written(2)
	}},

	{"a context that ends leaves nothing", func(f *fixture) {
		s := usesTx[restaq.Transactor](f)
		l := f.begun("evt_1")
		ctx, cancel := context.WithCancel(f.ctx)
		err := s.Transact(ctx, l, lease, func(inner context.Context, tx any) (*restaq.Progress, error) {
			err := f.write(inner, tx, 1)
			cancel()
			<-inner.Done()
			return &restaq.Progress{Steps: steps(1, 1, 1)}, err
		})
		f.is("Transact", err, context.Canceled)
		calls := 0
		err = s.Transact(ctx, l, lease, func(context.Context, any) (*restaq.Progress, error) {
			calls++
			return &restaq.Progress{}, nil
		})
		f.is("Transact", err, context.Canceled)
		if calls != 0 {
			f.Error("the function was called for a context that had ended")
		}
		f.written()
		f.recorded(l, 0)
		if err := s.Transact(f.ctx, l, lease, f.writing(2, 1)); err != nil {
			f.Fatal(err)
		}
	}},

	{"a lost lease leaves nothing", func(f *fixture) {
		usesTx[restaq.Transactor](f)
		eachLost(f, func(f *fixture, l restaq.Lease) {
			s := usesTx[restaq.Transactor](f)
			f.is("Transact", s.Transact(f.ctx, l, lease, f.writing(1, 2)), restaq.ErrLeaseLost)
			f.written()
		})
	}},

	{"an unknown execution has no lease", func(f *fixture) {
		s := usesTx[restaq.Transactor](f)
		for _, id := range []string{newID(), "", "no-uuid"} {
			l := restaq.Lease{Execution: id, Attempt: 1, Token: 1}
			f.is("Transact", s.Transact(f.ctx, l, lease, f.writing(1, 1)), restaq.ErrLeaseLost)
		}
		f.written()
	}},

	{"a lease that ran out but was not taken still commits", func(f *fixture) {
		s := usesTx[restaq.Transactor](f)
		l := f.begun("evt_1")
		f.advance(10 * lease)
		if err := s.Transact(f.ctx, l, lease, f.writing(1, 1)); err != nil {
			f.Fatal(err)
		}
		f.written(1)
	}},

	{"a take-over and a transaction have one order", func(f *fixture) {
		usesTx[restaq.Transactor](f)
		handles := []restaq.Store{f.store, f.another()}
		takeOver := restaq.Claim{Owner: "owner-2", Lease: 1000 * time.Hour, Handlers: []string{handler}, Limit: 1}
		var want []int
		for i := range 20 {
			l := f.begun(fmt.Sprint("evt_", i))
			f.advance(2 * lease)
			var committed error
			seen := -1 // passed over
			together(2, func(j int) {
				if j == 0 {
					committed = handles[0].(restaq.Transactor).Transact(f.ctx, l, lease, f.writing(i, 1))
					return
				}
				claimed, err := handles[1].Claim(f.ctx, takeOver)
				if err != nil || len(claimed) == 0 {
					if err != nil {
						f.Errorf("Claim: %v", err)
					}
					return
				}
				h, err := handles[1].History(f.ctx, l.Execution)
				if err != nil {
					f.Errorf("History: %v", err)
					return
				}
				seen = len(h.Steps)
			})
			if committed == nil {
				want = append(want, i)
			} else {
				f.is("Transact", committed, restaq.ErrLeaseLost)
			}
			after := len(f.history(l.Execution).Steps)
			if (committed == nil) != (after == 1) || seen >= 0 && seen != after {
				f.Errorf("Transact = %v; the new owner saw %d steps, and then there were %d", committed, seen, after)
			}
			if seen < 0 {
				if claimed, err := f.store.Claim(f.ctx, takeOver); err != nil || len(claimed) != 1 {
					f.Fatalf("Claim = %v, %v; want what was passed over", claimedIDs(claimed), err)
				}
			}
		}
		f.written(want...)
	}},

	{"many at once", func(f *fixture) {
		usesTx[restaq.Transactor](f)
		handles := []restaq.Store{f.store, f.another()}
		leases := make([]restaq.Lease, 20)
		var want []int
		for i := range leases {
			leases[i] = f.begun(fmt.Sprint("evt_", i))
			want = append(want, i)
		}
		together(2*len(leases), func(i int) {
			l, s := leases[i/2], handles[i%2]
			var err error
			if i%2 == 0 {
				err = s.(restaq.Transactor).Transact(f.ctx, l, lease, f.writing(i/2, 1))
			} else {
				err = s.Record(f.ctx, l, &restaq.Progress{Steps: steps(1, 2, 1)})
			}
			if err != nil {
				f.Error(err)
			}
		})
		f.written(want...)
		for _, l := range leases {
			f.recorded(l, 2)
		}
	}},

	{"what is recorded can be asked", func(f *fixture) {
		s := usesTx[restaq.Transactor](f)
		l := f.begun("evt_1")
		if err := s.Transact(f.ctx, l, lease, f.writing(1, 3)); err != nil {
			f.Fatal(err)
		}
		ask := func(l restaq.Lease, seq int, want bool) {
			f.Helper()
			got, err := f.another().(restaq.Transactor).Recorded(f.ctx, l, seq)
			if err != nil || got != want {
				f.Errorf("Recorded(%+v, %d) = %v, %v; want %v", l, seq, got, err, want)
			}
		}
		ask(l, 3, true)
		ask(l, 2, false)
		ask(restaq.Lease{Execution: l.Execution, Attempt: 2, Token: 2}, 3, false)
		ask(restaq.Lease{Execution: newID(), Attempt: 1, Token: 1}, 3, false)
		ask(restaq.Lease{Execution: "no-uuid", Attempt: 1, Token: 1}, 3, false)
		f.finish(l, completed)
		ask(l, 3, true) // long after
	}},
}

var outboxTests = []test{
	{"an event is delivered by the commit of the caller's transaction", func(f *fixture) {
		s := usesTx[restaq.Outbox](f)
		tx := f.backend.Tx.Begin(f.T, f.store)
		n := []restaq.NewExecution{newExecution(handler), newExecution("shop.Shop.Other")}
		created, made, err := s.InsertTx(f.ctx, tx, &restaq.Insertion{Event: newEvent("evt_1"), Executions: n})
		if err != nil || !created || len(made) != 2 {
			f.Fatalf("InsertTx = %v, %v, %v", created, made, err)
		}
		for i, e := range made {
			if e.ID != n[i].ID || e.Status != restaq.Pending || e.Attempts != 0 || e.Event.ID != "evt_1" {
				f.Errorf("execution = %+v", e)
			}
			f.stamped("CreatedAt", e.CreatedAt)
			f.stamped("ReceivedAt", e.Event.ReceivedAt)
		}
		if err := f.write(f.ctx, tx, 1); err != nil {
			f.Fatal(err)
		}
		f.claimNone()
		_, err = f.store.Lookup(f.ctx, "stripe", "evt_1", false)
		f.is("Lookup", err, restaq.ErrNotFound)
		if err := f.backend.Tx.Commit(f.ctx, tx); err != nil {
			f.Fatal(err)
		}
		f.written(1)
		found, err := f.store.Lookup(f.ctx, "stripe", "evt_1", true)
		if err != nil || len(found.Executions) != 2 {
			f.Fatalf("Lookup = %+v, %v", found, err)
		}
		ev := newEvent("evt_1")
		f.equal("payload", found.Event.Payload, ev.Payload)
		f.equal("header", found.Event.Header, ev.Header)
		f.claim(n[0].ID)
	}},

	{"a rollback leaves no event", func(f *fixture) {
		s := usesTx[restaq.Outbox](f)
		for range 2 {
			tx := f.backend.Tx.Begin(f.T, f.store)
			created, _, err := s.InsertTx(f.ctx, tx, &restaq.Insertion{Event: newEvent("evt_1"), Executions: []restaq.NewExecution{newExecution(handler)}})
			if err != nil || !created {
				f.Fatalf("InsertTx = %v, %v", created, err)
			}
			if err := f.backend.Tx.Rollback(f.ctx, tx); err != nil {
				f.Fatal(err)
			}
			_, err = f.store.Lookup(f.ctx, "stripe", "evt_1", false)
			f.is("Lookup", err, restaq.ErrNotFound)
		}
		f.claimNone()
		f.pending("evt_1")
	}},

	{"an event that is there makes nothing new", func(f *fixture) {
		s := usesTx[restaq.Outbox](f)
		id := f.pending("evt_1")
		tx := f.backend.Tx.Begin(f.T, f.store)
		for _, event := range []string{"evt_1", "evt_2", "evt_2"} {
			n := newExecution(handler)
			created, made, err := s.InsertTx(f.ctx, tx, &restaq.Insertion{Event: newEvent(event), Executions: []restaq.NewExecution{n}})
			if err != nil || len(made) != 1 {
				f.Fatalf("InsertTx = %v, %v, %v", created, made, err)
			}
			if created != (made[0].ID == n.ID) || event == "evt_1" && made[0].ID != id {
				f.Errorf("InsertTx = %v, %v", created, made)
			}
		}
		if err := f.backend.Tx.Commit(f.ctx, tx); err != nil {
			f.Fatal(err)
		}
		if claimed := f.claimAll(handler); len(claimed) != 2 {
			f.Errorf("claimed %v, want two", claimedIDs(claimed))
		}
	}},

	{"an event without executions is unhandled", func(f *fixture) {
		s := usesTx[restaq.Outbox](f)
		tx := f.backend.Tx.Begin(f.T, f.store)
		created, made, err := s.InsertTx(f.ctx, tx, &restaq.Insertion{Event: newEvent("evt_1")})
		if err != nil || !created || len(made) != 0 {
			f.Fatalf("InsertTx = %v, %v, %v", created, made, err)
		}
		if err := f.backend.Tx.Commit(f.ctx, tx); err != nil {
			f.Fatal(err)
		}
		if l, ok := f.store.(restaq.Lister); ok {
			if page, err := l.List(f.ctx, restaq.Filter{Unhandled: true}); err != nil || len(page.Executions) != 1 {
				f.Errorf("List = %+v, %v", page, err)
			}
		}
	}},

	{"what is no transaction of the store is refused", func(f *fixture) {
		s := usesTx[restaq.Outbox](f)
		for _, tx := range []any{nil, 1, f.store, (*sync.Mutex)(nil)} {
			if _, _, err := s.InsertTx(f.ctx, tx, &restaq.Insertion{Event: newEvent("evt_1")}); err == nil {
				f.Errorf("InsertTx(%T) succeeds", tx)
			}
		}
	}},

	{"a step's transaction carries an event", func(f *fixture) {
		s := usesTx[restaq.Outbox](f)
		t, ok := f.store.(restaq.Transactor)
		if !ok {
			f.Skip("the store is no restaq.Transactor")
		}
		l := f.begun("evt_1")
		deliver := func(id string, fail error) error {
			return t.Transact(f.ctx, l, lease, func(ctx context.Context, tx any) (*restaq.Progress, error) {
				created, _, err := s.InsertTx(ctx, tx, &restaq.Insertion{Event: newEvent(id), Executions: []restaq.NewExecution{newExecution(handler)}})
				if err != nil || !created {
					f.Errorf("InsertTx = %v, %v", created, err)
				}
				return &restaq.Progress{Steps: steps(1, 1, 1)}, fail
			})
		}
		f.is("Transact", deliver("evt_2", errOops), errOops)
		f.claimNone()
		if err := deliver("evt_2", nil); err != nil {
			f.Fatal(err)
		}
		if claimed := f.claimAll(handler); len(claimed) != 1 {
			f.Errorf("claimed %v, want the one", claimedIDs(claimed))
		}
		f.recorded(l, 1)
	}},
}
