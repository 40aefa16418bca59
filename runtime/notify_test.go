package restaq_test

import (
	"context"
	"errors"
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
		if id := <-ran; id != event.ID {
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
			<-ran
			attemptEnd(t, worker, e.ID, n+2)
		}
		if _, err := command.Replay(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		<-ran
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
		if err := entered.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		command, err := restaq.New(open(), quick())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := command.Cancel(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		if err := <-cause; !errors.Is(err, restaq.ErrCancelled) {
			t.Errorf("the attempt's context ended with %v", err)
		}
	})
}
