package restaq_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

func TestGuarantee7OneAttemptAtATime(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		entered, release := newGate(), newGate()
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			if runs.add("h") == 1 {
				entered.open()
			}
			return release.pass(ctx)
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		other, _ := start(t, open(), quick(), on("h", func(context.Context, restaq.Event) error { runs.add("h"); return nil }))
		// Retries in both processes join the attempt and get its result.
		results := make(chan restaq.Execution, 8)
		var all sync.WaitGroup
		for i := range 8 {
			runtime := rt
			if i%2 == 1 {
				runtime = other
			}
			all.Go(func() {
				got, err := runtime.Retry(t.Context(), e.ID)
				if err != nil {
					t.Error(err)
				}
				results <- got
			})
		}
		release.open()
		all.Wait()
		close(results)
		for got := range results {
			if got.Status != restaq.Completed || got.Attempts != 1 {
				t.Errorf("a joined retry got %s after %d attempts, want completed after 1", got.Status, got.Attempts)
			}
		}
		runs.want(t, map[string]int{"h": 1})
	})
}

func TestGuarantee7AProcessThatLostItsLeaseRecordsNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered, release := newGate(), newGate()
		cause := make(chan error, 1)
		s := step("s", func(ctx context.Context, _ string) (string, error) {
			if restaq.Attempt(ctx) == 1 {
				entered.open()
				err := release.pass(context.WithoutCancel(ctx))
				return "old", err
			}
			return "new", nil
		})
		later := step("later", func(context.Context, string) (string, error) { return "", nil })
		handler := func(ctx context.Context, _ restaq.Event) error {
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			if restaq.Attempt(ctx) == 1 {
				if _, err := later.Run(ctx, struct{}{}, in1{"x"}); err == nil {
					t.Error("the process that lost its lease started a further step")
				}
				cause <- context.Cause(ctx)
			}
			return err
		}
		cfg := leased()
		cfg.Concurrency = 1 // it must not take its own execution over
		store := open()
		rt, _ := start(t, store, cfg, on("h", handler))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		// Another process takes it over: what a person's cancel and a
		// take-over have in common is that the token is no longer good.
		taken := takeOver(t, store, e.ID)
		release.open()
		if got := await(t, cause); !errors.Is(got, restaq.ErrLeaseLost) {
			t.Errorf("the handler's context ended with %v, want ErrLeaseLost", got)
		}
		if _, err := store.Finish(t.Context(), taken, &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted}); err != nil {
			t.Fatal(err)
		}
		h := inspect(t, rt, e.ID)
		if len(h.Tries) != 2 || h.Tries[0].Outcome != restaq.AttemptLost || len(h.Tries[0].Steps) != 0 {
			t.Errorf("history:\n%swant a lost attempt without steps, then another", h.Tree())
		}
	})
}

// takeOver takes an execution over from the process that runs it. That one has
// a single slot and long leases: it claims nothing and renews nothing meanwhile.
func takeOver(t *testing.T, store restaq.Store, id string) restaq.Lease {
	t.Helper()
	h, err := store.History(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	lease := restaq.Lease{Execution: id, Attempt: h.Execution.Attempts, Token: 1}
	if lost, err := store.Renew(t.Context(), []restaq.Renewal{{Lease: lease}}, -time.Hour); err != nil || len(lost) > 0 {
		t.Fatalf("let the lease run out: lost %v, %v", lost, err)
	}
	claimed, err := store.Claim(t.Context(), restaq.Claim{Owner: "another process", Lease: 24 * time.Hour, Handlers: []string{h.Execution.Handler}, Limit: 1})
	if err != nil || len(claimed) != 1 || claimed[0].Execution.ID != id {
		t.Fatalf("take over: %+v, %v", claimed, err)
	}
	return claimed[0].Lease
}
