package storetest

import (
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// allBut returns the statuses other than s.
func allBut(s restaq.Status) []restaq.Status {
	var others []restaq.Status
	for _, x := range []restaq.Status{restaq.Pending, restaq.Running, restaq.Completed, restaq.Failed, restaq.Cancelled} {
		if x != s {
			others = append(others, x)
		}
	}
	return others
}

// eachState runs fn for an execution in each of the states.
func eachState(f *fixture, fn func(f *fixture, state string, l restaq.Lease), names ...string) {
	for _, state := range names {
		f.Run(state, func(t *testing.T) {
			f := newFixture(t, f.backend)
			fn(f, state, states[state](f, "evt_1"))
		})
	}
}

var changeTests = []test{
	{"an unknown execution is not found", func(f *fixture) {
		for _, id := range []string{newID(), "", "no-uuid", "evt_1"} {
			_, _, err := f.store.Change(f.ctx, id, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending})
			f.is("Change", err, restaq.ErrNotFound)
			_, _, err = f.store.Change(f.ctx, id, restaq.Change{})
			f.is("read", err, restaq.ErrNotFound)
		}
	}},

	{"another status changes nothing", func(f *fixture) {
		eachState(f, func(f *fixture, state string, l restaq.Lease) {
			before := f.history(l.Execution)
			for _, to := range []restaq.Status{restaq.Pending, restaq.Running, restaq.Cancelled} {
				e, changed, err := f.store.Change(f.ctx, l.Execution, restaq.Change{From: allBut(statusOf(state)), To: to, Kind: restaq.Restarted})
				if err != nil || changed {
					f.Fatalf("Change to %s = %v, %v; want no change", to, changed, err)
				}
				f.equal("execution", *e, before.Execution)
			}
			f.equal("history", f.history(l.Execution), before)
		}, "pending", "running", "retrying", "dead", "completed", "cancelled")
	}},

	{"to pending: due at once, of the kind asked for", func(f *fixture) {
		eachState(f, func(f *fixture, state string, l restaq.Lease) {
			before := f.history(l.Execution)
			e := f.change(l.Execution, restaq.Change{
				From: []restaq.Status{restaq.Pending, restaq.Failed, restaq.Completed}, To: restaq.Pending, Kind: restaq.Retried,
			})
			if e.Status != restaq.Pending || !e.FinishedAt.IsZero() || !e.RetryAt.IsZero() || e.Attempts != before.Execution.Attempts || e.Error != before.Execution.Error {
				f.Errorf("execution = %+v", e)
			}
			f.equal("stored", f.read(l.Execution), *e)
			f.equal("attempts", f.history(l.Execution).Attempts, before.Attempts)
			c := f.claim(l.Execution)
			if c.Kind != restaq.Retried || c.Lease.Attempt != before.Execution.Attempts+1 {
				f.Errorf("claimed %+v of kind %d, want the next attempt, retried", c.Lease, c.Kind)
			}
		}, "pending", "retrying", "dead", "completed")
	}},

	{"of two wishes the greater wins", func(f *fixture) {
		for _, kinds := range [][]restaq.AttemptKind{
			{restaq.Retried, restaq.Restarted}, {restaq.Restarted, restaq.Retried}, {restaq.Restarted, restaq.Automatic},
		} {
			l := f.begun("evt_" + string('a'+rune(kinds[0])) + string('a'+rune(kinds[1])))
			f.finish(l, died)
			for _, k := range kinds {
				f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Pending, restaq.Failed}, To: restaq.Pending, Kind: k})
			}
			c := f.claim(l.Execution)
			if c.Kind != restaq.Restarted {
				f.Errorf("%v: kind = %d, want restarted", kinds, c.Kind)
			}
			f.finish(c.Lease, completed)
		}
	}},

	{"to running: the wish is noted and the attempt goes on", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Current: "one"})
		before := f.history(l.Execution)
		f.wish(l.Execution, restaq.Retried)
		f.equal("history", f.history(l.Execution), before)
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 1)})
		f.renew(lease, restaq.Renewal{Lease: l})
		f.claimNone()
	}},

	{"to cancelled: final", func(f *fixture) {
		eachState(f, func(f *fixture, state string, l restaq.Lease) {
			before := f.history(l.Execution)
			e := f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Pending, restaq.Failed}, To: restaq.Cancelled})
			f.stamped("FinishedAt", e.FinishedAt)
			if e.Status != restaq.Cancelled || !e.RetryAt.IsZero() || e.Error != before.Execution.Error {
				f.Errorf("execution = %+v", e)
			}
			f.equal("attempts", f.history(l.Execution).Attempts, before.Attempts)
			f.advance(1000 * time.Hour)
			f.claimNone()
		}, "pending", "retrying", "dead")
	}},

	{"to cancelled from running: the attempt is closed and its lease void", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 1), Current: "two"})
		f.wish(l.Execution, restaq.Restarted)
		e := f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Running}, To: restaq.Cancelled})
		f.stamped("FinishedAt", e.FinishedAt)
		if e.Status != restaq.Cancelled || e.Attempts != 1 {
			f.Errorf("execution = %+v", e)
		}
		h := f.history(l.Execution)
		if len(h.Attempts) != 1 || h.Attempts[0].Number != 1 || h.Attempts[0].Outcome != restaq.AttemptCancelled {
			f.Fatalf("attempts = %+v, want one, cancelled", h.Attempts)
		}
		f.stamped("EndedAt", h.Attempts[0].EndedAt)
		f.equal("steps", h.Steps, steps(1, 1, 1))
		if !h.StartedAt.IsZero() || h.Kind != restaq.Automatic {
			f.Errorf("an attempt is under way: %+v", h)
		}
		f.advance(1000 * time.Hour)
		f.claimNone()
	}},

	{"a retried execution keeps its last error until it fails again", func(f *fixture) {
		l := f.begun("evt_1")
		f.finish(l, died)
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending, Kind: restaq.Retried})
		o := died
		o.Error, o.Step = "bang", "mail"
		if e := f.finish(f.claim(l.Execution).Lease, o); e.Error != "bang" || e.Step != "mail" {
			f.Errorf("execution = %+v, want the new error", e)
		}
	}},

	{"many changes have one effect each", func(f *fixture) {
		l := f.begun("evt_1")
		f.finish(l, died)
		handles := []restaq.Store{f.store, f.another()}
		changes := make(chan bool, 16)
		together(16, func(i int) {
			_, changed, err := handles[i%2].Change(f.ctx, l.Execution, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending, Kind: restaq.Retried})
			if err != nil {
				f.Errorf("Change: %v", err)
			}
			changes <- changed
		})
		close(changes)
		n := 0
		for changed := range changes {
			if changed {
				n++
			}
		}
		if n != 1 {
			f.Errorf("%d changes from failed, want 1", n)
		}
		f.claim(l.Execution)
	}},
}
