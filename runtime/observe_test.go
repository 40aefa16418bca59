package restaq_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/webhook"
)

// sight is an observer and a set of hooks that note what they are told.
type sight struct {
	mu      sync.Mutex
	lines   []string
	store   map[string]int
	commits int  // writes that commits held
	panics  bool // each call panics
}

type sightKey struct{}

func (s *sight) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
	if s.panics {
		panic("observer")
	}
}

func (s *sight) Delivery(ctx context.Context, e *restaq.Event) (context.Context, func(*restaq.Receipt, error)) {
	s.note("delivery %s", e.ID)
	e.Header = http.Header{"Traceparent": {"of the delivery"}}
	return ctx, func(r *restaq.Receipt, err error) { s.note("delivered %d %v", len(r.Executions), err) }
}

func (s *sight) Refused(_ context.Context, r *restaq.Refusal) {
	s.note("refused %s %d", r.Source, r.Status)
}

func (s *sight) Attempt(ctx context.Context, a *restaq.AttemptStart) (context.Context, string, func(*restaq.AttemptEnd)) {
	s.note("attempt %d of %s, kind %v, took over %v, earlier %q, header %v", a.Attempt, a.Handler, a.Kind, a.TookOver, a.Traces, a.Event.Header["Traceparent"])
	return context.WithValue(ctx, sightKey{}, a.Attempt), fmt.Sprint("trace ", a.Attempt), func(e *restaq.AttemptEnd) {
		s.note("attempt %d ended %s %s dead %v step %q error %q retries %v", e.Attempt, e.Outcome, e.Status, e.Dead, e.Step, e.Error, e.RetryIn > 0)
	}
}

func (s *sight) Step(ctx context.Context, c *restaq.StepStart) (context.Context, func(*restaq.StepEnd)) {
	s.note("step %s", c.Record)
	return context.WithValue(ctx, sightKey{}, "step"), func(e *restaq.StepEnd) { s.note("step %s ended %s %v", e.Step, e.Status, e.Err) }
}

func (s *sight) Store(_ context.Context, method string) func(error) {
	return func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.store == nil {
			s.store = map[string]int{}
		}
		s.store[method]++
	}
}

func (s *sight) Commit(writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits += writes
}

func (s *sight) hooks() restaq.Hooks {
	return restaq.Hooks{
		Delivered: func(_ context.Context, e *restaq.Event, _ *restaq.Receipt, err error) {
			s.note("hook: delivered %s %v", e.ID, err)
		},
		Refused: func(_ context.Context, r *restaq.Refusal) { s.note("hook: refused %d", r.Status) },
		AttemptEnded: func(ctx context.Context, a *restaq.AttemptEnd) {
			s.note("hook: attempt %d of %s ended %s", a.Attempt, restaq.ExecutionID(ctx)[:0], a.Outcome)
		},
		StepEnded: func(_ context.Context, e *restaq.StepEnd) { s.note("hook: step %s %s", e.Record, e.Status) },
		Dead:      func(_ context.Context, e *restaq.Execution) { s.note("hook: dead, %s", e.Error) },
	}
}

// take returns what was noted since, without what deliveries note beside the
// attempts that they begin.
func (s *sight) take() (delivery, work []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		if strings.HasPrefix(strings.TrimPrefix(line, "hook: "), "deliver") {
			delivery = append(delivery, line)
		} else {
			work = append(work, line)
		}
	}
	s.lines = nil
	return delivery, work
}

func TestObserverAndHooksSeeWhatHappens(t *testing.T) {
	s := &sight{}
	cfg := quick()
	cfg.Observer, cfg.Hooks, cfg.Attempts = s, s.hooks(), 2
	store := memory.New()
	var inner []any
	rt, _ := start(t, store, cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
		inner = append(inner, ctx.Value(sightKey{}))
		if _, err := restaq.Do(ctx, "one", func(ctx context.Context) (int, error) {
			inner = append(inner, ctx.Value(sightKey{}))
			return 1, nil
		}); err != nil {
			return err
		}
		_, err := restaq.Do(ctx, "two", func(context.Context) (int, error) { return 0, errors.New("no") })
		return err
	}))
	event := newEvent()
	e := deliver(t, rt, event)
	wait(t, rt, e.ID, "dead")
	rt.WaitIdle() // the last attempt has told of its end
	delivery, work := s.take()
	if want := []string{"delivery " + event.ID, "delivered 1 <nil>", "hook: delivered " + event.ID + " <nil>"}; !slices.Equal(delivery, want) {
		t.Errorf("of the delivery: %q\nwant %q", delivery, want)
	}
	want := []string{
		`attempt 1 of h, kind automatic, took over false, earlier [], header [of the delivery]`,
		"step one", "step one ended completed <nil>", "hook: step one completed",
		"step two", "step two ended failed step two: no", "hook: step two failed",
		`attempt 1 ended failed failed dead false step "two" error "step two: no" retries true`, "hook: attempt 1 of  ended failed",
		`attempt 2 of h, kind automatic, took over false, earlier ["trace 1"], header [of the delivery]`,
		"step one", "step one ended skipped <nil>", "hook: step one skipped",
		"step two", "step two ended failed step two: no", "hook: step two failed",
		`attempt 2 ended failed failed dead true step "two" error "step two: no" retries false`, "hook: attempt 2 of  ended failed",
		"hook: dead, step two: no",
	}
	if !slices.Equal(work, want) {
		t.Errorf("of the work:\n%s\nwant\n%s", strings.Join(work, "\n"), strings.Join(want, "\n"))
	}
	if fmt.Sprint(inner) != "[1 step 2]" {
		t.Errorf("contexts of handler and step: %v", inner)
	}
	for _, method := range []string{"Lookup", "Insert", "Claim", "Record", "Finish", "Change", "History"} {
		if s.store[method] == 0 {
			t.Errorf("no call of the store's %s was seen", method)
		}
	}
	w := httptest.NewRecorder()
	rt.Webhook(webhook.Stripe("whsec_x")).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if _, work := s.take(); !slices.Equal(work, []string{"refused stripe 405", "hook: refused 405"}) {
		t.Errorf("of the refusal: %q", work)
	}
}

func TestCommitsAreSeen(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		if _, ok := store.(restaq.Committer); !ok {
			return // package memory commits nothing
		}
		s := &sight{}
		cfg := quick()
		cfg.Observer = s
		rt, _ := start(t, store, cfg, on("h", func(context.Context, restaq.Event) error { return nil }))
		wait(t, rt, deliver(t, rt, newEvent()).ID, "completed")
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.commits < 2 {
			t.Errorf("commits of %d writes seen, want those of a delivery and of an outcome", s.commits)
		}
	})
}

func TestAPanicInAnObserverOrHookGoesNoFurther(t *testing.T) {
	s := &sight{panics: true}
	cfg := quick()
	cfg.Observer, cfg.Hooks = s, s.hooks()
	rt, _ := start(t, memory.New(), cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
		_, err := restaq.Do(ctx, "one", func(context.Context) (int, error) { return 1, nil })
		return err
	}))
	e := deliver(t, rt, newEvent())
	wait(t, rt, e.ID, "completed")
	rt.WaitIdle()
	if delivery, work := s.take(); len(delivery) == 0 || len(work) == 0 {
		t.Errorf("seen: %q, %q", delivery, work)
	}
}

func TestAnExecutionThatIsBornDeadIsToldOf(t *testing.T) {
	s := &sight{}
	cfg := quick()
	cfg.Hooks = s.hooks()
	h := on("h", func(context.Context, restaq.Event) error { return nil })
	h.Order = func(restaq.Event) string { panic("no key") }
	rt, _ := start(t, memory.New(), cfg, h)
	wait(t, rt, deliver(t, rt, newEvent()).ID, "dead")
	if _, work := s.take(); !slices.Equal(work, []string{"hook: dead, order key: panic: no key"}) {
		t.Errorf("told: %q", work)
	}
}

// away is a store that cannot be reached.
type away struct{ restaq.Store }

func (away) Change(context.Context, string, restaq.Change) (*restaq.Execution, bool, error) {
	return nil, false, errors.New("no route to host")
}

func TestHealth(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		h := on("h", func(context.Context, restaq.Event) error { return nil })
		rt := receive(t, store, quick(), h)
		if err := rt.Health(t.Context()); err != nil {
			t.Errorf("before Run: %v", err)
		}
		if rt := receive(t, away{store}, quick(), h); rt.Health(t.Context()) == nil {
			t.Error("healthy though the store is away")
		}
		rt, stop := start(t, store, quick(), h)
		if err := rt.Health(t.Context()); err != nil {
			t.Errorf("while it runs: %v", err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if err := rt.Health(t.Context()); !errors.Is(err, restaq.ErrShutdown) {
			t.Errorf("after Run: %v, want ErrShutdown", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		if err := receive(t, store, quick(), h).Health(ctx); err == nil {
			t.Error("healthy though there was no time to find out")
		}
	})
}
