package restaq_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

func TestRetryOnFinishedExecutions(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		rt, _ := start(t, open(), quick(), on("h", func(context.Context, restaq.Event) error { runs.add("h"); return nil }))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		if got, err := rt.Retry(t.Context(), e.ID); err != nil || got.Status != restaq.Completed || got.Attempts != 1 {
			t.Errorf("retry of a completed execution: %+v, %v", got, err)
		}
		if _, err := rt.Cancel(t.Context(), e.ID); !errors.Is(err, restaq.ErrFinal) {
			t.Errorf("cancel of a completed execution: %v, want ErrFinal", err)
		}
		runs.want(t, map[string]int{"h": 1})
		for _, id := range []string{"00000000-0000-7000-8000-000000000000", "", "\x00", "no such", strings.Repeat("x", 5000)} {
			_, retry := rt.Retry(t.Context(), id)
			_, restart := rt.Restart(t.Context(), id)
			_, replay := rt.Replay(t.Context(), id)
			_, cancel := rt.Cancel(t.Context(), id)
			_, wait := rt.Wait(t.Context(), id)
			_, inspect := rt.Inspect(t.Context(), id)
			for _, err := range []error{retry, restart, replay, cancel, wait, inspect} {
				if !errors.Is(err, restaq.ErrNotFound) {
					t.Errorf("unknown id %.40q: %v, want ErrNotFound", id, err)
				}
			}
		}
	})
}

// joining lets the past be loaded only when a retry has found the attempt under
// way.
type joining struct {
	restaq.Store
	loading, joined gate
}

func (j *joining) History(ctx context.Context, id string) (*restaq.StoredExecution, error) {
	j.loading.open()
	if err := j.joined.pass(ctx); err != nil {
		return nil, err
	}
	return j.Store.History(ctx, id)
}

func (j *joining) Change(ctx context.Context, id string, c restaq.Change) (*restaq.Execution, bool, error) {
	e, changed, err := j.Store.Change(ctx, id, c)
	if c.To == restaq.Pending && err == nil && e.Status == restaq.Running {
		j.joined.open()
	}
	return e, changed, err
}

func TestARetryThatJoinsAnAttemptWhichDoesNotCountReturns(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		part := on("h", func(context.Context, restaq.Event) error { return errors.New("must not run") })
		e := deliver(t, receive(t, store, quick(), part), newEvent())
		claimed, err := store.Claim(t.Context(), restaq.Claim{Owner: "crashed", Lease: -time.Hour, Handlers: []string{"h"}, Limit: 1})
		if err != nil || len(claimed) != 1 {
			t.Fatalf("claim: %+v, %v", claimed, err)
		}
		cfg := quick()
		cfg.Attempts = 1 // and it was lost
		slow := &joining{Store: open(), loading: newGate(), joined: newGate()}
		rt, _ := start(t, slow, cfg, part)
		await(t, slow.loading)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if got, err := rt.Retry(ctx, e.ID); err != nil || !got.Dead() || got.Attempts != 1 {
			t.Errorf("retry: %s after %d attempts, %v; want dead after 1", word(&got), got.Attempts, err)
		}
	})
}

func TestCancelIsFinal(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered := newGate()
		cause := make(chan error, 1)
		s := step("s", func(ctx context.Context, v string) (string, error) {
			entered.open()
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return v, nil // a late success
		})
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			s.Run(ctx, struct{}{}, in1{"x"})
			return nil // another
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		got, err := rt.Cancel(t.Context(), e.ID)
		if err != nil || got.Status != restaq.Cancelled {
			t.Fatalf("cancel: %+v, %v", got, err)
		}
		if err := await(t, cause); !errors.Is(err, restaq.ErrCancelled) {
			t.Errorf("the step's context ended with %v, want ErrCancelled", err)
		}
		wait(t, rt, e.ID, "cancelled")
		if got, err := rt.Cancel(t.Context(), e.ID); err != nil || got.Status != restaq.Cancelled {
			t.Errorf("cancelled again: %+v, %v", got, err)
		}
		if _, err := rt.Retry(t.Context(), e.ID); !errors.Is(err, restaq.ErrFinal) {
			t.Errorf("retry: %v, want ErrFinal", err)
		}
		if _, err := rt.Restart(t.Context(), e.ID); !errors.Is(err, restaq.ErrFinal) {
			t.Errorf("restart: %v, want ErrFinal", err)
		}
		h := inspect(t, rt, e.ID)
		if len(h.Tries) != 1 || h.Tries[0].Outcome != restaq.AttemptCancelled || len(h.Tries[0].Steps) != 0 {
			t.Errorf("history:\n%swant one cancelled attempt without records", h.Tree())
		}
	})
}

func TestCancelTakesEffectFromAnotherProcess(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered := newGate()
		cfg := quick()
		cfg.Lease = 900 * time.Millisecond
		ended := make(chan error, 1)
		rt, _ := start(t, open(), cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			entered.open()
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return ctx.Err()
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		command, err := restaq.New(open(), quick())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := command.Cancel(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := restaq.New(nil, restaq.Config{}); err == nil {
			t.Error("a runtime without a store was made")
		}
		if err := await(t, ended); err == nil {
			t.Error("the attempt's context did not end")
		}
		wait(t, rt, e.ID, "cancelled")
	})
}

func TestWishesFromAProcessWithoutHandlers(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		cfg := quick()
		cfg.Attempts = 1
		rt, _ := start(t, open(), cfg, on("h", func(context.Context, restaq.Event) error {
			if runs.add("h") == 1 {
				return errors.New("dead at once")
			}
			return nil
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "dead")

		command, err := restaq.New(open(), quick())
		if err != nil {
			t.Fatal(err)
		}
		for n, wish := range []func(context.Context, string) (restaq.Execution, error){command.Retry, command.Restart, command.Replay} {
			got, err := wish(t.Context(), e.ID)
			if err != nil {
				t.Fatal(err)
			}
			wait(t, rt, got.ID, "completed")
			runs.want(t, map[string]int{"h": n + 2})
		}
	})
}

func TestReplayEventRunsHandlersThatHaveNoExecution(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		part := func(name string) restaq.Part {
			return on(name, func(context.Context, restaq.Event) error { runs.add(name); return nil })
		}
		first, stop := start(t, open(), quick(), part("first"))
		event := newEvent()
		e := deliver(t, first, event)
		wait(t, first, e.ID, "completed")
		if err := stop(); err != nil {
			t.Fatal(err)
		}

		rt, _ := start(t, open(), quick(), part("first"), part("added"))
		if receipt, err := rt.Deliver(t.Context(), newEvent()); err != nil || len(receipt.Executions) != 2 {
			t.Fatalf("%+v, %v", receipt, err) // the store now knows both
		}
		command, err := restaq.New(open(), quick())
		if err != nil {
			t.Fatal(err)
		}
		made, err := command.ReplayEvent(t.Context(), "acme", event.ID)
		if err != nil || len(made) != 1 || made[0].Handler != "added" {
			t.Fatalf("replay event: %+v, %v; want one execution of the added handler", made, err)
		}
		wait(t, rt, made[0].ID, "completed")
		if made, err := rt.ReplayEvent(t.Context(), "acme", event.ID); err != nil || len(made) != 0 {
			t.Errorf("replay event again: %+v, %v; want none", made, err)
		}
		if _, err := rt.ReplayEvent(t.Context(), "acme", "evt_unknown"); !errors.Is(err, restaq.ErrNotFound) {
			t.Errorf("unknown event: %v", err)
		}
	})
}

func TestEventsThatNobodySubscribesTo(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cases := []struct {
			policy      restaq.Unhandled
			kept, lives bool // listed as unhandled; can be run later
		}{
			{restaq.KeepUnhandled, true, true},
			{restaq.KeepUnhandledWithoutPayload, true, false},
			{restaq.DropUnhandled, false, false},
		}
		for _, tc := range cases {
			cfg := quick()
			cfg.Unhandled = tc.policy
			rt := receive(t, open(), cfg, on("h", func(context.Context, restaq.Event) error { return nil }))
			event := newEvent()
			event.Type = "acme.order.deleted"
			receipt, err := rt.Deliver(t.Context(), event)
			if err != nil || receipt.Duplicate || len(receipt.Executions) != 0 {
				t.Fatalf("policy %d: %+v, %v", tc.policy, receipt, err)
			}
			page, err := rt.List(t.Context(), restaq.Filter{Unhandled: true, EventID: event.ID})
			if err != nil || (len(page.Executions) == 1) != tc.kept {
				t.Errorf("policy %d: listed %+v, %v; want kept %v", tc.policy, page, err, tc.kept)
			}
			again, err := rt.Deliver(t.Context(), event)
			if err != nil || again.Duplicate != tc.kept {
				t.Errorf("policy %d: redelivery %+v, %v", tc.policy, again, err)
			}
			later, _ := start(t, open(), quick(), on("later", func(_ context.Context, e restaq.Event) error {
				if !bytes.Equal(e.Payload, event.Payload) {
					t.Errorf("payload %q, want %q", e.Payload, event.Payload)
				}
				return nil
			}, "acme.order.deleted"))
			made, err := later.ReplayEvent(t.Context(), "acme", event.ID)
			switch {
			case tc.lives:
				if err != nil || len(made) != 1 {
					t.Fatalf("policy %d: replay event: %+v, %v", tc.policy, made, err)
				}
				wait(t, later, made[0].ID, "completed")
			case tc.kept:
				if !errors.Is(err, restaq.ErrNoPayload) {
					t.Errorf("policy %d: replay event: %v, want ErrNoPayload", tc.policy, err)
				}
			default:
				if !errors.Is(err, restaq.ErrNotFound) {
					t.Errorf("policy %d: replay event: %v, want ErrNotFound", tc.policy, err)
				}
			}
		}
	})
}

func TestRegistrationErrors(t *testing.T) {
	handle := func(context.Context, restaq.Event) error { return nil }
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt, err := restaq.New(open(), quick())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rt.Deliver(t.Context(), newEvent()); !errors.Is(err, restaq.ErrNotRegistered) {
			t.Errorf("delivery without handlers: %v", err)
		}
		if err := rt.Run(t.Context()); !errors.Is(err, restaq.ErrNotRegistered) {
			t.Errorf("run without handlers: %v", err)
		}
		for want, parts := range map[string][]restaq.Part{
			`handler "a" is registered twice`: {on("a", handle), on("a", handle)},
			`name is empty`:                   {on("", handle)},
			`func: is nil`:                    {on("a", nil)},
			`events: is empty`:                {restaq.Handler[restaq.Event]{Name: "a", Func: handle}},
			`whole last segment`:              {on("a", handle, "acme.*.x")},
			`decode: is nil`:                  {restaq.Handler[int]{Name: "a", Events: []string{"x"}, Func: func(context.Context, int) error { return nil }}},
			`graph: is no JSON`:               {restaq.Handler[restaq.Event]{Name: "a", Events: []string{"x"}, Func: handle, Graph: "{"}},
			`a part is nil`:                   {nil},
		} {
			if err := rt.Register(parts...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("register: %v, want %q", err, want)
			}
		}
		// What failed registered nothing.
		if err := rt.Register(on("a", handle)); err != nil {
			t.Fatal(err)
		}
		deliver(t, rt, newEvent())
		if err := rt.Register(on("b", handle)); !errors.Is(err, restaq.ErrNotRegistered) {
			t.Errorf("registration after the first delivery: %v", err)
		}
	})
}

// silent answers the first call, which tells it of handlers, only when released.
type silent struct {
	restaq.Store
	entered, release gate
}

func (m *silent) FingerprintKey(ctx context.Context) ([]byte, error) {
	m.entered.open()
	return nil, m.release.pass(ctx)
}

func TestADeliveryDoesNotWaitForAnAnnouncementLongerThanItsContext(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := &silent{Store: open(), entered: newGate(), release: newGate()}
		rt := receive(t, store, quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		first := make(chan error)
		go func() {
			_, err := rt.Deliver(t.Context(), newEvent())
			first <- err
		}()
		await(t, store.entered)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := rt.Deliver(ctx, newEvent()); !errors.Is(err, context.Canceled) {
			t.Errorf("second delivery: %v, want its context's error", err)
		}
		store.release.open()
		if err := await(t, first); err != nil {
			t.Errorf("first delivery: %v", err)
		}
	})
}

func TestInvalidEventsAreRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt := receive(t, open(), quick(), on("h", func(context.Context, restaq.Event) error { return nil }, "*"))
		for name, e := range map[string]restaq.Event{
			"no id":        {Type: "acme.x"},
			"no type":      {ID: "1"},
			"no subtype":   {ID: "1", Type: "acme."},
			"other type":   {ID: "1", Type: "other.x", Provider: "acme"},
			"NUL":          {ID: "a\x00b", Type: "acme.x"},
			"not UTF-8":    {ID: "\xff", Type: "acme.x"},
			"long id":      {ID: strings.Repeat("x", 1025), Type: "acme.x"},
			"line feed":    {ID: "1", Type: "acme.x\n"},
			"large":        {ID: "1", Type: "acme.x", Payload: make([]byte, 64<<20+1)},
			"empty source": {ID: "1", Type: ".x"},
		} {
			if _, err := rt.Deliver(t.Context(), e); !errors.Is(err, restaq.ErrInvalidEvent) {
				t.Errorf("%s: %v, want ErrInvalidEvent", name, err)
			}
		}
	})
}

func TestListAndPrune(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Attempts = 1
		rt, _ := start(t, open(), cfg, on("h", func(_ context.Context, e restaq.Event) error {
			if e.Header.Get("Fail") != "" {
				return errors.New("failed")
			}
			return nil
		}))
		var ids []string
		for i := range 5 {
			event := newEvent()
			if i == 0 {
				event.Header = map[string][]string{"Fail": {"yes"}}
			}
			e := deliver(t, rt, event)
			if _, err := rt.Wait(t.Context(), e.ID); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.ID)
		}
		var listed []string
		f := restaq.Filter{Limit: 2}
		for {
			page, err := rt.List(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Executions {
				listed = append(listed, e.ID)
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
		for i := range ids {
			if listed[len(ids)-1-i] != ids[i] {
				t.Fatalf("listed %v, want %v backwards", listed, ids)
			}
		}
		if dead, err := rt.List(t.Context(), restaq.Filter{Statuses: []string{"dead"}, EventType: "acme.*"}); err != nil || len(dead.Executions) != 1 || dead.Executions[0].ID != ids[0] {
			t.Errorf("dead: %+v, %v", dead, err)
		}
		for _, bad := range []restaq.Filter{{Limit: -1}, {Limit: 1001}, {Statuses: []string{"done"}}, {EventType: "a*"}, {Cursor: "nonsense"}} {
			if _, err := rt.List(t.Context(), bad); err == nil {
				t.Errorf("filter %+v: no error", bad)
			}
		}
		for _, bad := range []restaq.Prune{{}, {OlderThan: time.Hour, Statuses: []string{"running"}}, {OlderThan: 1, Limit: -1}} {
			if _, err := rt.Prune(t.Context(), bad); err == nil {
				t.Errorf("prune %+v: no error", bad)
			}
		}
		if none, err := rt.Prune(t.Context(), restaq.Prune{OlderThan: time.Hour}); err != nil || none.Executions != 0 {
			t.Errorf("prune of what is an hour old: %+v, %v", none, err)
		}
		pruned, err := rt.Prune(t.Context(), restaq.Prune{OlderThan: time.Nanosecond, Statuses: []string{"completed"}})
		if err != nil || pruned.Executions != 4 || pruned.Payloads != 4 {
			t.Errorf("pruned %+v, %v; want 4", pruned, err)
		}
		if _, err := rt.Inspect(t.Context(), ids[1]); !errors.Is(err, restaq.ErrNotFound) {
			t.Errorf("inspect of a pruned execution: %v", err)
		}
		inspect(t, rt, ids[0])
	})
}

// syncBuffer is a buffer for several goroutines.
