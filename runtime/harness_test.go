package restaq_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/codec"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
)

// eachStore runs a test on every store. open returns a further handle on the
// store's data, as another process would have.
func eachStore(t *testing.T, test func(t *testing.T, open func() restaq.Store)) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		store := memory.New()
		test(t, func() restaq.Store { return store })
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "restaq.db")
		test(t, func() restaq.Store {
			store, err := sqlite.Open(path)
			return opened(t, store, err)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.URL(t)
		test(t, func() restaq.Store {
			store, err := postgres.Open(t.Context(), url)
			return opened(t, store, err)
		})
	})
}

// opened closes a store when the test ends, after the runtimes on it stopped.
func opened[S interface {
	restaq.Store
	Close() error
}](t *testing.T, store S, err error) restaq.Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	return store
}

// quick is a configuration with short waits.
func quick() restaq.Config {
	return restaq.Config{
		Logger:  slog.New(slog.NewTextHandler(io.Discard, nil)),
		Poll:    10 * time.Millisecond,
		Backoff: restaq.Backoff{Min: time.Millisecond, Max: 2 * time.Millisecond},
	}
}

// receive returns a runtime that has parts registered and does not run.
func receive(t *testing.T, store restaq.Store, cfg restaq.Config, parts ...restaq.Part) *restaq.Runtime {
	t.Helper()
	rt, err := restaq.New(store, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.Register(parts...); err != nil {
		t.Fatal(err)
	}
	return rt
}

// start returns a runtime that runs until the test ends, or until stop is
// called, which returns what Run returned.
func start(t *testing.T, store restaq.Store, cfg restaq.Config, parts ...restaq.Part) (rt *restaq.Runtime, stop func() error) {
	t.Helper()
	rt = receive(t, store, cfg, parts...)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- rt.Run(ctx) }()
	rt.WaitActive()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-result
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return rt, stop
}

// on is a handler of the raw event.
func on(name string, fn func(ctx context.Context, event restaq.Event) error, events ...string) restaq.Handler[restaq.Event] {
	if len(events) == 0 {
		events = []string{"acme.order.created"}
	}
	return restaq.Handler[restaq.Event]{Name: name, Events: events, Func: fn}
}

var eventNumber atomic.Int64

// newEvent returns an event with an id of its own.
func newEvent() restaq.Event {
	return restaq.Event{ID: fmt.Sprintf("evt_%d", eventNumber.Add(1)), Type: "acme.order.created", Payload: []byte(`{"n":1}`)}
}

// deliver delivers event, which has one handler, and returns its execution.
func deliver(t *testing.T, rt *restaq.Runtime, event restaq.Event) restaq.Execution {
	t.Helper()
	receipt, err := rt.Deliver(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	if receipt.Duplicate || len(receipt.Executions) != 1 {
		t.Fatalf("receipt %+v, want one new execution", receipt)
	}
	return receipt.Executions[0]
}

// wait returns the execution when it is final, which must be as want: a status
// or "dead".
func wait(t *testing.T, rt *restaq.Runtime, id, want string) restaq.Execution {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e, err := rt.Wait(ctx, id)
	if err != nil {
		t.Fatalf("%v; it is %+v", err, e)
	}
	if got := word(&e); got != want {
		t.Fatalf("execution is %s (%s), want %s", got, e.Error, want)
	}
	return e
}

func word(e *restaq.Execution) string {
	if e.Dead() {
		return "dead"
	}
	return string(e.Status)
}

func inspect(t *testing.T, rt *restaq.Runtime, id string) *restaq.History {
	t.Helper()
	h, err := rt.Inspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// patience bounds each wait of a test: much more than a busy machine needs.
const patience = time.Minute

// await returns what arrives on ch, or the zero value once it is closed. Not
// for synctest, in whose bubbles a hang shows by itself.
func await[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("it did not come to pass")
		panic("unreachable")
	}
}

// eventually looks until it is so.
func eventually(t *testing.T, so func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !so() {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to pass")
		}
		runtime.Gosched()
	}
}

// in1 is the input of a test step.
type in1 struct{ v string }

// step describes a step of one string input as generated code does. Its
// function gets the input.
func step[Out any](name string, fn func(ctx context.Context, v string) (Out, error)) *restaq.Step[struct{}, in1, Out] {
	return &restaq.Step[struct{}, in1, Out]{
		Name: name, Func: "example.com/test." + name,
		Call: func(ctx context.Context, _ struct{}, in in1) (Out, error) { return fn(ctx, in.v) },
		Codec: restaq.Codec[in1, Out]{
			AppendIn:  func(dst []byte, in *in1) ([]byte, error) { return codec.AppendTuple(dst, in.v) },
			DecodeIn:  func(data []byte, in *in1) error { return codec.DecodeTuple(data, &in.v) },
			AppendOut: codec.Append[Out],
			DecodeOut: codec.Decode[Out],
			Shape:     "shape-1",
		},
	}
}

// counter counts runs by name.
type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) add(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[string]int)
	}
	c.n[name]++
	return c.n[name]
}

func (c *counter) want(t *testing.T, want map[string]int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, n := range want {
		if c.n[name] != n {
			t.Errorf("%s ran %d times, want %d", name, c.n[name], n)
		}
	}
}

// gate lets one goroutine wait until another opens it.
type gate chan struct{}

func newGate() gate  { return make(gate) }
func (g gate) open() { close(g) }

// pass waits for the gate, or for the context's end.
func (g gate) pass(ctx context.Context) error {
	select {
	case <-g:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
