package restaq_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// What a restart completed counts, however its attempts end.
func TestARestartThatIsCutOffKeepsWhatItCompleted(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		cfg := quick()
		cfg.ShutdownTimeout = time.Millisecond
		entered := make(chan struct{}, 4)
		one := step("one", func(context.Context, string) (int, error) { return runs.add("one"), nil })
		two := step("two", func(ctx context.Context, _ string) (int, error) {
			if runs.add("two") == 2 { // in the restarted attempt
				entered <- struct{}{}
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 0, nil
		})
		handler := on("h", func(ctx context.Context, _ restaq.Event) error {
			n, err := one.Run(ctx, struct{}{}, in1{"x"})
			if err != nil {
				return err
			}
			if restaq.Attempt(ctx) > 1 && n != 2 {
				t.Errorf("attempt %d got %d from step one, want the restart's 2", restaq.Attempt(ctx), n)
			}
			_, err = two.Run(ctx, struct{}{}, in1{"x"})
			return err
		})
		store := open()
		rt, stop := start(t, store, cfg, handler)
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		command, err := restaq.New(open(), quick())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := command.Restart(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		await(t, entered)
		if tree := inspect(t, command, e.ID).Tree(); !strings.Contains(tree, "Attempt 2 (restart, running)") {
			t.Errorf("history:\n%s", tree)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		// Then a process crashes as soon as it has begun.
		if claimed, err := store.Claim(t.Context(), restaq.Claim{Owner: "crashed", Lease: -time.Hour, Handlers: []string{"h"}, Limit: 1}); err != nil || len(claimed) != 1 {
			t.Fatalf("claim: %v, %v", claimed, err)
		}
		next, _ := start(t, open(), cfg, handler)
		wait(t, next, e.ID, "completed")
		runs.want(t, map[string]int{"one": 2, "two": 3})
		want := "├─ Attempt 2 (restart, interrupted)\n│  └─ one: completed\n├─ Attempt 3 (lost)\n" +
			"└─ Attempt 4\n   ├─ one: (skipped - cached)\n   └─ two: completed\n"
		if tree := inspect(t, next, e.ID).Tree(); !strings.HasSuffix(tree, want) {
			t.Errorf("history:\n%swant it to end:\n%s", tree, want)
		}
	})
}

func TestARestartReopensADeadExecution(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		s := step("s", func(context.Context, string) (int, error) { return runs.add("s"), nil })
		rt, h := run(t, open(), quick(), "dead", func(ctx context.Context, _ restaq.Event) error {
			if _, err := s.Run(ctx, struct{}{}, in1{"x"}); err != nil {
				return err
			}
			if restaq.Attempt(ctx) == 1 {
				return restaq.Permanent(errors.New("a bug"))
			}
			return nil
		})
		got, err := rt.Restart(t.Context(), h.ID)
		if err != nil || got.Status != restaq.Completed {
			t.Fatalf("restart: %+v, %v", got, err)
		}
		runs.want(t, map[string]int{"s": 2})
	})
}

func TestTheStepUnderWayTravelsWithARenewal(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered, release := newGate(), newGate()
		cfg := quick()
		cfg.Lease = 900 * time.Millisecond
		s := step("slow", func(ctx context.Context, _ string) (string, error) {
			entered.open()
			return "", release.pass(ctx)
		})
		rt, _ := start(t, open(), cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			return err
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		eventually(t, func() bool {
			return strings.HasSuffix(inspect(t, rt, e.ID).Tree(), "└─ Attempt 1 (running)\n   └─ slow: running\n")
		})
		release.open()
		wait(t, rt, e.ID, "completed")
	})
}

func TestCallsWithDifferentKeysRunAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		const n = 4
		arrived := make(chan struct{}, n)
		all := newGate()
		s := step("s", func(ctx context.Context, v string) (string, error) {
			arrived <- struct{}{}
			return v, all.pass(ctx)
		})
		s.Key = func(in in1) string { return in.v }
		run(t, open(), quick(), "completed", func(ctx context.Context, _ restaq.Event) error {
			errs := make(chan error, n)
			for i := range n {
				go func() {
					_, err := s.Run(ctx, struct{}{}, in1{string(rune('a' + i))})
					errs <- err
				}()
			}
			for range n { // none returns before all have begun
				<-arrived
			}
			all.open()
			var failed error
			for range n {
				failed = errors.Join(failed, <-errs)
			}
			return failed
		})
	})
}

func TestLargePureOutputsDoNotWaitForTheNextWrite(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := &writes{Store: open()}
		rt, _ := start(t, store, quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			for _, name := range []string{"one", "two", "three"} {
				s := step(name, func(context.Context, string) (string, error) { return strings.Repeat("x", 200<<10), nil })
				s.Pure = true
				if _, err := s.Run(ctx, struct{}{}, in1{"x"}); err != nil {
					return err
				}
			}
			return nil
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		if n := store.record.Load(); n != 1 {
			t.Errorf("%d writes, want one when the second output came", n)
		}
		if h := inspect(t, rt, e.ID); len(h.Tries[0].Steps) != 3 {
			t.Errorf("history:\n%s", h.Tree())
		}
	})
}

func TestAPruneGoesOnUntilNothingIsLeft(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt, _ := start(t, open(), quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		for range 5 {
			wait(t, rt, deliver(t, rt, newEvent()).ID, "completed")
		}
		var counts []int
		for {
			pruned, err := rt.Prune(t.Context(), restaq.Prune{OlderThan: time.Nanosecond, Limit: 2})
			if err != nil {
				t.Fatal(err)
			}
			if pruned.Executions == 0 {
				break
			}
			counts = append(counts, pruned.Executions)
		}
		if len(counts) != 3 || counts[0] != 2 || counts[2] != 1 {
			t.Errorf("pruned %v, want 2, 2 and 1", counts)
		}
	})
}

func TestAStoreWithoutAbilities(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt, _ := start(t, struct{ restaq.Store }{open()}, quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		if _, err := rt.List(t.Context(), restaq.Filter{}); !errors.Is(err, restaq.ErrUnsupported) {
			t.Errorf("list: %v", err)
		}
		if _, err := rt.Prune(t.Context(), restaq.Prune{OlderThan: time.Hour}); !errors.Is(err, restaq.ErrUnsupported) {
			t.Errorf("prune: %v", err)
		}
		wait(t, rt, deliver(t, rt, newEvent()).ID, "completed") // all else works
	})
}

func TestManyAttemptsStayReadable(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		const attempts = 200
		cfg := quick()
		cfg.Attempts = attempts
		cfg.Backoff = restaq.Backoff{Min: time.Microsecond, Max: time.Microsecond}
		var runs counter
		s := step("s", func(context.Context, string) (int, error) { return runs.add("s"), nil })
		_, h := run(t, open(), cfg, "dead", func(ctx context.Context, _ restaq.Event) error {
			if _, err := s.Run(ctx, struct{}{}, in1{"x"}); err != nil {
				return err
			}
			return errors.New("never")
		})
		runs.want(t, map[string]int{"s": 1})
		if len(h.Tries) != attempts || h.Attempts != attempts {
			t.Errorf("%d attempts, %d in the history, want %d", h.Attempts, len(h.Tries), attempts)
		}
	})
}
