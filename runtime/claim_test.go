package restaq_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// forgetful is a store that loses answers: what was asked for is done, and the
// caller gets an error.
type forgetful struct {
	restaq.Store
	claims  func(c restaq.Claim, claimed int) bool // loses the answer to a claim; nil for none
	inserts func() bool                            // loses the answer to an insert; nil for none
	begun   atomic.Int32                           // inserts that began something
	armed   atomic.Bool                            // inserts is called for those
}

var errAnswerLost = errors.New("the answer was lost")

func (s *forgetful) Claim(ctx context.Context, c restaq.Claim) ([]restaq.Claimed, error) {
	claimed, err := s.Store.Claim(ctx, c)
	if err == nil && s.claims != nil && s.claims(c, len(claimed)) {
		return nil, errAnswerLost
	}
	return claimed, err
}

func (s *forgetful) Insert(ctx context.Context, in *restaq.Insertion) (bool, []restaq.Execution, error) {
	created, executions, err := s.Store.Insert(ctx, in)
	if err == nil && in.Executions[0].Begin {
		s.begun.Add(1)
		if s.armed.Load() && s.inserts() {
			return false, nil, errAnswerLost
		}
	}
	return created, executions, err
}

// arm waits until rt begins what it receives, and calls inserts from then on.
func (s *forgetful) arm(t *testing.T, rt *restaq.Runtime) {
	t.Helper()
	for s.begun.Load() == 0 {
		wait(t, rt, deliver(t, rt, newEvent()).ID, "completed")
	}
	s.armed.Store(true)
}

// leased is quick with leases that outlast a test: what only their end would
// bring does not happen.
func leased() restaq.Config {
	cfg := quick()
	cfg.Lease = time.Hour
	return cfg
}

func TestAClaimWhoseAnswerIsLostLosesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		part := on("h", func(_ context.Context, e restaq.Event) error { runs.add(e.ID); return nil })
		receiver := receive(t, open(), leased(), part)
		var events []restaq.Event
		var ids []string
		for range 5 {
			event := newEvent()
			events, ids = append(events, event), append(ids, deliver(t, receiver, event).ID)
		}
		// Of the answers that hold something the first two are lost: a claim's,
		// and that of the claim that was to find out about it.
		var lost atomic.Int32
		store := &forgetful{Store: open(), claims: func(_ restaq.Claim, claimed int) bool {
			return claimed > 0 && lost.Add(1) <= 2
		}}
		rt, _ := start(t, store, leased(), part)
		want := map[string]int{}
		for i, id := range ids {
			want[events[i].ID] = 1
			if e := wait(t, rt, id, "completed"); e.Attempts != 1 {
				t.Errorf("execution %d took %d attempts, want 1", i, e.Attempts)
			}
			if h := inspect(t, rt, id); len(h.Tries) != 1 || h.Tries[0].Outcome != restaq.AttemptCompleted {
				t.Errorf("history:\n%swant one attempt", h.Tree())
			}
		}
		runs.want(t, want)
	})
}

func TestADeliveryWhoseAnswerIsLostBeginsAllTheSame(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		var lost atomic.Int32
		store := &forgetful{Store: open(), inserts: func() bool { return lost.Add(1) <= 3 }}
		rt, _ := start(t, store, leased(), on("h", func(_ context.Context, e restaq.Event) error { runs.add(e.ID); return nil }))
		store.arm(t, rt)
		for lost.Load() <= 3 { // one that meets a claim under way does not begin at once
			event := newEvent()
			receipt, err := rt.Deliver(t.Context(), event)
			if err != nil { // the sender sends it again
				receipt, err = rt.Deliver(t.Context(), event)
			}
			if err != nil || len(receipt.Executions) != 1 {
				t.Fatalf("receipt %+v, %v", receipt, err)
			}
			if e := wait(t, rt, receipt.Executions[0].ID, "completed"); e.Attempts != 1 {
				t.Errorf("%d attempts, want 1", e.Attempts)
			}
			runs.want(t, map[string]int{event.ID: 1})
		}
	})
}

// While the process finds out what it holds, deliveries that begin something
// are under way: these are not begun twice.
func TestADeliveryUnderWayIsNotBegunTwice(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		stored, answer := newGate(), newGate()
		asked := make(chan []restaq.Lease, 100)
		var inserts atomic.Int32
		store := &forgetful{Store: open()}
		store.inserts = func() bool {
			if inserts.Add(1) == 1 {
				stored.open()
				answer.pass(t.Context())
				return false
			}
			return true
		}
		store.claims = func(c restaq.Claim, _ int) bool {
			if c.Recover {
				select {
				case asked <- c.Held:
				default:
				}
			}
			return false
		}
		rt, _ := start(t, store, leased(), on("h", func(_ context.Context, e restaq.Event) error { runs.add(e.ID); return nil }))
		store.arm(t, rt)
		// One that meets a claim under way does not begin at once.
		delivered := make(chan restaq.Execution, 1)
		go func() {
			for {
				e := deliver(t, rt, newEvent())
				if inserts.Load() > 0 {
					delivered <- e
					return
				}
			}
		}()
		await(t, stored)
		lost := newEvent()
		_, err := rt.Deliver(t.Context(), lost)
		for ; err == nil; _, err = rt.Deliver(t.Context(), lost) {
			lost = newEvent()
		}
		if !errors.Is(err, errAnswerLost) {
			t.Fatalf("Deliver = %v", err)
		}
		for range 3 { // the process has asked, and begun what it found
			held := await(t, asked)
			if !slices.ContainsFunc(held, func(l restaq.Lease) bool { return l.Attempt == 1 && l.Token == 1 }) {
				t.Errorf("held %v, want the delivery under way among them", held)
			}
		}
		answer.open()
		slow := await(t, delivered)
		wait(t, rt, slow.ID, "completed")
		runs.want(t, map[string]int{slow.Event.ID: 1})
		receipt, err := rt.Deliver(t.Context(), lost)
		if err != nil || !receipt.Duplicate {
			t.Fatalf("receipt %+v, %v; want a duplicate", receipt, err)
		}
		wait(t, rt, receipt.Executions[0].ID, "completed")
		runs.want(t, map[string]int{slow.Event.ID: 1, lost.ID: 1})
	})
}

func TestLeasesInDoubtAreGivenBackByACleanStop(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		part := on("h", func(_ context.Context, e restaq.Event) error { runs.add(e.ID); return nil })
		id := deliver(t, receive(t, open(), leased(), part), newEvent()).ID
		cfg := leased()
		cfg.Poll = time.Hour // it does not find out by itself
		lost := newGate()
		var once sync.Once
		rt, stop := start(t, &forgetful{Store: open(), claims: func(c restaq.Claim, claimed int) bool {
			if claimed == 0 || c.Recover {
				return false
			}
			once.Do(lost.open)
			return true
		}}, cfg, part)
		await(t, lost)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if e := inspect(t, rt, id); e.Status != restaq.Pending && e.Status != restaq.Completed {
			t.Errorf("after a clean stop the execution is %s", e.Status)
		}
		other, _ := start(t, open(), leased(), part)
		wait(t, other, id, "completed")
	})
}

// One handler's backlog keeps no other's work waiting: the claims of a slot go
// round.
func TestNoHandlerStarvesAnother(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		const much, few = 300, 5
		var mu sync.Mutex
		var order []string
		run := func(name string) func(context.Context, restaq.Event) error {
			return func(context.Context, restaq.Event) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
				return nil
			}
		}
		parts := []restaq.Part{on("much", run("much"), "acme.much"), on("few", run("few"), "acme.few"), on("none", run("none"), "acme.none")}
		receiver := receive(t, open(), quick(), parts...)
		send := func(kind string, n int) (ids []string) {
			for i := range n {
				ids = append(ids, deliver(t, receiver, restaq.Event{ID: fmt.Sprint(kind, i), Type: "acme." + kind, Payload: []byte("{}")}).ID)
			}
			return ids
		}
		send("much", much)
		ids := send("few", few)
		cfg := quick()
		cfg.Concurrency = 1
		rt, _ := start(t, open(), cfg, parts...)
		for _, id := range ids {
			wait(t, rt, id, "completed")
		}
		mu.Lock()
		defer mu.Unlock()
		served := 0
		for i, name := range order {
			if name != "few" {
				continue
			}
			if served++; i > 2*served {
				t.Errorf("turn %d of the small handler came after %d others", served, i-served+1)
			}
		}
		if served != few {
			t.Errorf("%d of %d were served", served, few)
		}
	})
}

// A process that slept, with its monotonic clock, does not know how long.
func TestAProcessThatSleptStartsNoStepUnderALeaseThatRanOut(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var slept atomic.Int64
		cfg := leased()
		cfg.Concurrency = 1 // it must not take its own execution over
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		entered, awake := newGate(), newGate()
		var runs counter
		s := step("s", func(context.Context, string) (string, error) { runs.add("s"); return "", nil })
		result := make(chan error, 1)
		store := open()
		rt, _ := start(t, store, cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			entered.open()
			if err := awake.pass(ctx); err != nil {
				return err
			}
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			result <- err
			return err
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		takeOver(t, store, e.ID)
		slept.Store(int64(2 * time.Hour))
		awake.open()
		if err := await(t, result); !errors.Is(err, restaq.ErrLeaseLost) {
			t.Errorf("the step returned %v, want ErrLeaseLost", err)
		}
		runs.want(t, map[string]int{"s": 0})
	})
}

// The lease is asked for anew, and the step starts, if nobody has taken it.
func TestAProcessThatSleptRenewsItsLeaseBeforeAStep(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var slept atomic.Int64
		cfg := leased()
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		renewed := &renewals{Store: open()}
		s := step("s", func(context.Context, string) (string, error) {
			if renewed.n.Load() != 1 {
				t.Errorf("the lease was renewed %d times before the step, want once", renewed.n.Load())
			}
			return "", nil
		})
		rt, _ := start(t, renewed, cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			slept.Store(int64(time.Hour))
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			return err
		}))
		if e := wait(t, rt, deliver(t, rt, newEvent()).ID, "completed"); e.Attempts != 1 {
			t.Errorf("%d attempts, want 1", e.Attempts)
		}
	})
}

// renewals counts a store's.
type renewals struct {
	restaq.Store
	n atomic.Int32
}

func (s *renewals) Renew(ctx context.Context, r []restaq.Renewal, d time.Duration) ([]string, error) {
	s.n.Add(1)
	return s.Store.Renew(ctx, r, d)
}
