package restaq_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
)

func TestNewWorkStartsWithoutAPollAndWithinTheBound(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Poll = time.Hour
		cfg.Concurrency = 3
		cfg.Backoff = restaq.Backoff{Min: time.Microsecond, Max: time.Microsecond}
		var now, most, failures atomic.Int32
		full := newGate()
		var once sync.Once
		rt, _ := start(t, open(), cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if n == 3 {
				once.Do(full.open)
			}
			if failures.Add(1) <= 3 { // a retry needs no poll either
				if err := full.pass(ctx); err != nil {
					return err
				}
				return errors.New("again")
			}
			return nil
		}))
		var ids []string
		for range 20 {
			ids = append(ids, deliver(t, rt, newEvent()).ID)
		}
		for _, id := range ids {
			eventually(t, func() bool { return inspect(t, rt, id).Status == restaq.Completed }) // Wait would poll every hour
		}
		if most.Load() != 3 {
			t.Errorf("%d ran at once, want 3", most.Load())
		}
	})
}

func TestThePayloadIsTheCallersAgainAfterDeliver(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		changed := make(chan struct{}, 1)
		rt, _ := start(t, open(), quick(), on("h", func(_ context.Context, e restaq.Event) error {
			<-changed
			if string(e.Payload) != `{"n":1}` {
				t.Errorf("the handler got %q", e.Payload)
			}
			return nil
		}))
		for { // until the delivery begins its execution itself
			event := newEvent()
			e := deliver(t, rt, event)
			copy(event.Payload, "changed")
			changed <- struct{}{}
			wait(t, rt, e.ID, "completed")
			if e.Status == restaq.Running {
				return
			}
		}
	})
}

func TestWhatIsNotRegisteredHereIsLeftAlone(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt := receive(t, open(), quick(), on("elsewhere", func(context.Context, restaq.Event) error { return nil }))
		left := deliver(t, rt, newEvent())
		here, _ := start(t, open(), quick(), on("here", func(context.Context, restaq.Event) error { return nil }))
		ran := deliver(t, here, newEvent())
		wait(t, here, ran.ID, "completed")
		if h := inspect(t, here, left.ID); h.Status != restaq.Pending || h.Attempts != 0 {
			t.Errorf("execution of a handler that is elsewhere: %s after %d attempts", h.Status, h.Attempts)
		}
		// A process that only receives does not run what it receives; one
		// that has the handler does.
		there, _ := start(t, open(), quick(), on("elsewhere", func(context.Context, restaq.Event) error { return nil }))
		wait(t, there, left.ID, "completed")
	})
}

func TestShutdownIsNotAnAttempt(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered := newGate()
		cfg := quick()
		cfg.ShutdownTimeout = time.Millisecond
		cfg.Attempts = 1
		done := step("done", func(context.Context, string) (string, error) { return "ok", nil })
		cut := step("cut", func(ctx context.Context, _ string) (string, error) {
			if restaq.Attempt(ctx) == 1 {
				entered.open()
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "ok", nil
		})
		handler := on("h", func(ctx context.Context, _ restaq.Event) error {
			if _, err := done.Run(ctx, struct{}{}, in1{"x"}); err != nil {
				return err
			}
			_, err := cut.Run(ctx, struct{}{}, in1{"x"})
			return err
		})
		rt, stop := start(t, open(), cfg, handler)
		e := deliver(t, rt, newEvent())
		await(t, entered)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		next, _ := start(t, open(), cfg, handler) // long before the lease runs out
		wait(t, next, e.ID, "completed")
		want := "Attempts: 2\n├─ Attempt 1 (interrupted)\n│  └─ done: completed\n└─ Attempt 2\n   ├─ done: (skipped - cached)\n   └─ cut: completed\n"
		if tree := inspect(t, next, e.ID).Tree(); !strings.HasSuffix(tree, want) {
			t.Errorf("history:\n%swant it to end:\n%s", tree, want)
		}
	})
}

func TestADrainLetsAttemptsFinish(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered, release := newGate(), newGate()
		rt, stop := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			entered.open()
			if err := release.pass(ctx); err != nil {
				return err
			}
			_, err := restaq.Do(ctx, "after", func(context.Context) (int, error) { return 1, nil })
			return err
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		stopped := make(chan error)
		go func() { stopped <- stop() }()
		// While it drains, new work is stored and not begun.
		for {
			receipt, err := rt.Deliver(t.Context(), newEvent())
			if err != nil {
				t.Fatal(err)
			}
			if receipt.Executions[0].Status == restaq.Pending {
				break
			}
		}
		release.open()
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		if h := inspect(t, rt, e.ID); h.Status != restaq.Completed || h.Attempts != 1 {
			t.Errorf("history:\n%s", h.Tree())
		}
	})
}

func TestRunNamesAttemptsThatDoNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, release := newGate(), newGate()
		rt := receive(t, memory.New(), quick(), on("h", func(context.Context, restaq.Event) error {
			entered.open()
			<-release
			return nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- rt.Run(ctx) }()
		e := deliver(t, rt, newEvent())
		<-entered
		began := time.Now()
		cancel()
		err := <-result
		if err == nil || !strings.Contains(err.Error(), e.ID) {
			t.Errorf("run: %v, want an error that names the execution", err)
		}
		if d := time.Since(began); d != 28*time.Second {
			t.Errorf("it waited %v, want 25 s and 3 s", d)
		}
		release.open()
		if err := rt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("second run: %v", err)
		}
	})
}

func TestRunWithAContextThatHasEndedIsACleanDrain(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt := receive(t, open(), quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := rt.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

// late holds inserts up.
type late struct {
	restaq.Store
	entered, release gate
}

func (l *late) Insert(ctx context.Context, in *restaq.Insertion) (bool, []restaq.Execution, error) {
	l.entered.open()
	if err := l.release.pass(ctx); err != nil {
		return false, nil, err
	}
	return l.Store.Insert(ctx, in)
}

func TestWhatBeginsAfterTheCutIsCutOffToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &late{Store: memory.New(), entered: newGate(), release: newGate()}
		cfg := quick()
		cfg.ShutdownTimeout = time.Second
		rt := receive(t, store, cfg, on("h", func(context.Context, restaq.Event) error {
			t.Error("the handler was run")
			return nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- rt.Run(ctx) }()
		synctest.Wait() // it has looked for older work
		receipts := make(chan restaq.Receipt, 1)
		go func() {
			receipt, err := rt.Deliver(t.Context(), newEvent())
			if err != nil {
				t.Error(err)
			}
			receipts <- receipt
		}()
		<-store.entered
		cancel()
		time.AfterFunc(2*time.Second, store.release.open)
		if err := <-result; err != nil {
			t.Errorf("run: %v", err)
		}
		h := inspect(t, rt, (<-receipts).Executions[0].ID)
		if h.Status != restaq.Pending || len(h.Tries) != 1 || h.Tries[0].Outcome != restaq.AttemptInterrupted {
			t.Errorf("history:\n%swant an interrupted attempt, due again", h.Tree())
		}
	})
}

func TestALeaseIsRenewedWhileTheAttemptRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		handle := func(ctx context.Context, _ restaq.Event) error {
			select {
			case <-time.After(10 * time.Minute):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		one := receive(t, store, quick(), on("h", handle))
		two := receive(t, store, quick(), on("h", handle))
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, 2)
		go func() { results <- one.Run(ctx) }()
		go func() { results <- two.Run(ctx) }()
		e := deliver(t, one, newEvent())
		got, err := one.Wait(t.Context(), e.ID)
		if err != nil || got.Status != restaq.Completed || got.Attempts != 1 {
			t.Errorf("after ten minutes: %+v, %v; want it completed by its first attempt", got, err)
		}
		cancel()
		for range 2 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestLostAttemptsUseUpTheBudget(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		part := on("h", func(context.Context, restaq.Event) error { return errors.New("must not run") })
		rt := receive(t, store, quick(), part)
		e := deliver(t, rt, newEvent())
		for range 3 { // three processes that crash as soon as they have begun
			claimed, err := store.Claim(t.Context(), restaq.Claim{Owner: "crashed", Lease: -time.Hour, Handlers: []string{"h"}, Limit: 1})
			if err != nil || len(claimed) != 1 {
				t.Fatalf("claim: %+v, %v", claimed, err)
			}
		}
		cfg := quick()
		cfg.Attempts = 3
		next, _ := start(t, open(), cfg, part)
		got := wait(t, next, e.ID, "dead")
		if got.Attempts != 3 || !strings.Contains(got.Error, "lost") {
			t.Errorf("dead after %d attempts: %s", got.Attempts, got.Error)
		}
		want := "├─ Attempt 1 (lost)\n├─ Attempt 2 (lost)\n└─ Attempt 3 (lost)\n"
		if tree := inspect(t, next, e.ID).Tree(); !strings.HasSuffix(tree, want) {
			t.Errorf("history:\n%s", tree)
		}
	})
}

// outage is a store that cannot be reached for some writes; some of them are
// done all the same.
type outage struct {
	restaq.Store
	mu      sync.Mutex
	failing int
}

func (o *outage) down() (fail, done bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failing == 0 {
		return false, true
	}
	o.failing--
	return true, o.failing%2 == 0
}

func (o *outage) Record(ctx context.Context, l restaq.Lease, p *restaq.Progress) error {
	fail, done := o.down()
	if done {
		if err := o.Store.Record(ctx, l, p); err != nil {
			return err
		}
	}
	if fail {
		return errors.New("connection reset")
	}
	return nil
}

func (o *outage) Finish(ctx context.Context, l restaq.Lease, out *restaq.Outcome) (*restaq.Execution, error) {
	fail, done := o.down()
	var e *restaq.Execution
	if done {
		var err error
		if e, err = o.Store.Finish(ctx, l, out); err != nil {
			return nil, err
		}
	}
	if fail {
		return nil, errors.New("connection reset")
	}
	return e, nil
}

func TestLosingTouchWithTheStoreIsNotLosingTheWork(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := &outage{Store: open()}
		var runs counter
		s := step("s", func(context.Context, string) (int, error) { return runs.add("s"), nil })
		rt, _ := start(t, store, quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			store.mu.Lock()
			store.failing = 3
			store.mu.Unlock()
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			store.mu.Lock()
			store.failing = 3
			store.mu.Unlock()
			return err
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		runs.want(t, map[string]int{"s": 1})
		want := "└─ Attempt 1\n   └─ s: completed\n"
		if tree := inspect(t, rt, e.ID).Tree(); !strings.HasSuffix(tree, want) {
			t.Errorf("history:\n%s", tree)
		}
	})
}

// absent is a store that cannot be reached at first.
type absent struct {
	restaq.Store
	tries atomic.Int32
}

func (a *absent) PutHandlers(ctx context.Context, infos []restaq.HandlerInfo) error {
	if a.tries.Add(1) < 3 {
		return errors.New("connection refused")
	}
	return a.Store.(restaq.Directory).PutHandlers(ctx, infos)
}

func (a *absent) Handlers(ctx context.Context) ([]restaq.HandlerInfo, error) {
	return a.Store.(restaq.Directory).Handlers(ctx)
}

func TestRunWaitsForAStoreThatCannotBeReachedAtTheStart(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		part := on("h", func(context.Context, restaq.Event) error { return nil })
		e := deliver(t, receive(t, open(), quick(), part), newEvent())
		rt, _ := start(t, &absent{Store: open()}, quick(), part)
		wait(t, rt, e.ID, "completed")
	})
}
