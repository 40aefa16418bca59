package restaq_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
)

// renamed is a step that had the names was before, the oldest first, with a key.
func renamed[Out any](name string, was []string, fn func(ctx context.Context, v string) (Out, error)) *restaq.Step[struct{}, in1, Out] {
	s := step(name, fn)
	s.Was = was
	s.Key = func(in in1) string { return in.v }
	return s
}

// Over a rename, over another, and back: as while a deploy is under way.
func TestARecordUnderAnotherNameOfTheStepIsTheSteps(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		charge := func(_ context.Context, v string) (string, error) {
			runs.add(v)
			return "charge_" + v, nil
		}
		names := []string{"pay", "charge", "charge-card"}
		var id string
		for i, version := range []int{0, 1, 2, 1, 0, 2} {
			s := renamed(names[version], names[:version], charge)
			rt, stop := start(t, open(), patientConfig(), on("h", func(ctx context.Context, _ restaq.Event) error {
				for _, v := range []string{"a", "b"}[:min(i+1, 2)] {
					if got, err := s.Run(ctx, struct{}{}, in1{v}); err != nil || got != "charge_"+v {
						t.Errorf("deploy %d: the step returned %q, %v", i, got, err)
					}
				}
				if i < 5 {
					return errors.New("not yet")
				}
				return nil
			}))
			if id == "" {
				id = deliver(t, rt, newEvent()).ID
			} else if _, err := rt.Retry(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			attemptEnd(t, rt, id, i+1)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		}
		runs.want(t, map[string]int{"a": 1, "b": 1})
		h := inspect(t, receive(t, open(), quick()), id)
		if last := h.Tries[5]; h.Status != restaq.Completed || len(last.Unused) != 0 || last.Steps[0].Status != restaq.StepSkipped {
			t.Errorf("history, unused records %v:\n%s", last.Unused, h.Tree())
		}
	})
}

// What a crash between a payment and its record needs.
func TestARenameChangesNoIdempotencyKeyAndNoBudget(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var mu sync.Mutex
		var keys []string
		fail := func(ctx context.Context, v string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, restaq.IdempotencyKey(ctx))
			return "", errors.New("the answer was lost")
		}
		var id string
		for i, s := range []*restaq.Step[struct{}, in1, string]{
			renamed("pay", nil, fail), renamed("charge", []string{"pay"}, fail), renamed("pay", nil, fail),
			renamed("charge-card", []string{"pay", "charge"}, fail),
		} {
			s.Attempts = 4
			s.Backoff = patientConfig().Backoff
			rt, stop := start(t, open(), patientConfig(), on("h", func(ctx context.Context, _ restaq.Event) error {
				_, err := s.Run(ctx, struct{}{}, in1{"a"})
				return err
			}))
			if id == "" {
				id = deliver(t, rt, newEvent()).ID
			} else { // due now, and not asked for by a person, who would open a fresh budget
				makeDue(t, open(), id)
			}
			e := attemptEnd(t, rt, id, i+1)
			if e.Dead() != (i == 3) {
				t.Errorf("try %d: execution is %s", i+1, word(&e))
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Sort(keys); len(keys) != 4 || keys[0] == "" || keys[0] != keys[3] {
			t.Errorf("idempotency keys %v, want four alike", keys)
		}
	})
}

// makeDue makes a failed execution due without a wish of its own.
func makeDue(t *testing.T, store restaq.Store, id string) {
	t.Helper()
	_, changed, err := store.Change(t.Context(), id, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending})
	if err != nil || !changed {
		t.Fatalf("change: %v, %v", changed, err)
	}
}

func TestARetryRunsAnewAPermanentFailureUnderTheOldName(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		run := func(s *restaq.Step[struct{}, in1, string]) (*restaq.Runtime, func() error) {
			return start(t, open(), patientConfig(), on("h", func(ctx context.Context, _ restaq.Event) error {
				_, err := s.Run(ctx, struct{}{}, in1{"a"})
				return err
			}))
		}
		rt, stop := run(renamed("pay", nil, func(context.Context, string) (string, error) {
			return "", restaq.Permanent(errors.New("card refused"))
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "dead")
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		var runs counter
		rt, _ = run(renamed("charge", []string{"pay"}, func(context.Context, string) (string, error) {
			runs.add("charge")
			return "", nil
		}))
		if _, err := rt.Retry(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		wait(t, rt, e.ID, "completed")
		runs.want(t, map[string]int{"charge": 1})
	})
}

func TestARenamedHandlerGoesOnWithItsExecutions(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		s := step("pay", func(context.Context, string) (int, error) { runs.add("pay"); return 1, nil })
		handle := func(done bool) func(ctx context.Context, _ restaq.Event) error {
			return func(ctx context.Context, _ restaq.Event) error {
				if _, err := s.Run(ctx, struct{}{}, in1{"x"}); err != nil || done {
					return err
				}
				return errors.New("not yet")
			}
		}
		event := newEvent()
		rt, stop := start(t, open(), patientConfig(), on("shop.Old", handle(false)))
		e := deliver(t, rt, event)
		attemptEnd(t, rt, e.ID, 1)
		if err := stop(); err != nil {
			t.Fatal(err)
		}

		h := on("shop.New", handle(true))
		h.Was = []string{"shop.Older", "shop.Old"}
		rt, _ = start(t, open(), patientConfig(), h)
		waiting := receive(t, open(), quick(), on("shop.Old", handle(false))) // of the build before
		late := deliver(t, waiting, newEvent())
		makeDue(t, open(), e.ID)
		wait(t, rt, e.ID, "completed")
		wait(t, rt, late.ID, "completed")
		runs.want(t, map[string]int{"pay": 2})

		// The event has its execution: a redelivery makes none, nor does a replay
		// of the event, here or in a process without handlers.
		receipt, err := rt.Deliver(t.Context(), event)
		if err != nil || !receipt.Duplicate || len(receipt.Executions) != 1 || receipt.Executions[0].ID != e.ID {
			t.Errorf("redelivered: %+v, %v", receipt, err)
		}
		bare, err := restaq.New(open(), quick())
		if err != nil {
			t.Fatal(err)
		}
		for name, rt := range map[string]*restaq.Runtime{"the handler's process": rt, "another": bare} {
			if made, err := rt.ReplayEvent(t.Context(), event.Provider, event.ID); err != nil && !errors.Is(err, restaq.ErrNotFound) || len(made) != 0 {
				t.Errorf("%s replayed the event: %+v, %v; want no execution", name, made, err)
			}
		}
		replay, err := rt.Replay(t.Context(), e.ID)
		if err != nil || replay.Handler != "shop.New" {
			t.Errorf("replay: %+v, %v; want it under the new name", replay, err)
		}
		wait(t, rt, replay.ID, "completed")
	})
}

func TestNamesThatHandlersHadBeforeAreTheirs(t *testing.T) {
	handle := func(context.Context, restaq.Event) error { return nil }
	was := func(name string, old ...string) restaq.Handler[restaq.Event] {
		h := on(name, handle)
		h.Was = old
		return h
	}
	ordered := was("new", "old")
	ordered.Order = func(restaq.Event) string { return "k" }
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		for want, parts := range map[string][]restaq.Part{
			`handler "old" too`:                 {was("old"), was("new", "old")},
			`handler "new" too`:                 {was("new", "old"), was("old")},
			`handler "a" too`:                   {was("a", "old"), was("b", "old")},
			"keep the handler's old name":       {ordered},
			`was: "" is empty`:                  {was("new", "")},
			`handler "new" is registered twice`: {was("new", "new")},
		} {
			rt, err := restaq.New(open(), quick())
			if err != nil {
				t.Fatal(err)
			}
			if err := rt.Register(parts...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("register: %v, want %q", err, want)
			}
		}
	})
}
