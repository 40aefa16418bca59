package restaq_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
)

// A bubble ends only when all its goroutines have: what Run started is gone
// when it returns.
func TestRunLeavesNoGoroutineBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := receive(t, memory.New(), quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- rt.Run(ctx) }()
		for range 10 {
			if _, err := rt.Wait(t.Context(), deliver(t, rt, newEvent()).ID); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

// What finds no slot waits in the store, not in memory.
func TestPendingWorkTakesNoMemoryOfTheRuntime(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Concurrency = 1
		entered, release := newGate(), newGate()
		var runs counter
		rt, _ := start(t, open(), cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			if runs.add("h") == 1 {
				entered.open()
			}
			return release.pass(ctx)
		}))
		first := deliver(t, rt, newEvent())
		await(t, entered)
		before := runtime.NumGoroutine()
		var last restaq.Execution
		for range 200 {
			last = deliver(t, rt, newEvent())
		}
		if n := rt.Held(); n != 1 {
			t.Errorf("the runtime holds %d executions, want the one that runs", n)
		}
		if grown := runtime.NumGoroutine() - before; grown > 100 {
			t.Errorf("%d goroutines more for 200 pending executions", grown)
		}
		release.open()
		wait(t, rt, first.ID, "completed")
		wait(t, rt, last.ID, "completed")
	})
}
