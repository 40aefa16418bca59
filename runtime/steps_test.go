package restaq_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// run delivers an event to a handler and returns the execution's history when
// it is as want: a status or "dead".
func run(t *testing.T, store restaq.Store, cfg restaq.Config, want string, handle func(ctx context.Context, event restaq.Event) error) (*restaq.Runtime, *restaq.History) {
	t.Helper()
	// A name and a type of its own: several runtimes of one test share a store.
	event := newEvent()
	event.Type = "acme." + event.ID
	rt, _ := start(t, store, cfg, on("h "+event.ID, handle, event.Type))
	e := deliver(t, rt, event)
	wait(t, rt, e.ID, want)
	return rt, inspect(t, rt, e.ID)
}

// cardError is an error type that survives being recorded.
func TestTimeouts(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Attempts = 1
		late := step("late", func(ctx context.Context, v string) (string, error) {
			<-ctx.Done()
			return v, nil // a result all the same
		})
		late.Timeout = time.Millisecond
		_, h := run(t, open(), cfg, "dead", func(ctx context.Context, _ restaq.Event) error {
			_, err := late.Run(ctx, struct{}{}, in1{"x"})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the late step returned %v, want a timeout", err)
			}
			return err
		})
		if s := h.Tries[0].Steps[0]; s.Error != "timeout" || !s.Timeout || s.Output != nil {
			t.Errorf("recorded %+v, want a timeout", s)
		}
	})
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Attempts = 1
		handler := on("h", func(ctx context.Context, _ restaq.Event) error {
			<-ctx.Done()
			return nil
		})
		handler.Timeout = time.Millisecond
		rt, _ := start(t, open(), cfg, handler)
		e := deliver(t, rt, newEvent())
		if got := wait(t, rt, e.ID, "dead"); got.Error != "timeout" {
			t.Errorf("error %q, want a timeout", got.Error)
		}
	})
}

// writes counts what reaches a store.
type writes struct {
	restaq.Store
	record, finish, history atomic.Int32
}

func (w *writes) Record(ctx context.Context, l restaq.Lease, p *restaq.Progress) error {
	w.record.Add(1)
	return w.Store.Record(ctx, l, p)
}

func (w *writes) Finish(ctx context.Context, l restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	w.finish.Add(1)
	return w.Store.Finish(ctx, l, o)
}

func (w *writes) History(ctx context.Context, id string) (*restaq.StoredExecution, error) {
	w.history.Add(1)
	return w.Store.History(ctx, id)
}

func TestSkipsAndPureStepsCostNoWrites(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := &writes{Store: open()}
		var runs counter
		effect := step("effect", func(context.Context, string) (int, error) { return runs.add("effect"), nil })
		pure := step("pure", func(context.Context, string) (int, error) { return runs.add("pure"), nil })
		pure.Pure = true
		rt, _ := start(t, store, quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			for _, s := range []*restaq.Step[struct{}, in1, int]{pure, effect} {
				if _, err := s.Run(ctx, struct{}{}, in1{"x"}); err != nil {
					return err
				}
			}
			if restaq.Attempt(ctx) == 1 {
				return errors.New("once more")
			}
			return nil
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		if r, f, h := store.record.Load(), store.finish.Load(), store.history.Load(); r != 1 || f != 2 || h != 1 {
			t.Errorf("%d records, %d outcomes, %d loads of the past; want 1, 2, 1", r, f, h)
		}
		runs.want(t, map[string]int{"effect": 1, "pure": 1})
		tree := inspect(t, rt, e.ID).Tree()
		want := "├─ Attempt 1\n│  ├─ pure: completed\n│  ├─ effect: completed\n│  └─ handler: failed (once more)\n" +
			"└─ Attempt 2\n   ├─ pure: (skipped - cached)\n   └─ effect: (skipped - cached)\n"
		if !strings.HasSuffix(tree, want) {
			t.Errorf("history:\n%s\nwant:\n%s", tree, want)
		}
	})
}

func TestAChangedInputIsShownOrRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		handler := func(ctx context.Context, _ restaq.Event) error {
			s := step("s", func(_ context.Context, v string) (string, error) { return v, nil })
			got, err := s.Run(ctx, struct{}{}, in1{fmt.Sprint("input of attempt ", restaq.Attempt(ctx))})
			if err == nil && got != "input of attempt 1" {
				t.Errorf("got %q, want the record", got)
			}
			if restaq.Attempt(ctx) == 1 {
				return errors.New("once more")
			}
			return nil // even if the handler goes past the error
		}
		_, h := run(t, store, quick(), "completed", handler)
		if tree := h.Tree(); !strings.Contains(tree, "s: (skipped - cached) [input changed]\n") {
			t.Errorf("history:\n%s", tree)
		}
	})
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.StrictInputs = true
		_, h := run(t, open(), cfg, "dead", func(ctx context.Context, _ restaq.Event) error {
			s := step("s", func(_ context.Context, v string) (string, error) { return v, nil })
			s.Run(ctx, struct{}{}, in1{fmt.Sprint(restaq.Attempt(ctx))})
			return map[bool]error{true: errors.New("once more")}[restaq.Attempt(ctx) == 1]
		})
		if h.Attempts != 2 || !strings.Contains(h.Error, "inputs differ") {
			t.Errorf("dead after %d attempts: %s", h.Attempts, h.Error)
		}
	})
}

func TestAmbiguousStepsStopTheExecution(t *testing.T) {
	str := func(context.Context, string) (string, error) { return "", nil }
	cases := map[string]struct {
		handle func(ctx context.Context)
		want   []string
	}{
		"other inputs": {func(ctx context.Context) {
			s := step("s", str)
			s.Run(ctx, struct{}{}, in1{"a"})
			s.Run(ctx, struct{}{}, in1{"b"})
		}, []string{"step s", "key="}},
		"do twice": {func(ctx context.Context) {
			for range 2 {
				restaq.Do(ctx, "d", func(context.Context) (int, error) { return 1, nil })
			}
		}, []string{"step d", "second time"}},
		"two packages": {func(ctx context.Context) {
			a, b := step("s", str), step("s", str)
			b.Func = "example.com/other.s"
			a.Run(ctx, struct{}{}, in1{"a"})
			b.Run(ctx, struct{}{}, in1{"a"})
		}, []string{"example.com/test.s", "example.com/other.s"}},
		"itself": {func(ctx context.Context) {
			var s *restaq.Step[struct{}, in1, string]
			s = step("s", func(ctx context.Context, v string) (string, error) { return s.Run(ctx, struct{}{}, in1{v}) })
			s.Run(ctx, struct{}{}, in1{"a"})
		}, []string{"step s calls itself"}},
		"each other": {func(ctx context.Context) {
			var a, b *restaq.Step[struct{}, in1, string]
			a = step("a", func(ctx context.Context, v string) (string, error) { return b.Run(ctx, struct{}{}, in1{v}) })
			b = step("b", func(ctx context.Context, v string) (string, error) { return a.Run(ctx, struct{}{}, in1{v}) })
			a.Run(ctx, struct{}{}, in1{"a"})
		}, []string{"step a calls itself"}},
	}
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				ran := false
				_, h := run(t, store, quick(), "dead", func(ctx context.Context, _ restaq.Event) error {
					tc.handle(ctx)
					step("after", func(context.Context, string) (string, error) { ran = true; return "", nil }).Run(ctx, struct{}{}, in1{"x"})
					return nil // a handler that goes past the error
				})
				for _, want := range tc.want {
					if !strings.Contains(h.Error, want) {
						t.Errorf("error %q does not hold %q", h.Error, want)
					}
				}
				if h.Attempts != 1 || ran {
					t.Errorf("%d attempts, a further step ran: %v; want one attempt that stops", h.Attempts, ran)
				}
			})
		}
	})
}

func TestASecondCallWithEqualInputsReturnsTheRecord(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		s := step("s", func(context.Context, string) (int, error) { return runs.add("s"), nil })
		run(t, open(), quick(), "completed", func(ctx context.Context, _ restaq.Event) error {
			results := make(chan int, 4)
			for range cap(results) {
				go func() {
					n, err := s.Run(ctx, struct{}{}, in1{"x"})
					if err != nil {
						t.Error(err)
					}
					results <- n
				}()
			}
			for range cap(results) {
				if n := <-results; n != 1 {
					t.Errorf("got %d, want the first call's 1", n)
				}
			}
			return nil
		})
		runs.want(t, map[string]int{"s": 1})
	})
}

func TestKeysTellCallsApart(t *testing.T) {
	keys := []string{"", "cus_1", strings.Repeat("k", 201), strings.Repeat("k", 202), "a\x00b", "a\x01b", "\xff", "[x]"}
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		s := step("s", func(_ context.Context, v string) (string, error) { runs.add(v); return v, nil })
		s.Key = func(in in1) string { return in.v }
		_, h := run(t, open(), quick(), "completed", func(ctx context.Context, _ restaq.Event) error {
			for _, key := range keys {
				if _, err := s.Run(ctx, struct{}{}, in1{key}); err != nil {
					return err
				}
			}
			if restaq.Attempt(ctx) == 1 {
				return errors.New("once more")
			}
			return nil
		})
		for _, key := range keys {
			runs.want(t, map[string]int{key: 1})
		}
		steps := h.Tries[1].Steps
		if steps[1].Name != "s[cus_1]" || len(steps[2].Name) > 60 {
			t.Errorf("record names %q and %q", steps[1].Name, steps[2].Name)
		}
	})
}

func TestWhatCannotBeEncodedFailsOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		var runs counter
		nan := step("nan", func(context.Context, string) (float64, error) { runs.add("nan"); return math.NaN(), nil })
		big := step("big", func(context.Context, string) (string, error) {
			runs.add("big")
			return strings.Repeat("x", 17<<20), nil
		})
		_, h := run(t, store, quick(), "dead", func(ctx context.Context, _ restaq.Event) error {
			_, err := nan.Run(ctx, struct{}{}, in1{"x"})
			return err
		})
		if !strings.Contains(h.Error, "encode output") {
			t.Errorf("error %q", h.Error)
		}
		_, h = run(t, store, quick(), "dead", func(ctx context.Context, _ restaq.Event) error {
			_, err := big.Run(ctx, struct{}{}, in1{"x"})
			return err
		})
		if !strings.Contains(h.Error, "at most 16777216") {
			t.Errorf("error %q", h.Error)
		}
		runs.want(t, map[string]int{"nan": 1, "big": 1})
	})
}

func TestAKeyThatPanicsIsAFailedStep(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		s := step("s", func(_ context.Context, v string) (string, error) { return v, nil })
		s.Key = func(in1) string {
			if runs.add("key") == 1 {
				panic("no key")
			}
			return "k"
		}
		_, h := run(t, open(), quick(), "completed", func(ctx context.Context, _ restaq.Event) error {
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			return err
		})
		if s := h.Tries[0].Steps[0]; s.Name != "s" || s.Error != "key: panic: no key" || s.Stack == "" {
			t.Errorf("recorded %+v", s)
		}
	})
}

func TestRecordsNobodyAskedForAreReported(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		_, h := run(t, open(), quick(), "completed", func(ctx context.Context, _ restaq.Event) error {
			name := "old-name"
			if restaq.Attempt(ctx) == 2 {
				name = "new-name"
			}
			if _, err := restaq.Do(ctx, name, func(context.Context) (int, error) { return 1, nil }); err != nil {
				return err
			}
			if restaq.Attempt(ctx) == 1 {
				return errors.New("deployed in between")
			}
			return nil
		})
		if got := fmt.Sprint(h.Tries[1].Unused); got != "[old-name]" {
			t.Errorf("unused records %s, want old-name", got)
		}
	})
}

func TestDoRefusesARecordOfAnotherShape(t *testing.T) {
	type v1 struct{ Amount int }
	type v2 struct{ Total int }
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.HandoverTimeout = time.Millisecond // no other process may read it
		_, h := run(t, open(), cfg, "dead", func(ctx context.Context, _ restaq.Event) error {
			if restaq.Attempt(ctx) == 1 {
				restaq.Do(ctx, "d", func(context.Context) (v1, error) { return v1{1}, nil })
				return errors.New("deployed in between")
			}
			_, err := restaq.Do(ctx, "d", func(context.Context) (v2, error) { return v2{1}, nil })
			return err
		})
		if h.StoppedBy != restaq.StoppedBySchema || !strings.Contains(h.Error, "step d: its output's shape has changed") {
			t.Errorf("error %q", h.Error)
		}
	})
}

func TestAHandlerThatEndsItsGoroutineFails(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Attempts = 1
		_, h := run(t, open(), cfg, "dead", func(context.Context, restaq.Event) error {
			runtime.Goexit()
			return nil
		})
		if !strings.Contains(h.Error, "Goexit") {
			t.Errorf("error %q", h.Error)
		}
	})
}

func TestAPoisonEventFailsByItself(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		type order struct{ N int }
		rt, _ := start(t, open(), quick(), restaq.Handler[order]{
			Name: "h", Events: []string{"acme.order.*"},
			Func: func(context.Context, order) error { return nil },
			Decode: func(_ string, payload []byte) (order, error) {
				switch string(payload) {
				case "panic":
					panic("decoder")
				case "error":
					return order{}, errors.New("bad payload")
				}
				return order{1}, nil
			},
		})
		for payload, want := range map[string]string{"panic": "decode event: panic: decoder", "error": "decode event: bad payload", "good": ""} {
			event := newEvent()
			event.Payload = []byte(payload)
			e := deliver(t, rt, event)
			got := wait(t, rt, e.ID, map[bool]string{true: "completed", false: "dead"}[want == ""])
			if got.Error != want || got.Attempts != 1 {
				t.Errorf("%s: error %q after %d attempts, want %q after 1", payload, got.Error, got.Attempts, want)
			}
		}
	})
}

func TestAStepLeftBehindEndsBeforeItsAttempt(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered, release := newGate(), newGate()
		slow := step("slow", func(ctx context.Context, _ string) (string, error) {
			entered.open()
			return "", release.pass(context.WithoutCancel(ctx))
		})
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			go slow.Run(ctx, struct{}{}, in1{"x"})
			return entered.pass(ctx)
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		release.open()
		wait(t, rt, e.ID, "completed")
		if h := inspect(t, rt, e.ID); len(h.Tries[0].Steps) != 1 || h.Tries[0].Steps[0].Status != restaq.StepCompleted {
			t.Errorf("history:\n%swant the step's record", h.Tree())
		}
	})
}
