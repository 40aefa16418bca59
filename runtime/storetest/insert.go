package storetest

import (
	"strings"
	"sync/atomic"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

var insertTests = []test{
	{"an unknown event is not found", func(f *fixture) {
		_, err := f.store.Lookup(f.ctx, "stripe", "evt_1", true)
		f.is("Lookup", err, restaq.ErrNotFound)
	}},

	{"a stored event is found with its executions", func(f *fixture) {
		ev := newEvent("evt_1")
		ev.ReceivedAt = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
		made := f.insert(ev, newExecution("a"), newExecution("b"))
		found, err := f.another().Lookup(f.ctx, "stripe", "evt_1", true)
		if err != nil {
			f.Fatal(err)
		}
		f.stamped("ReceivedAt", found.Event.ReceivedAt)
		if found.Event.ReceivedAt.Year() == 1999 {
			f.Error("ReceivedAt is the caller's, want the store's")
		}
		want := *ev
		want.ReceivedAt = found.Event.ReceivedAt
		f.equal("event", found.Event, want)
		f.equal("executions", byID(found.Executions), byID(made))
		for _, e := range made {
			f.stamped("CreatedAt", e.CreatedAt)
			f.equal("execution", e, restaq.Execution{
				ID: e.ID, Handler: e.Handler, Event: found.Event.Ref(), Status: restaq.Pending, CreatedAt: e.CreatedAt,
			})
		}
	}},

	{"payload and header are loaded only if asked for", func(f *fixture) {
		f.pending("evt_1")
		found, err := f.store.Lookup(f.ctx, "stripe", "evt_1", false)
		if err != nil {
			f.Fatal(err)
		}
		if found.Event.Payload != nil || found.Event.Header != nil {
			f.Errorf("Lookup returned payload %q and header %v", found.Event.Payload, found.Event.Header)
		}
		if len(found.Executions) != 1 || found.Event.Type != "stripe.charge.succeeded" {
			f.Errorf("Lookup = %+v", found)
		}
	}},

	{"an event that is there is left alone", func(f *fixture) {
		ev := newEvent("evt_1")
		f.insert(ev, newExecution("a"))
		before, _ := f.store.Lookup(f.ctx, "stripe", "evt_1", true)
		other := *ev
		other.Payload, other.Type = []byte("other"), "stripe.other"
		created, made, err := f.another().Insert(f.ctx, &restaq.Insertion{
			Event: &other, Executions: []restaq.NewExecution{newExecution("a"), newExecution("b")},
		})
		if err != nil || created || len(made) != 0 {
			f.Errorf("Insert = %v, %v, %v; want nothing created", created, made, err)
		}
		after, _ := f.store.Lookup(f.ctx, "stripe", "evt_1", true)
		f.equal("event", after, before)
	}},

	{"one id in two sources is two events", func(f *fixture) {
		f.pending("evt_1")
		ev := newEvent("evt_1")
		ev.Source = "stripe-two"
		f.insert(ev, newExecution(handler))
		if claimed := f.claimAll(handler); len(claimed) != 2 {
			f.Errorf("claimed %d executions, want 2", len(claimed))
		}
	}},

	{"one hundred deliveries of one event make one", func(f *fixture) {
		handles := []restaq.Store{f.store, f.another()}
		var created atomic.Int32
		var winner atomic.Value
		together(100, func(i int) {
			s := handles[i%2]
			n := newExecution(handler)
			n.Begin = true
			ok, made, err := s.Insert(f.ctx, &restaq.Insertion{
				Event: newEvent("evt_1"), Executions: []restaq.NewExecution{n}, Owner: owner, Lease: lease,
			})
			switch {
			case err != nil:
				f.Errorf("Insert: %v", err)
			case ok && (len(made) != 1 || made[0].ID != n.ID):
				f.Errorf("the winner made %v", made)
			case ok:
				created.Add(1)
				winner.Store(n.ID)
			default:
				found, err := s.Lookup(f.ctx, "stripe", "evt_1", false)
				if err != nil || len(found.Executions) != 1 {
					f.Errorf("the loser looked up %+v, %v", found, err)
				}
			}
		})
		if created.Load() != 1 {
			f.Fatalf("%d calls created the event, want 1", created.Load())
		}
		found, err := f.store.Lookup(f.ctx, "stripe", "evt_1", false)
		if err != nil || len(found.Executions) != 1 || found.Executions[0].ID != winner.Load() {
			f.Errorf("Lookup = %+v, %v; want the winner's execution alone", found, err)
		}
	}},

	{"one hundred events at once are all stored", func(f *fixture) {
		handles := []restaq.Store{f.store, f.another()}
		together(100, func(i int) {
			id := "evt_" + strings.Repeat("x", i)
			created, made, err := handles[i%2].Insert(f.ctx, &restaq.Insertion{
				Event: newEvent(id), Executions: []restaq.NewExecution{newExecution(handler)},
			})
			if err != nil || !created || len(made) != 1 {
				f.Errorf("Insert = %v, %v, %v", created, made, err)
			}
		})
		if claimed := f.claimAll(handler); len(claimed) != 100 {
			f.Errorf("claimed %d executions, want 100", len(claimed))
		}
	}},

	{"Begin starts the first attempt in the same statement", func(f *fixture) {
		n := newExecution(handler)
		n.Begin = true
		made := f.insert(newEvent("evt_1"), n, newExecution("other"))
		for _, e := range made {
			if e.ID == n.ID && (e.Status != restaq.Running || e.Attempts != 1) {
				f.Errorf("begun execution is %s with %d attempts", e.Status, e.Attempts)
			}
			if e.ID != n.ID && (e.Status != restaq.Pending || e.Attempts != 0) {
				f.Errorf("the other execution is %s with %d attempts", e.Status, e.Attempts)
			}
		}
		h := f.history(n.ID)
		f.stamped("StartedAt", h.StartedAt)
		if h.Kind != restaq.Automatic || len(h.Attempts) != 0 {
			f.Errorf("history = %+v", h)
		}
		f.claimNone()
		l := restaq.Lease{Execution: n.ID, Attempt: 1, Token: 1}
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 1)})
		f.finish(l, completed)
	}},

	{"an execution with an error is stored dead", func(f *fixture) {
		n := newExecution(handler)
		n.Error = "order key: index out of range"
		e := f.insert(newEvent("evt_1"), n)[0]
		f.stamped("FinishedAt", e.FinishedAt)
		if !e.Dead() || e.Error != n.Error || e.Attempts != 0 {
			f.Errorf("execution = %+v, want dead with its error", e)
		}
		f.claimNone()
		f.equal("stored", f.read(n.ID), e)
	}},

	{"an event without executions is stored", func(f *fixture) {
		f.insert(newEvent("evt_1"))
		found, err := f.store.Lookup(f.ctx, "stripe", "evt_1", true)
		if err != nil || len(found.Executions) != 0 {
			f.Errorf("Lookup = %+v, %v", found, err)
		}
	}},

	{"executions cannot be added to an unknown event", func(f *fixture) {
		_, _, err := f.store.Insert(f.ctx, &restaq.Insertion{
			Source: "stripe", EventID: "evt_1", Executions: []restaq.NewExecution{newExecution(handler)},
		})
		f.is("Insert", err, restaq.ErrNotFound)
	}},

	{"only the missing executions are added", func(f *fixture) {
		ev := newEvent("evt_1")
		first := f.insert(ev, newExecution("a"))
		created, made := f.add(ev, newExecution("a"), newExecution("b"))
		if !created || len(made) != 1 || made[0].Handler != "b" {
			f.Fatalf("Insert = %v, %v; want b's execution", created, made)
		}
		created, again := f.add(ev, newExecution("a"), newExecution("b"))
		if created || len(again) != 0 {
			f.Errorf("Insert = %v, %v; want nothing", created, again)
		}
		found, _ := f.store.Lookup(f.ctx, "stripe", "evt_1", false)
		f.equal("executions", byID(found.Executions), byID(append(first, made...)))
	}},

	{"an added execution can begin at once", func(f *fixture) {
		ev := newEvent("evt_1")
		f.insert(ev)
		n := newExecution(handler)
		n.Begin = true
		_, made := f.add(ev, n)
		if len(made) != 1 || made[0].Status != restaq.Running {
			f.Fatalf("Insert made %v", made)
		}
		f.finish(restaq.Lease{Execution: n.ID, Attempt: 1, Token: 1}, completed)
	}},

	{"one handler added at once by many is added once", func(f *fixture) {
		ev := newEvent("evt_1")
		f.insert(ev)
		handles := []restaq.Store{f.store, f.another()}
		var created atomic.Int32
		together(20, func(i int) {
			ok, _, err := handles[i%2].Insert(f.ctx, &restaq.Insertion{
				Source: "stripe", EventID: "evt_1", Executions: []restaq.NewExecution{newExecution(handler)},
			})
			if err != nil {
				f.Errorf("Insert: %v", err)
			}
			if ok {
				created.Add(1)
			}
		})
		if created.Load() != 1 {
			f.Errorf("%d calls added the execution, want 1", created.Load())
		}
	}},

	{"replays are exempt from one per handler, and no part of a lookup", func(f *fixture) {
		ev := newEvent("evt_1")
		original := f.insert(ev, newExecution(handler))[0]
		for range 2 {
			n := newExecution(handler)
			n.ReplayOf = original.ID
			created, made := f.add(ev, n)
			if !created || len(made) != 1 || made[0].ReplayOf != original.ID || made[0].Status != restaq.Pending {
				f.Fatalf("Insert = %v, %v; want a replay", created, made)
			}
		}
		found, _ := f.store.Lookup(f.ctx, "stripe", "evt_1", false)
		f.equal("executions", found.Executions, []restaq.Execution{original})
		if claimed := f.claimAll(handler); len(claimed) != 3 {
			f.Errorf("claimed %d executions, want the original and two replays", len(claimed))
		}
	}},

	{"a replay is no original", func(f *fixture) {
		ev := newEvent("evt_1")
		f.insert(ev)
		n := newExecution(handler)
		n.ReplayOf = newID()
		f.add(ev, n)
		if created, _ := f.add(ev, newExecution(handler)); !created {
			f.Error("an execution was left out because of a replay")
		}
	}},

	{"the same insertion again makes nothing new", func(f *fixture) {
		ev := newEvent("evt_1")
		original := f.insert(ev, newExecution(handler))[0]
		n := newExecution(handler)
		n.ReplayOf = original.ID
		f.add(ev, n)
		before := f.read(n.ID)
		if created, made := f.add(ev, n); created || len(made) != 0 {
			f.Errorf("Insert = %v, %v; want nothing new", created, made)
		}
		f.equal("replay", f.read(n.ID), before)
	}},

	{"names may be long and in any script", func(f *fixture) {
		long := strings.Repeat("ключ-", 113) // 1,017 bytes
		ev := newEvent(long)
		ev.Source, ev.Provider, ev.Type = long, long, long+".x"
		n := newExecution(long)
		n.OrderKey = long
		f.insert(ev, n)
		found, err := f.store.Lookup(f.ctx, long, long, true)
		if err != nil || found.Event.Type != ev.Type || found.Executions[0].Handler != long {
			f.Fatalf("Lookup = %+v, %v", found, err)
		}
		if claimed := f.claimAll(long); len(claimed) != 1 {
			f.Errorf("claimed %d executions, want 1", len(claimed))
		}
		f.equal("order key", f.history(n.ID).OrderKey, long)
	}},

	{"names are compared by their bytes", func(f *fixture) {
		f.pending("evt_a")
		for _, id := range []string{"EVT_A", "evt_a ", "evt_\u00e9", "evt_e\u0301"} {
			f.pending(id)
		}
	}},
}

func byID(executions []restaq.Execution) map[string]restaq.Execution {
	m := map[string]restaq.Execution{}
	for _, e := range executions {
		m[e.ID] = e
	}
	return m
}
