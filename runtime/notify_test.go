package restaq_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// eachNotifier runs a test on every store whose processes hear of each other.
func eachNotifier(t *testing.T, test func(t *testing.T, open func() restaq.Store)) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		if _, ok := open().(restaq.Notifier); ok {
			test(t, open)
		}
	})
}

// heard tells when a process has begun to listen.
type heard struct {
	restaq.Store
	listening chan struct{}
}

func (h *heard) Notify(ctx context.Context, n restaq.Notice) error {
	return h.Store.(restaq.Notifier).Notify(ctx, n)
}

func (h *heard) InsertTx(ctx context.Context, tx any, in *restaq.Insertion) (bool, []restaq.Execution, error) {
	return h.Store.(restaq.Outbox).InsertTx(ctx, tx, in)
}

func (h *heard) Listen(ctx context.Context, fn func(restaq.Notice)) {
	h.Store.(restaq.Notifier).Listen(ctx, func(n restaq.Notice) {
		if n.From == "test" {
			select {
			case <-h.listening:
			default:
				close(h.listening)
			}
			return
		}
		fn(n)
	})
}

// listening returns a runtime that runs, polls only every hour, and listens.
func listening(t *testing.T, store restaq.Store, parts ...restaq.Part) *restaq.Runtime {
	t.Helper()
	cfg := quick()
	cfg.Poll = time.Hour
	h := &heard{Store: store, listening: make(chan struct{})}
	rt, _ := start(t, h, cfg, parts...)
	for {
		if err := h.Notify(t.Context(), restaq.Notice{From: "test"}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-h.listening:
			return rt
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestWorkOfAnotherProcessStartsWithoutAPoll(t *testing.T) {
	eachNotifier(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		ran := make(chan string, 8)
		part := on("h", func(_ context.Context, e restaq.Event) error {
			ran <- e.ID
			if runs.add(e.ID) == 1 {
				return restaq.Permanent(errors.New("dead at once"))
			}
			return nil
		})
		worker := listening(t, open(), part)
		receiver := receive(t, open(), quick(), part)

		event := newEvent()
		e := deliver(t, receiver, event)
		if id := await(t, ran); id != event.ID {
			t.Fatalf("ran %s", id)
		}
		attemptEnd(t, worker, e.ID, 1)
		command, err := restaq.New(open(), quick())
		if err != nil {
			t.Fatal(err)
		}
		for n, wish := range []func(context.Context, string) (restaq.Execution, error){command.Retry, command.Restart} {
			if _, err := wish(t.Context(), e.ID); err != nil {
				t.Fatal(err)
			}
			await(t, ran)
			attemptEnd(t, worker, e.ID, n+2)
		}
		if _, err := command.Replay(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		await(t, ran)
	})
}

func TestACancelIsHeardByTheProcessThatRuns(t *testing.T) {
	eachNotifier(t, func(t *testing.T, open func() restaq.Store) {
		entered := newGate()
		cause := make(chan error, 1)
		worker := listening(t, open(), on("h", func(ctx context.Context, _ restaq.Event) error {
			entered.open()
			<-ctx.Done() // long before the next renewal
			cause <- context.Cause(ctx)
			return ctx.Err()
		}))
		e := deliver(t, worker, newEvent())
		await(t, entered)
		command, err := restaq.New(open(), quick())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := command.Cancel(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		if err := await(t, cause); !errors.Is(err, restaq.ErrCancelled) {
			t.Errorf("the attempt's context ended with %v", err)
		}
	})
}

// A process cannot know when a user's own transaction is committed: the store
// tells it, and the others, by the commit.
func TestADeliveryInAUsersTransactionStartsWithoutAPoll(t *testing.T) {
	eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) {
		if _, ok := open().(restaq.Notifier); !ok {
			return // its processes poll
		}
		for name, receiver := range map[string]func(t *testing.T, worker *restaq.Runtime, part restaq.Part) *restaq.Runtime{
			"of another process": func(t *testing.T, _ *restaq.Runtime, part restaq.Part) *restaq.Runtime {
				return receive(t, open(), quick(), part)
			},
			"of the same process": func(_ *testing.T, worker *restaq.Runtime, _ restaq.Part) *restaq.Runtime { return worker },
		} {
			t.Run(name, func(t *testing.T) {
				ran := make(chan string, 1)
				part := on("h", func(_ context.Context, e restaq.Event) error { ran <- e.ID; return nil })
				worker := listening(t, open(), part)
				rt := receiver(t, worker, part)
				for _, commit := range []bool{false, true} {
					tx := l.begin(t)
					event := newEvent()
					if _, err := rt.DeliverTx(t.Context(), tx, event); err != nil {
						t.Fatal(err)
					}
					if err := l.end(tx, commit); err != nil {
						t.Fatal(err)
					}
					if commit {
						if id := await(t, ran); id != event.ID {
							t.Errorf("ran %s, want %s", id, event.ID)
						}
					}
				}
			})
		}
	})
}

// notified counts what a process tells the others.
type notified struct {
	restaq.Store
	told chan restaq.Notice
}

func (s *notified) Notify(ctx context.Context, n restaq.Notice) error {
	s.told <- n
	return nil
}

func (s *notified) Listen(ctx context.Context, fn func(restaq.Notice)) { <-ctx.Done() }

// What this process starts itself is no news for the others; what it does not
// is told, however much it is, once.
func TestOnlyWorkThatThisProcessWillNotStartIsTold(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		inner := &forgetful{Store: open(), inserts: func() bool { return false }}
		store := &notified{Store: inner, told: make(chan restaq.Notice, 1000)}
		cfg := quick()
		cfg.Concurrency, cfg.Poll = 1, time.Hour
		entered, release := make(chan string, 100), make(chan bool, 100)
		var held atomic.Bool
		rt, stop := start(t, store, cfg, on("h", func(ctx context.Context, e restaq.Event) error {
			if !held.Load() {
				return nil
			}
			entered <- e.ID
			<-release
			return nil
		}))
		inner.arm(t, rt)
		held.Store(true)
		var first restaq.Execution
		for begun := inner.begun.Load(); ; release <- true {
			rt.Flush()
			for len(store.told) > 0 {
				<-store.told
			}
			first = deliver(t, rt, newEvent()) // this process has a slot for it
			await(t, entered)
			rt.Flush()
			if inner.begun.Load() > begun {
				break // else a claim was under way, and has taken it
			}
		}
		if n := len(store.told); n != 0 {
			t.Errorf("%d notices of work that this process has begun: %+v", n, <-store.told)
		}
		second := deliver(t, rt, newEvent())
		if n := await(t, store.told); len(n.Handlers) != 1 || n.Handlers[0] != "h" {
			t.Errorf("told %+v, want the handler's work", n)
		}
		release <- true
		release <- true
		wait(t, rt, first.ID, "completed")
		wait(t, rt, second.ID, "completed")
		rt.Flush()
		if n := len(store.told); n != 0 {
			t.Errorf("%d notices of work that this process began at the end of another: %+v", n, <-store.told)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// What a process gives back when it stops is told to those that go on.
func TestAnInterruptedExecutionIsTold(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := &notified{Store: open(), told: make(chan restaq.Notice, 1000)}
		cfg := quick()
		cfg.ShutdownTimeout = time.Millisecond
		entered := newGate()
		rt, stop := start(t, store, cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			entered.open()
			<-ctx.Done()
			return ctx.Err()
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if n := len(store.told); n != 1 { // by the time that Run has returned
			t.Fatalf("%d notices, want one", n)
		}
		if n := await(t, store.told); len(n.Handlers) != 1 || n.Handlers[0] != "h" {
			t.Errorf("told %+v, want the handler's work", n)
		}
		if e := inspect(t, rt, e.ID); e.Status != restaq.Pending {
			t.Errorf("execution is %s, want pending", e.Status)
		}
	})
}
