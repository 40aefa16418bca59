package restaq_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// The tests of this file are the guarantees of the README, in their order, on
// every store.

func TestGuarantee1OneEventOneExecutionPerHandler(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		parts := []restaq.Part{
			on("a", func(_ context.Context, e restaq.Event) error { runs.add("a " + e.ID); return nil }),
			on("b", func(_ context.Context, e restaq.Event) error { runs.add("b " + e.ID); return nil }, "acme.*"),
		}
		one, _ := start(t, open(), quick(), parts...)
		two, _ := start(t, open(), quick(), parts...)
		event := newEvent()

		const deliveries = 100
		receipts := make([]restaq.Receipt, deliveries)
		errs := make([]error, deliveries)
		var ready, all sync.WaitGroup
		ready.Add(1)
		for i := range deliveries {
			rt := one
			if i%2 == 1 {
				rt = two
			}
			all.Go(func() {
				ready.Wait()
				receipts[i], errs[i] = rt.Deliver(t.Context(), event)
			})
		}
		ready.Done()
		all.Wait()

		fresh := 0
		ids := make(map[string]string)
		for i, r := range receipts {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			if !r.Duplicate {
				fresh++
			}
			if len(r.Executions) != 2 {
				t.Fatalf("receipt names %d executions, want 2", len(r.Executions))
			}
			for _, e := range r.Executions {
				if known := ids[e.Handler]; known != "" && known != e.ID {
					t.Errorf("handler %s has executions %s and %s", e.Handler, known, e.ID)
				}
				ids[e.Handler] = e.ID
			}
		}
		if fresh != 1 {
			t.Errorf("%d deliveries were new, want 1", fresh)
		}
		for _, id := range ids {
			wait(t, one, id, "completed")
		}
		runs.want(t, map[string]int{"a " + event.ID: 1, "b " + event.ID: 1})

		// A replay is a further execution; a duplicate's receipt names the original.
		replay, err := one.Replay(t.Context(), ids["a"])
		if err != nil {
			t.Fatal(err)
		}
		wait(t, one, replay.ID, "completed")
		again, err := two.Deliver(t.Context(), event)
		if err != nil || !again.Duplicate || len(again.Executions) != 2 {
			t.Fatalf("after a replay: %+v, %v", again, err)
		}
		for _, e := range again.Executions {
			if e.ID != ids[e.Handler] {
				t.Errorf("a duplicate's receipt names %s, want the original %s", e.ID, ids[e.Handler])
			}
		}
	})
}

// flaky fails inserts as told, before or after the store has done them.
type flaky struct {
	restaq.Store
	mu            sync.Mutex
	before, after int
}

func (f *flaky) Insert(ctx context.Context, in *restaq.Insertion) (bool, []restaq.Execution, error) {
	f.mu.Lock()
	before, after := f.before > 0, f.after > 0
	if before {
		f.before--
	} else if after {
		f.after--
	}
	f.mu.Unlock()
	if before {
		return false, nil, errors.New("connection refused")
	}
	created, executions, err := f.Store.Insert(ctx, in)
	if after && err == nil {
		return false, nil, errors.New("connection reset after the commit")
	}
	return created, executions, err
}

func TestGuarantee2AcknowledgedMeansDurable(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		store := &flaky{Store: open(), before: 2, after: 1}
		part := on("h", func(_ context.Context, e restaq.Event) error { runs.add(e.ID); return nil })
		receiver := receive(t, store, quick(), part)
		server := httptest.NewServer(receiver.Webhook(plain{}))
		defer server.Close()
		post := func(id string) int {
			resp, err := http.Post(server.URL, "application/json", strings.NewReader(`{"id":"`+id+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			return resp.StatusCode
		}
		// Two inserts fail, one is committed though its answer is lost: each is
		// answered 503. The provider delivers again: the first of these is a
		// duplicate of what had been stored.
		for n, want := range []int{503, 503, 503, 200, 200} {
			if got := post("evt_durable"); got != want {
				t.Fatalf("delivery %d answered %d, want %d", n+1, got, want)
			}
		}
		rt, _ := start(t, open(), quick(), part)
		stored, err := rt.List(t.Context(), restaq.Filter{EventID: "evt_durable"})
		if err != nil || len(stored.Executions) != 1 {
			t.Fatalf("list: %+v, %v; want one execution", stored, err)
		}
		wait(t, rt, stored.Executions[0].ID, "completed")
		runs.want(t, map[string]int{"evt_durable": 1})
	})
}

func TestAnInsertWhoseAnswerWasLostIsBegunHere(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Poll = time.Hour
		ran := newGate()
		store := &flaky{Store: open()}
		rt, _ := start(t, store, cfg, on("h", func(_ context.Context, e restaq.Event) error {
			if e.ID == "evt_lost" {
				ran.open()
			}
			return nil
		}))
		for { // until deliveries begin their executions themselves
			if deliver(t, rt, newEvent()).Status == restaq.Running {
				break
			}
		}
		store.mu.Lock()
		store.after = 1
		store.mu.Unlock()
		if _, err := rt.Deliver(t.Context(), restaq.Event{ID: "evt_lost", Type: "acme.order.created"}); err == nil {
			t.Fatal("the answer was not lost")
		}
		await(t, ran)
	})
}

// plain is a provider of unsigned {"id": …} bodies.
type plain struct{}

func (plain) Endpoint() restaq.Endpoint { return restaq.Endpoint{Provider: "acme"} }

func (plain) Receive(r *http.Request, body []byte, _ time.Time) (*restaq.Received, error) {
	id, ok := strings.CutPrefix(string(body), `{"id":"`)
	if !ok {
		return nil, fmt.Errorf("%w: no id", restaq.ErrMalformed)
	}
	if r.Header.Get("Signature") == "wrong" {
		return nil, fmt.Errorf("%w: wrong signature", restaq.ErrNotAuthentic)
	}
	return &restaq.Received{Events: []restaq.Event{{ID: strings.TrimSuffix(id, `"}`), Type: "acme.order.created", Payload: body}}}, nil
}

func TestGuarantee3ACompletedStepNeverRunsAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		first := step("first", func(_ context.Context, v string) (int, error) { return runs.add("first"), nil })
		second := step("second", func(_ context.Context, v string) (string, error) {
			if runs.add("second") < 3 {
				return "", errors.New("not yet")
			}
			return v, nil
		})
		handler := on("h", func(ctx context.Context, _ restaq.Event) error {
			n, err := first.Run(ctx, struct{}{}, in1{"x"})
			if err != nil {
				return err
			}
			if n != 1 {
				t.Errorf("attempt %d got %d from the first step, want the record's 1", restaq.Attempt(ctx), n)
			}
			_, err = second.Run(ctx, struct{}{}, in1{"x"})
			return err
		})
		// Each attempt runs in a process of its own.
		for attempt := 1; attempt <= 3; attempt++ {
			cfg := quick()
			cfg.Backoff = restaq.Backoff{Min: time.Hour, Max: time.Hour}
			rt, stop := start(t, open(), cfg, handler)
			var e restaq.Execution
			if attempt == 1 {
				e = deliver(t, rt, restaq.Event{ID: "evt_3", Type: "acme.order.created"})
				e = attemptEnd(t, rt, e.ID, 1)
			} else {
				page, err := rt.List(t.Context(), restaq.Filter{EventID: "evt_3"})
				if err != nil {
					t.Fatal(err)
				}
				if e, err = rt.Retry(t.Context(), page.Executions[0].ID); err != nil {
					t.Fatal(err)
				}
			}
			if e.Attempts != attempt {
				t.Fatalf("attempts %d, want %d", e.Attempts, attempt)
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		}
		runs.want(t, map[string]int{"first": 1, "second": 3})
	})
}

// attemptEnd returns the execution when attempt n has ended.
func attemptEnd(t *testing.T, rt *restaq.Runtime, id string, n int) restaq.Execution {
	t.Helper()
	var e restaq.Execution
	eventually(t, func() bool {
		h := inspect(t, rt, id)
		e = h.Execution
		for _, a := range h.Tries {
			if a.Number == n && a.Outcome != "" {
				return true
			}
		}
		if h.Final() {
			t.Fatalf("execution is %s before attempt %d ended:\n%s", h.Status, n, h.Tree())
		}
		return false
	})
	return e
}

func TestGuarantee4AFailedStepRunsAgainAndAPanicIsAFailure(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		flaky := step("flaky", func(_ context.Context, v string) (string, error) {
			switch runs.add("flaky") {
			case 1:
				return "", errors.New("boom")
			case 2:
				panic("oh no")
			}
			return v, nil
		})
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			_, err := flaky.Run(ctx, struct{}{}, in1{"x"})
			return err
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		runs.want(t, map[string]int{"flaky": 3})
		h := inspect(t, rt, e.ID)
		if s := h.Tries[1].Steps[0]; s.Error != "panic: oh no" || !strings.Contains(s.Stack, "guarantees_test.go") {
			t.Errorf("recorded panic: %q with stack %q", s.Error, s.Stack)
		}
	})
}

func TestGuarantee5RestartRunsEveryStepAgainOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		one := step("one", func(context.Context, string) (int, error) { return runs.add("one"), nil })
		two := step("two", func(context.Context, string) (int, error) {
			n := runs.add("two")
			if n == 2 { // late in the restarted attempt
				return 0, errors.New("late failure")
			}
			return n, nil
		})
		var seen []string
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			a, err := one.Run(ctx, struct{}{}, in1{"x"})
			if err != nil {
				return err
			}
			b, err := two.Run(ctx, struct{}{}, in1{"x"})
			if err == nil {
				seen = append(seen, fmt.Sprint(a, b))
			}
			return err
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		if _, err := rt.Restart(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		wait(t, rt, e.ID, "completed")
		// Attempt 2 restarts: one runs again, two fails. Attempt 3 skips one,
		// with the restart's record, and runs two.
		runs.want(t, map[string]int{"one": 2, "two": 3})
		if want := []string{"1 1", "2 3"}; !reflect.DeepEqual(seen, want) {
			t.Errorf("completed attempts saw %q, want %q", seen, want)
		}
		want := "├─ Attempt 1\n│  ├─ one: completed\n│  └─ two: completed\n" +
			"├─ Attempt 2 (restart)\n│  ├─ one: completed\n│  └─ two: failed (late failure)\n" +
			"└─ Attempt 3\n   ├─ one: (skipped - cached)\n   └─ two: completed\n"
		if got := inspect(t, rt, e.ID).Tree(); !strings.HasSuffix(got, want) {
			t.Errorf("history:\n%swant it to end:\n%s", got, want)
		}
	})
}

func TestGuarantee6HistoryIsAppendOnly(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		s := step("s", func(context.Context, string) (int, error) {
			n := runs.add("s")
			if n%2 == 1 {
				return 0, fmt.Errorf("failure %d", n)
			}
			return n, nil
		})
		store := open()
		rt, _ := start(t, store, quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			return err
		}))
		e := deliver(t, rt, newEvent())
		var before *restaq.StoredExecution
		for range 3 {
			wait(t, rt, e.ID, "completed")
			h, err := store.History(t.Context(), e.ID)
			if err != nil {
				t.Fatal(err)
			}
			if before != nil {
				if n := len(before.Attempts); !reflect.DeepEqual(h.Attempts[:n], before.Attempts) {
					t.Errorf("attempts changed: %+v, were %+v", h.Attempts[:n], before.Attempts)
				}
				if n := len(before.Steps); !reflect.DeepEqual(h.Steps[:n], before.Steps) {
					t.Errorf("steps changed: %+v, were %+v", h.Steps[:n], before.Steps)
				}
				if len(h.Attempts) != len(before.Attempts)+2 {
					t.Errorf("%d attempts, want 2 more than %d", len(h.Attempts), len(before.Attempts))
				}
			}
			before = h
			if _, err := rt.Restart(t.Context(), e.ID); err != nil {
				t.Fatal(err)
			}
		}
		wait(t, rt, e.ID, "completed")
	})
}

// takeOver makes another process's claim of a running execution, as if its
// lease had run out.
// odd is a value that JSON does not return as it was.
type odd struct {
	Kept   string
	hidden int
	Nil    []int
	Empty  map[string]int
	Any    any
	At     time.Time
}

func TestGuarantee8FirstRunAndReplayAreTheSame(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		s := step("s", func(context.Context, string) (odd, error) {
			return odd{Kept: "\xff", hidden: 7, Empty: map[string]int{}, Any: 1, At: time.Now()}, nil
		})
		var seen []odd
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			v, err := s.Run(ctx, struct{}{}, in1{"x"})
			if err != nil {
				return err
			}
			seen = append(seen, v)
			if restaq.Attempt(ctx) == 1 {
				return errors.New("once more")
			}
			return nil
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		if len(seen) != 2 || !reflect.DeepEqual(seen[0], seen[1]) {
			t.Errorf("first run and replay differ: %+v", seen)
		}
	})
}

func TestGuarantee9NoSilentWrongAnswers(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		type before struct{ Amount int }
		type after struct{ Total int }
		event := newEvent()
		v1 := step("pay", func(context.Context, string) (before, error) { return before{5}, nil })
		cfg := quick()
		cfg.Backoff = restaq.Backoff{Min: time.Hour, Max: time.Hour}
		rt, stop := start(t, open(), cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			if _, err := v1.Run(ctx, struct{}{}, in1{"x"}); err != nil {
				return err
			}
			return errors.New("deployed in between")
		}))
		e := deliver(t, rt, event)
		attemptEnd(t, rt, e.ID, 1)
		if err := stop(); err != nil {
			t.Fatal(err)
		}

		v2 := step("pay", func(context.Context, string) (after, error) { return after{5}, nil })
		v2.Codec.Shape, v2.Codec.Earlier = "shape-2", []string{"shape-1"}
		rt, stop = start(t, open(), cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			got, err := v2.Run(ctx, struct{}{}, in1{"x"})
			if err == nil {
				t.Errorf("a record of another shape came back as %+v", got)
			}
			return nil // even if the handler goes past the error
		}))
		got, err := rt.Retry(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Dead() || !strings.Contains(got.Error, "step pay") || !strings.Contains(got.Error, `"shape-1"`) || !strings.Contains(got.Error, `"shape-2"`) {
			t.Errorf("execution is %s: %s; want it dead, naming step and both shapes", word(&got), got.Error)
		}
		if page, err := rt.List(t.Context(), restaq.Filter{StoppedBy: restaq.StoppedBySchema}); err != nil || len(page.Executions) != 1 {
			t.Errorf("stopped by schema: %+v, %v; want the execution", page.Executions, err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}

		// A type that reads the old shape without loss goes on.
		v2.Codec.Reads, v2.Codec.Earlier = []string{"shape-1"}, nil
		rt, _ = start(t, open(), cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			_, err := v2.Run(ctx, struct{}{}, in1{"x"})
			return err
		}))
		if _, err := rt.Retry(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		wait(t, rt, e.ID, "completed")
	})
}

// mute is an error whose text cannot be had.
type mute struct{}

func (mute) Error() string { panic("no text") }

func TestGuarantee10TheFailureItselfCanAlwaysBeRecorded(t *testing.T) {
	nasty := "\x00\xff\xed\xa0\x80 \u2028 '; DROP TABLE --\r\n" + strings.Repeat("x", 200_000)
	failures := map[string]func() (string, error){
		"bytes":     func() (string, error) { return "", errors.New(nasty) },
		"panic":     func() (string, error) { panic(nasty) },
		"nil panic": func() (string, error) { panic(nil) },
		"mute":      func() (string, error) { return "", mute{} },
		"permanent": func() (string, error) { return "", restaq.Permanent(errors.New(nasty)) },
		"output":    func() (string, error) { return nasty, nil },
	}
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Attempts = 1
		rt, _ := start(t, open(), cfg, on("h", func(ctx context.Context, e restaq.Event) error {
			s := step("s", func(context.Context, string) (string, error) { return failures[e.Header.Get("Case")]() })
			_, err := s.Run(ctx, struct{}{}, in1{nasty})
			return err
		}))
		for name := range failures {
			event := newEvent()
			event.Payload = []byte(nasty)
			event.Header = http.Header{"Case": {name}, "X-\x00": {nasty}}
			e := deliver(t, rt, event)
			want := "dead"
			if name == "output" {
				want = "completed"
			}
			got := wait(t, rt, e.ID, want)
			h := inspect(t, rt, e.ID)
			if len(h.Tries) != 1 || len(h.Tries[0].Steps) != 1 || (want == "dead") != (h.Tries[0].Steps[0].Error != "") {
				t.Errorf("%s: history:\n%serror %.80q", name, h.Tree(), got.Error)
			}
			if string(h.Payload) != nasty {
				t.Errorf("%s: the payload changed", name)
			}
		}
	})
}

func TestGuarantee11EveryStepHasAStableIdempotencyKey(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var mu sync.Mutex
		keys := make(map[string][]string) // by execution
		record := func(ctx context.Context, v string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			id := restaq.ExecutionID(ctx)
			keys[id] = append(keys[id], restaq.IdempotencyKey(ctx))
			if len(keys[id]) == 1 {
				return "", errors.New("after the side effect")
			}
			return v, nil
		}
		s := step("s", record)
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			return err
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		if _, err := rt.Restart(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		replay, err := rt.Replay(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		wait(t, rt, e.ID, "completed")
		wait(t, rt, replay.ID, "completed")
		mu.Lock()
		defer mu.Unlock()
		own, other := keys[e.ID], keys[replay.ID]
		if len(own) != 3 || own[0] == "" || own[1] != own[0] || own[2] != own[0] {
			t.Errorf("keys over retry and restart: %q, want three alike", own)
		}
		if len(other) != 2 || other[0] == own[0] || other[1] != other[0] {
			t.Errorf("keys of the replay: %q, want two alike, unlike %q", other, own[0])
		}
	})
}
