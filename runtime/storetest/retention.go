package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

var forgetTests = []test{
	{"an event goes after its last execution, and its id is new", func(f *fixture) {
		f.forgetter()
		l := states["completed"](f, "evt_1")
		f.advance(time.Hour)
		f.forget("stripe", time.Minute, 9, 0) // it has an execution
		f.read(l.Execution)
		f.pruneAll()
		f.advance(time.Hour)
		f.forget("stripe", time.Minute, 9, 1)
		_, err := f.store.Lookup(f.ctx, "stripe", "evt_1", true)
		f.is("Lookup", err, restaq.ErrNotFound)

		n := newExecution(handler)
		n.Begin = true
		f.insert(newEvent("evt_1"), n)
		h := f.history(n.ID)
		if len(h.Attempts) != 0 || len(h.Steps) != 0 || string(h.Event.Payload) != string(newEvent("evt_1").Payload) {
			f.Errorf("the new event's execution has a past: %+v", h)
		}
		f.is("Record under the old lease", f.store.Record(f.ctx, l, &restaq.Progress{Steps: steps(1, 1, 1)}), restaq.ErrLeaseLost)
		_, err = f.store.Finish(f.ctx, l, &completed)
		f.is("Finish under the old lease", err, restaq.ErrLeaseLost)
		f.finish(restaq.Lease{Execution: n.ID, Attempt: 1, Token: 1}, completed)
	}},

	{"one that nobody handled goes whole", func(f *fixture) {
		f.forgetter()
		f.insert(newEvent("evt_1"))
		f.advance(time.Hour)
		f.forget("stripe", 2*time.Hour, 9, 0)
		f.forget("stripe", time.Minute, 9, 1)
		_, err := f.store.Lookup(f.ctx, "stripe", "evt_1", false)
		f.is("Lookup", err, restaq.ErrNotFound)
	}},

	{"of one provider, and up to a limit", func(f *fixture) {
		f.forgetter()
		for i := range 5 {
			f.insert(newEvent(fmt.Sprint("evt_", i)))
		}
		other := newEvent("evt_other")
		other.Provider = "github"
		f.insert(other)
		f.advance(time.Hour)
		f.forget("acme", time.Minute, 9, 0) // a name that the store has never heard
		for _, want := range []int{2, 2, 1, 0} {
			f.forget("stripe", time.Minute, 2, want)
		}
		if _, err := f.store.Lookup(f.ctx, other.Source, other.ID, false); err != nil {
			f.Errorf("Lookup of the other provider's event: %v", err)
		}
	}},

	{"nothing can be added to an event that was pruned or forgotten", func(f *fixture) {
		f.forgetter()
		l := states["completed"](f, "evt_1")
		f.pruneAll()
		n := newExecution(handler)
		n.ReplayOf = l.Execution
		add := func() error {
			_, _, err := f.store.Insert(f.ctx, &restaq.Insertion{Source: "stripe", EventID: "evt_1", Executions: []restaq.NewExecution{n}})
			return err
		}
		f.is("Insert after the prune", add(), restaq.ErrNoPayload)
		f.advance(time.Hour)
		f.forget("stripe", time.Minute, 9, 1)
		f.is("Insert after it was forgotten", add(), restaq.ErrNotFound)
	}},

	{"an age must be given", func(f *fixture) {
		f.insert(newEvent("evt_1"))
		for _, d := range []time.Duration{0, -time.Hour} {
			if _, err := f.forgetter().Forget(f.ctx, "stripe", d, 9); err == nil {
				f.Errorf("Forget older than %v worked", d)
			}
		}
	}},

	{"replays, deliveries, prunes and forgetting at once leave whole executions or none", func(f *fixture) {
		f.forgetter()
		other := f.another()
		const events = 12
		var leases []restaq.Lease
		for i := range events {
			leases = append(leases, states["completed"](f, fmt.Sprint("evt_", i)))
		}
		f.advance(time.Hour)
		var replays, fresh sync.Map // ids of executions that were made
		var pruned, forgotten atomic.Int64
		var people sync.WaitGroup
		for _, s := range []restaq.Store{f.store, other} {
			people.Go(func() {
				for range 3 * events {
					done, err := s.(restaq.Pruner).Prune(f.ctx, restaq.Prune{OlderThan: time.Minute, Limit: 1})
					if err != nil {
						f.Errorf("Prune: %v", err)
					}
					pruned.Add(int64(done.Executions))
					n, err := s.(restaq.Forgetter).Forget(f.ctx, "stripe", time.Nanosecond, 1)
					if err != nil {
						f.Errorf("Forget: %v", err)
					}
					forgotten.Add(int64(n))
				}
			})
		}
		for i := range events {
			people.Go(func() {
				n := newExecution(handler)
				n.ReplayOf = leases[i].Execution
				_, made, err := other.Insert(f.ctx, &restaq.Insertion{Source: "stripe", EventID: fmt.Sprint("evt_", i), Executions: []restaq.NewExecution{n}})
				switch {
				case err == nil && len(made) == 1:
					replays.Store(n.ID, true)
				case err == nil:
					f.Errorf("a replay of evt_%d made nothing", i)
				case !errors.Is(err, restaq.ErrNotFound) && !errors.Is(err, restaq.ErrNoPayload):
					f.Errorf("Insert of a replay: %v", err)
				}
			})
			people.Go(func() {
				n := newExecution(handler)
				created, _, err := f.store.Insert(f.ctx, &restaq.Insertion{Event: newEvent(fmt.Sprint("evt_", i)), Executions: []restaq.NewExecution{n}})
				if err != nil {
					f.Errorf("Insert: %v", err)
				}
				if created {
					fresh.Store(n.ID, true)
				}
			})
		}
		people.Wait()

		whole := func(id, _ any) bool {
			h := f.history(id.(string))
			if h.Execution.Status != restaq.Pending || len(h.Attempts) != 0 || len(h.Steps) != 0 || h.Event.Payload == nil {
				f.Errorf("%s is not whole: %+v", id, h)
			}
			return true
		}
		n := int64(0)
		replays.Range(whole)
		fresh.Range(func(id, _ any) bool { n++; return whole(id, nil) })
		if n > forgotten.Load() {
			f.Errorf("%d events were new again, though only %d were forgotten", n, forgotten.Load())
		}
		if pruned.Load() != events {
			f.Errorf("%d executions were pruned, want the %d that had completed", pruned.Load(), events)
		}
	}},
}

var turnTests = []test{
	{"a turn is one owner's until it is over", func(f *fixture) {
		turns, ok := f.store.(restaq.Turns)
		if !ok {
			f.Skip("the store is no restaq.Turns")
		}
		other := f.another().(restaq.Turns)
		take := func(s restaq.Turns, name, owner string, want bool) {
			f.Helper()
			if mine, err := s.TakeTurn(f.ctx, name, owner, time.Minute); err != nil || mine != want {
				f.Errorf("TakeTurn(%s, %s) = %v, %v; want %v", name, owner, mine, err, want)
			}
		}
		take(turns, "prune", "a", true)
		take(other, "prune", "b", false)
		take(other, "sweep", "b", true)
		f.advance(40 * time.Second)
		take(turns, "prune", "a", true) // for a minute from now
		f.advance(40 * time.Second)
		take(other, "prune", "b", false)
		f.advance(40 * time.Second)
		take(other, "prune", "b", true)
		take(turns, "prune", "a", false)
	}},

	{"of many that want a turn at once one gets it", func(f *fixture) {
		turns, ok := f.store.(restaq.Turns)
		if !ok {
			f.Skip("the store is no restaq.Turns")
		}
		stores := []restaq.Turns{turns, f.another().(restaq.Turns)}
		var winners atomic.Int64
		var people sync.WaitGroup
		for i := range 20 {
			people.Go(func() {
				mine, err := stores[i%2].TakeTurn(f.ctx, "prune", fmt.Sprint("owner-", i), time.Hour)
				if err != nil {
					f.Errorf("TakeTurn: %v", err)
				}
				if mine {
					winners.Add(1)
				}
			})
		}
		people.Wait()
		if winners.Load() != 1 {
			f.Errorf("%d have the turn, want 1", winners.Load())
		}
	}},
}

func (f *fixture) forgetter() restaq.Forgetter {
	f.Helper()
	s, ok := f.store.(restaq.Forgetter)
	if _, prunes := f.store.(restaq.Pruner); !ok || !prunes {
		f.Skip("the store is no restaq.Forgetter and restaq.Pruner")
	}
	return s
}

// forget forgets events, which must be as many as wanted.
func (f *fixture) forget(provider string, olderThan time.Duration, limit, want int) {
	f.Helper()
	if n, err := f.forgetter().Forget(f.ctx, provider, olderThan, limit); err != nil || n != want {
		f.Errorf("Forget(%s) = %d, %v; want %d", provider, n, err, want)
	}
}
