package restaq_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
)

const day = 24 * time.Hour

func TestRetentionThatCannotBe(t *testing.T) {
	for _, test := range []struct {
		retention restaq.Retention
		want      string // in the error; "" for none
	}{
		{restaq.Retention{}, ""},
		{restaq.Retention{Completed: time.Hour, Dead: day, Events: map[string]time.Duration{"github": 3 * day, "stripe": 30 * day}}, ""},
		{restaq.Retention{Cancelled: -1}, "Retention: of cancelled executions: must not be negative"},
		{restaq.Retention{Events: map[string]time.Duration{"stripe": 29 * day}}, `Retention.Events["stripe"]: must be at least 720h0m0s`},
		{restaq.Retention{Events: map[string]time.Duration{"mine": 71 * time.Hour}}, `Retention.Events["mine"]: must be at least 72h0m0s`},
		{restaq.Retention{Events: map[string]time.Duration{"": 90 * day}}, "a provider's name is empty"},
	} {
		_, err := restaq.New(memory.New(), restaq.Config{Retention: test.retention})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v, want %q", test.retention, err, test.want)
		}
	}
	bare := struct{ restaq.Store }{memory.New()}
	if _, err := restaq.New(bare, restaq.Config{Retention: restaq.Retention{Dead: day}}); !errors.Is(err, restaq.ErrUnsupported) {
		t.Errorf("a store that cannot prune: %v, want ErrUnsupported", err)
	}
	if _, err := restaq.New(bare, restaq.Config{}); err != nil {
		t.Errorf("a store that need not prune: %v", err)
	}
}

// Three processes, of which one at a time deletes, over weeks.
func TestWhatIsOldGoesByItsOutcomeAndItsProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		cfg := quick()
		cfg.Poll, cfg.Lease, cfg.Attempts = day, 30*day, 1
		cfg.Retention = restaq.Retention{Completed: 7 * day, Cancelled: 9 * day, Dead: 20 * day, Events: map[string]time.Duration{"acme": 10 * day}}
		h := on("h", func(_ context.Context, e restaq.Event) error {
			if strings.Contains(string(e.Payload), "fail") {
				return errors.New("failed")
			}
			return nil
		}, "acme.order.created", "other.order.created")
		var rt *restaq.Runtime
		for range 3 {
			rt, _ = start(t, store, cfg, h)
		}
		event := func(provider, payload string) restaq.Event {
			e := newEvent()
			e.Source, e.Provider, e.Type, e.Payload = provider, provider, provider+".order.created", []byte(payload)
			return e
		}
		gone := func(e restaq.Execution) bool {
			_, err := rt.Inspect(t.Context(), e.ID)
			if err != nil && !errors.Is(err, restaq.ErrNotFound) {
				t.Fatal(err)
			}
			return err != nil
		}
		known := func(e restaq.Event) bool {
			_, err := store.Lookup(t.Context(), e.Source, e.ID, false)
			return err == nil
		}
		good, bad, late, other := event("acme", "good"), event("acme", "fail"), event("acme", "fail"), event("other", "good")
		completed, dead, cancelled, others := deliver(t, rt, good), deliver(t, rt, bad), deliver(t, rt, late), deliver(t, rt, other)
		wait(t, rt, completed.ID, "completed")
		wait(t, rt, others.ID, "completed")
		wait(t, rt, dead.ID, "dead")
		wait(t, rt, cancelled.ID, "dead")
		if _, err := rt.Cancel(t.Context(), cancelled.ID); err != nil {
			t.Fatal(err)
		}
		ignored := event("acme", "none")
		ignored.Type = "acme.unheard.of"
		if _, err := rt.Deliver(t.Context(), ignored); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for _, at := range []struct {
			days                         int
			completed, cancelled, dead   bool // gone
			good, bad, ignored, othersID bool // known
		}{
			{6, false, false, false, true, true, true, true},
			{8, true, false, false, true, true, true, true},
			{9, true, false, false, true, true, true, true},
			{11, true, true, false, false, true, false, true},
			{19, true, true, false, false, true, false, true},
			{21, true, true, true, false, false, false, true},
			{30, true, true, true, false, false, false, true},
		} {
			time.Sleep(time.Until(begun.Add(time.Duration(at.days) * day)))
			synctest.Wait()
			if gone(completed) != at.completed || gone(others) != at.completed || gone(cancelled) != at.cancelled || gone(dead) != at.dead {
				t.Errorf("after %d days gone: completed %v, cancelled %v, dead %v", at.days, gone(completed), gone(cancelled), gone(dead))
			}
			if known(good) != at.good || known(bad) != at.bad || known(ignored) != at.ignored || known(other) != at.othersID {
				t.Errorf("after %d days known: good %v, bad %v, ignored %v, other %v", at.days, known(good), known(bad), known(ignored), known(other))
			}
			if at.days == 9 {
				if r, err := rt.Deliver(t.Context(), good); err != nil || !r.Duplicate {
					t.Errorf("a redelivery after its execution was deleted: %+v, %v; want a duplicate", r, err)
				}
			}
		}
		if r, err := rt.Deliver(t.Context(), other); err != nil || !r.Duplicate {
			t.Errorf("a delivery after 30 days, of a provider that is remembered for ever: %+v, %v", r, err)
		}
		again := deliver(t, rt, good)
		wait(t, rt, again.ID, "completed")
		if h := inspect(t, rt, again.ID); len(h.Tries) != 1 {
			t.Errorf("the new event's execution has a past:\n%s", h.Tree())
		}
	})
}

// slowPruner is a store whose prunes are counted, and wait to be let through.
type slowPruner struct {
	restaq.Store
	restaq.Turns
	restaq.Pruner
	calls *atomic.Int64
	enter chan chan struct{}
}

func (s slowPruner) Prune(ctx context.Context, p restaq.Prune) (restaq.Pruned, error) {
	s.calls.Add(1)
	if s.enter != nil {
		through := make(chan struct{})
		s.enter <- through
		<-through
	}
	return s.Pruner.Prune(ctx, p)
}

func TestOneProcessAtATimeDeletes(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Retention.Completed = time.Nanosecond
		var calls atomic.Int64
		process := func(enter chan chan struct{}) *restaq.Runtime {
			s := open()
			rt, err := restaq.New(slowPruner{s, s.(restaq.Turns), s.(restaq.Pruner), &calls, enter}, cfg)
			if err != nil {
				t.Fatal(err)
			}
			return rt
		}
		enter := make(chan chan struct{})
		first, second := process(enter), process(nil)
		result := make(chan error)
		go func() { result <- first.PruneOld(t.Context()) }()
		through := <-enter
		if err := second.PruneOld(t.Context()); err != nil {
			t.Errorf("the second process: %v", err)
		}
		if n := calls.Load(); n != 1 {
			t.Errorf("%d prunes at once, want 1", n)
		}
		close(through)
		if err := <-result; err != nil {
			t.Errorf("the first process: %v", err)
		}
	})
}

func TestMoreThanABatchIsDeleted(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Retention.Completed = time.Nanosecond
		rt, _ := start(t, open(), cfg, on("h", func(context.Context, restaq.Event) error { return nil }))
		var ids []string
		for range 250 {
			ids = append(ids, deliver(t, rt, newEvent()).ID)
		}
		for _, id := range ids {
			wait(t, rt, id, "completed")
		}
		if err := rt.PruneOld(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, err := rt.List(t.Context(), restaq.Filter{Limit: 1000})
		if err != nil || len(page.Executions) != 0 {
			t.Errorf("%d executions left, %v", len(page.Executions), err)
		}
	})
}

// A person's wish and a prune race: the execution is gone for who asked, or it
// does what was asked for, whole.
func TestWishesAndPrunesExcludeEachOther(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Attempts = 1
		var failing atomic.Bool
		failing.Store(true)
		rt, _ := start(t, open(), cfg, on("h", func(_ context.Context, e restaq.Event) error {
			if len(e.Payload) == 0 {
				t.Errorf("an execution ran without the payload of %s", e.ID)
			}
			if failing.Load() {
				return errors.New("failed")
			}
			return nil
		}))
		pruner := receive(t, open(), cfg)
		var ids []string
		for range 40 {
			ids = append(ids, deliver(t, rt, newEvent()).ID)
		}
		for _, id := range ids {
			wait(t, rt, id, "dead")
		}
		failing.Store(false)
		wishes := []func(ctx context.Context, id string) (restaq.Execution, error){rt.Retry, rt.Restart, rt.Replay, rt.Cancel}
		results := make(chan error, len(ids))
		begin := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			<-begin
			for range ids {
				if _, err := pruner.Prune(t.Context(), restaq.Prune{OlderThan: time.Nanosecond, Statuses: []string{"dead"}, Limit: 2}); err != nil {
					t.Errorf("prune: %v", err)
				}
			}
		}()
		for i := range ids {
			go func() {
				<-begin
				id := ids[len(ids)-1-i]
				e, err := wishes[i%len(wishes)](t.Context(), id)
				if err == nil {
					e, err = rt.Wait(t.Context(), e.ID)
					if err == nil && e.Status == restaq.Failed {
						t.Errorf("wish %d: %+v", i%len(wishes), e)
					}
				}
				results <- err
			}()
		}
		close(begin)
		granted := 0
		for range ids {
			switch err := <-results; {
			case err == nil:
				granted++
			case !errors.Is(err, restaq.ErrNotFound) && !errors.Is(err, restaq.ErrNoPayload):
				t.Errorf("a wish: %v", err)
			}
		}
		<-done
		t.Logf("%d of %d wishes were granted", granted, len(ids))
	})
}
