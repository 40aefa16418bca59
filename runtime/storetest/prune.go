package storetest

import (
	"fmt"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

var pruneTests = []test{
	{"only finished executions go", func(f *fixture) {
		f.pruner()
		kept := map[string]bool{"pending": true, "running": true, "retrying": true}
		all := map[string]string{}
		for state, get := range states {
			all[state] = get(f, "evt_"+state).Execution
		}
		f.advance(2000 * time.Hour)
		done, err := f.pruner().Prune(f.ctx, restaq.Prune{OlderThan: time.Hour})
		if err != nil || done != (restaq.Pruned{Executions: 3, Payloads: 3}) {
			f.Errorf("Prune = %+v, %v; want 3 and 3", done, err)
		}
		for state, id := range all {
			_, err := f.store.History(f.ctx, id)
			if kept[state] && err != nil {
				f.Errorf("%s: History: %v", state, err)
			}
			if !kept[state] {
				f.is(state+": History", err, restaq.ErrNotFound)
			}
		}
	}},

	{"only those that finished long enough ago go", func(f *fixture) {
		f.pruner()
		old := states["completed"](f, "evt_1").Execution
		f.advance(time.Hour)
		young := states["completed"](f, "evt_2").Execution
		f.advance(time.Hour)
		done, err := f.pruner().Prune(f.ctx, restaq.Prune{OlderThan: 90 * time.Minute})
		if err != nil || done.Executions != 1 {
			f.Errorf("Prune = %+v, %v; want 1 execution", done, err)
		}
		_, err = f.store.History(f.ctx, old)
		f.is("History", err, restaq.ErrNotFound)
		f.read(young)
	}},

	{"an execution's end counts, not its beginning", func(f *fixture) {
		f.pruner()
		l := f.begun("evt_1")
		f.advance(1000 * time.Hour)
		f.finish(l, completed)
		done, err := f.pruner().Prune(f.ctx, restaq.Prune{OlderThan: time.Hour})
		if err != nil || done != (restaq.Pruned{}) {
			f.Errorf("Prune = %+v, %v; want nothing pruned", done, err)
		}
	}},

	{"by status", func(f *fixture) {
		f.pruner()
		for _, statuses := range [][]string{{"dead"}, {"completed"}, {"cancelled"}, {"completed", "dead", "cancelled"}} {
			f.Run(fmt.Sprint(statuses), func(t *testing.T) {
				f := newFixture(t, f.backend)
				for state, get := range states {
					get(f, "evt_"+state)
				}
				f.advance(2000 * time.Hour)
				done, err := f.pruner().Prune(f.ctx, restaq.Prune{OlderThan: time.Hour, Statuses: statuses})
				if err != nil || done.Executions != len(statuses) {
					f.Errorf("Prune = %+v, %v; want %d executions", done, err, len(statuses))
				}
			})
		}
	}},

	{"up to a limit", func(f *fixture) {
		f.pruner()
		for i := range 5 {
			states["completed"](f, fmt.Sprint("evt_", i))
		}
		f.advance(time.Hour)
		for _, want := range []int{2, 2, 1, 0} {
			done, err := f.pruner().Prune(f.ctx, restaq.Prune{OlderThan: time.Minute, Limit: 2})
			if err != nil || done.Executions != want || done.Payloads != want {
				f.Errorf("Prune = %+v, %v; want %d", done, err, want)
			}
		}
	}},

	{"an event keeps its payload while an execution is left, and its id for ever", func(f *fixture) {
		f.pruner()
		ev := newEvent("evt_1")
		a, b := newExecution("a"), newExecution("b")
		a.Begin = true
		f.insert(ev, a, b)
		f.finish(restaq.Lease{Execution: a.ID, Attempt: 1, Token: 1}, completed)
		f.advance(time.Hour)
		done, err := f.pruner().Prune(f.ctx, restaq.Prune{OlderThan: time.Minute})
		if err != nil || done != (restaq.Pruned{Executions: 1}) {
			f.Fatalf("Prune = %+v, %v; want 1 execution and no payload", done, err)
		}
		if found, _ := f.store.Lookup(f.ctx, "stripe", "evt_1", true); string(found.Event.Payload) != string(ev.Payload) {
			f.Errorf("payload = %q", found.Event.Payload)
		}
		f.change(b.ID, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Cancelled})
		f.advance(time.Hour)
		done, err = f.pruner().Prune(f.ctx, restaq.Prune{OlderThan: time.Minute})
		if err != nil || done != (restaq.Pruned{Executions: 1, Payloads: 1}) {
			f.Fatalf("Prune = %+v, %v; want 1 execution and 1 payload", done, err)
		}
		found, err := f.store.Lookup(f.ctx, "stripe", "evt_1", true)
		if err != nil || found.Event.Payload != nil || found.Event.Header != nil || len(found.Executions) != 0 {
			f.Errorf("Lookup = %+v, %v; want the bare event", found, err)
		}
		created, _, err := f.store.Insert(f.ctx, &restaq.Insertion{Event: ev, Executions: []restaq.NewExecution{newExecution("a")}})
		if err != nil || created {
			f.Errorf("Insert = %v, %v; want a duplicate", created, err)
		}
	}},

	{"a replay that is left keeps the payload", func(f *fixture) {
		l := states["completed"](f, "evt_1")
		n := newExecution(handler)
		n.ReplayOf = l.Execution
		f.add(newEvent("evt_1"), n)
		f.pruneAll()
		if c := f.claim(n.ID); string(c.Event.Payload) != string(newEvent("evt_1").Payload) || c.Execution.ReplayOf != l.Execution {
			f.Errorf("claimed %+v of event %+v, want the replay with its payload", c.Execution, c.Event)
		}
	}},

	{"a pruned event was handled", func(f *fixture) {
		f.lister()
		states["completed"](f, "evt_1")
		f.pruneAll()
		if got := f.list(restaq.Filter{Unhandled: true}); len(got) != 0 {
			f.Errorf("unhandled = %v, want none", got)
		}
	}},

	{"a pruned execution's lease is lost", func(f *fixture) {
		l := states["completed"](f, "evt_1")
		f.pruneAll()
		f.is("Record", f.store.Record(f.ctx, l, &restaq.Progress{Steps: steps(1, 1, 1)}), restaq.ErrLeaseLost)
		_, err := f.store.Finish(f.ctx, l, &completed)
		f.is("Finish", err, restaq.ErrLeaseLost)
		_, _, err = f.store.Change(f.ctx, l.Execution, restaq.Change{From: []restaq.Status{restaq.Completed}, To: restaq.Pending})
		f.is("Change", err, restaq.ErrNotFound)
	}},

	{"rows of the pruned never come back", func(f *fixture) {
		// A store that gives rows numbers of its own must not give one twice:
		// a new execution would find the steps or the place of an old one.
		f.pruner()
		var last string
		for i := range 3 {
			l := f.begun(fmt.Sprint("evt_", i))
			o := completed
			o.Steps = steps(1, 1, 2)
			f.finish(l, o)
			f.pruneAll()
			next := f.begun(fmt.Sprint("evt_next_", i))
			h := f.history(next.Execution)
			if len(h.Attempts) != 0 || len(h.Steps) != 0 {
				f.Fatalf("a new execution has %d attempts and %d steps", len(h.Attempts), len(h.Steps))
			}
			if h.Event.ID != fmt.Sprint("evt_next_", i) {
				f.Fatalf("a new execution has event %s", h.Event.ID)
			}
			f.finish(next, completed)
			last = next.Execution
			f.pruneAll()
		}
		_, err := f.store.History(f.ctx, last)
		f.is("History", err, restaq.ErrNotFound)
	}},

	{"an execution that was reopened is not pruned", func(f *fixture) {
		f.pruner()
		l := states["completed"](f, "evt_1")
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Completed}, To: restaq.Pending, Kind: restaq.Restarted})
		f.pruneAll()
		f.claim(l.Execution)
	}},

	{"an age must be given", func(f *fixture) {
		f.pruner()
		l := states["completed"](f, "evt_1")
		for _, d := range []time.Duration{0, -time.Hour} {
			if _, err := f.pruner().Prune(f.ctx, restaq.Prune{OlderThan: d}); err == nil {
				f.Errorf("Prune older than %v worked", d)
			}
		}
		f.read(l.Execution)
	}},
}

func (f *fixture) pruner() restaq.Pruner {
	f.Helper()
	p, ok := f.store.(restaq.Pruner)
	if !ok {
		f.Skip("the store is no restaq.Pruner")
	}
	return p
}

// pruneAll prunes whatever is finished.
func (f *fixture) pruneAll() {
	f.Helper()
	f.advance(time.Hour)
	if _, err := f.pruner().Prune(f.ctx, restaq.Prune{OlderThan: time.Minute}); err != nil {
		f.Fatalf("Prune: %v", err)
	}
}
