package restaq_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/codec"
)

// Faults that other durable engines were reported for.

func TestStepsRenamedInsertedAndMovedWhileAnExecutionIsInFlight(t *testing.T) {
	versions := map[string][]string{ // what the next build calls, in order
		"inserted": {"one", "new", "two", "three"},
		"removed":  {"two", "three"},
		"swapped":  {"two", "one", "three"},
		"renamed":  {"uno", "two", "three"},
	}
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		for name, next := range versions {
			t.Run(name, func(t *testing.T) {
				var runs counter
				_, h := run(t, store, quick(), "completed", func(ctx context.Context, _ restaq.Event) error {
					names := []string{"one", "two"}
					if restaq.Attempt(ctx) > 1 {
						names = next
					}
					for _, name := range names {
						got, err := step(name, func(context.Context, string) (string, error) {
							runs.add(name)
							return "output of " + name, nil
						}).Run(ctx, struct{}{}, in1{"x"})
						if err != nil {
							return err
						}
						if got != "output of "+name {
							t.Errorf("step %s returned the %s", name, got)
						}
					}
					if restaq.Attempt(ctx) == 1 {
						return errors.New("deployed in between")
					}
					return nil
				})
				for _, name := range next {
					runs.want(t, map[string]int{name: 1})
				}
				unused := h.Tries[1].Unused
				if (name == "removed" || name == "renamed") != (len(unused) == 1) {
					t.Errorf("unused records %v", unused)
				}
			})
		}
	})
}

func TestALoopGoesOnWhereItStopped(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		s := step("s", func(_ context.Context, v string) (string, error) {
			if n := runs.add(v); v == "4" && n == 1 {
				return "", errors.New("cut off")
			}
			return v, nil
		})
		s.Key = func(in in1) string { return in.v }
		run(t, open(), quick(), "completed", func(ctx context.Context, _ restaq.Event) error {
			for i := range 5 {
				if _, err := s.Run(ctx, struct{}{}, in1{fmt.Sprint(i + 1)}); err != nil {
					return err
				}
			}
			return nil
		})
		runs.want(t, map[string]int{"1": 1, "2": 1, "3": 1, "4": 2, "5": 1})
	})
}

// outputs runs a step with an output of each kind and compares it over two
// attempts.
func sameTwice[Out any](t *testing.T, store restaq.Store, out Out) {
	t.Helper()
	var runs counter
	var seen []Out
	s := step("s", func(context.Context, string) (Out, error) { runs.add("s"); return out, nil })
	run(t, store, quick(), "completed", func(ctx context.Context, _ restaq.Event) error {
		got, err := s.Run(ctx, struct{}{}, in1{"x"})
		if err != nil {
			return err
		}
		seen = append(seen, got)
		if restaq.Attempt(ctx) == 1 {
			return errors.New("once more")
		}
		return nil
	})
	runs.want(t, map[string]int{"s": 1})
	if len(seen) != 2 || !reflect.DeepEqual(seen[0], out) || !reflect.DeepEqual(seen[1], out) {
		t.Errorf("%T %+v came back as %+v", out, out, seen)
	}
}

func TestNilZeroAndEmptyOutputsAreCompleted(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		sameTwice[*int](t, store, nil)
		sameTwice(t, store, "")
		sameTwice(t, store, 0)
		sameTwice(t, store, struct{}{})
		sameTwice[[]byte](t, store, nil)
		sameTwice(t, store, []byte{})
		sameTwice[map[string]int](t, store, nil)
		sameTwice(t, store, map[string]int{})
		sameTwice(t, store, int64(9007199254740993))
		sameTwice(t, store, json.Number("1e400"))

		// A step without an output.
		var runs counter
		none := &restaq.Step[struct{}, in1, restaq.None]{
			Name: "none", Func: "example.com/test.none",
			Call: func(context.Context, struct{}, in1) (restaq.None, error) { runs.add("none"); return restaq.None{}, nil },
			Codec: restaq.Codec[in1, restaq.None]{
				AppendIn: func(dst []byte, in *in1) ([]byte, error) { return codec.AppendTuple(dst, in.v) },
			},
		}
		run(t, store, quick(), "completed", func(ctx context.Context, _ restaq.Event) error {
			if _, err := none.Run(ctx, struct{}{}, in1{"x"}); err != nil {
				return err
			}
			return map[int]error{1: errors.New("once more")}[restaq.Attempt(ctx)]
		})
		runs.want(t, map[string]int{"none": 1})
	})
}

func TestASenderThatHangsUpHarmsNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		release := newGate()
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error { return release.pass(ctx) }))
		endpoint := rt.Webhook(plain{})
		ctx, hangUp := context.WithCancel(t.Context())
		hangUp() // before the event is stored
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(`{"id":"evt_hung_up"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		endpoint.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("answered %d %s", w.Code, w.Body)
		}
		release.open()
		page, err := rt.List(t.Context(), restaq.Filter{EventID: "evt_hung_up"})
		if err != nil || len(page.Executions) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		if e := wait(t, rt, page.Executions[0].ID, "completed"); e.Attempts != 1 {
			t.Errorf("%d attempts, want 1", e.Attempts)
		}
	})
}

func TestADuplicateDoesNotWaitForTheFirstDelivery(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered, release := newGate(), newGate()
		var runs counter
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			if runs.add("h") == 1 {
				entered.open()
			}
			return release.pass(ctx)
		}))
		event := newEvent()
		first := deliver(t, rt, event)
		await(t, entered)
		for range 10 {
			receipt, err := rt.Deliver(t.Context(), event)
			if err != nil || !receipt.Duplicate || receipt.Executions[0].ID != first.ID || receipt.Executions[0].Status != restaq.Running {
				t.Errorf("redelivery: %+v, %v", receipt, err)
			}
		}
		release.open()
		wait(t, rt, first.ID, "completed")
		runs.want(t, map[string]int{"h": 1})
	})
}

func TestOneIDAtTwoEndpointsIsTwoEvents(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt := receive(t, open(), quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		event := newEvent()
		for _, source := range []string{"acme", "acme-test"} {
			event.Source = source
			deliver(t, rt, event)
		}
	})
}

// spiteful is an error whose methods panic.
type spiteful struct{}

func (spiteful) Error() string   { return "spite" }
func (spiteful) Is(error) bool   { panic("is") }
func (spiteful) As(any) bool     { panic("as") }
func (spiteful) Unwrap() []error { panic("unwrap") }

func TestErrorsWhoseMethodsPanicAreFailures(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Attempts = 1
		cfg.Errors = []error{errDeclined, (*cardError)(nil)}
		s := step("s", func(context.Context, string) (string, error) { return "", spiteful{} })
		_, h := run(t, open(), cfg, "dead", func(ctx context.Context, _ restaq.Event) error {
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			return err
		})
		if h.Error != "step s: spite" {
			t.Errorf("error %q", h.Error)
		}
	})
}

func TestAStepNameThatCannotBeStoredStopsTheExecution(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		for _, name := range []string{"", "a\x00b", "\xff", strings.Repeat("x", 2000)} {
			_, h := run(t, store, quick(), "dead", func(ctx context.Context, _ restaq.Event) error {
				_, err := restaq.Do(ctx, name, func(context.Context) (int, error) { return 1, nil })
				return err
			})
			if !strings.Contains(h.Error, "its name") {
				t.Errorf("error %q", h.Error)
			}
		}
	})
}

func TestInvokeRunsARegisteredStepFromEncodedInputs(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		s := step("s", func(_ context.Context, v string) (string, error) {
			if v == "panic" {
				panic(v)
			}
			return "got " + v, nil
		})
		rt := receive(t, open(), quick(), s.Bind(struct{}{}))
		if out, err := rt.Invoke(t.Context(), s.Func, []byte(`["x"]`)); err != nil || string(out) != `"got x"` {
			t.Errorf("got %s, %v", out, err)
		}
		if _, err := rt.Invoke(t.Context(), s.Func, []byte(`["panic"]`)); err == nil || err.Error() != "panic: panic" {
			t.Errorf("panic: %v", err)
		}
		for _, bad := range []string{``, `[]`, `[1]`, `["a","b"]`} {
			if _, err := rt.Invoke(t.Context(), s.Func, []byte(bad)); err == nil {
				t.Errorf("inputs %q: no error", bad)
			}
		}
		if _, err := rt.Invoke(t.Context(), "example.com/test.unknown", nil); !errors.Is(err, restaq.ErrNotFound) {
			t.Errorf("unknown step: %v", err)
		}
		if err := rt.Register(s.Bind(struct{}{})); err == nil || !strings.Contains(err.Error(), "registered twice") {
			t.Errorf("registered twice: %v", err)
		}
	})
}
