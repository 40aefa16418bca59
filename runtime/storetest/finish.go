package storetest

import (
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

var finishTests = []test{
	{"a completed attempt completes the execution", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 1), Current: "two"})
		o := completed
		o.Steps, o.Detail = steps(1, 1, 3), []byte("detail")
		e := f.finish(l, o)
		f.stamped("FinishedAt", e.FinishedAt)
		if e.Status != restaq.Completed || e.Attempts != 1 || e.Error != "" || e.Step != "" || !e.RetryAt.IsZero() {
			f.Errorf("execution = %+v", e)
		}
		f.equal("stored", f.read(l.Execution), *e)
		h := f.history(l.Execution)
		f.equal("steps", h.Steps, steps(1, 1, 3))
		f.equal("attempts", h.Attempts, []restaq.AttemptRow{{
			Number: 1, Outcome: restaq.AttemptCompleted, Detail: []byte("detail"),
			StartedAt: h.Attempts[0].StartedAt, EndedAt: h.Attempts[0].EndedAt,
		}})
		f.stamped("StartedAt", h.Attempts[0].StartedAt)
		f.stamped("EndedAt", h.Attempts[0].EndedAt)
		if !h.StartedAt.IsZero() {
			f.Errorf("StartedAt = %v, but no attempt is under way", h.StartedAt)
		}
	}},

	{"a failure with a retry waits for it", func(f *fixture) {
		l := f.begun("evt_1")
		e := f.finish(l, retryInHour)
		f.stamped("RetryAt", e.RetryAt)
		if !e.Retrying() || e.Error != "boom" || e.Step != "charge" || !e.FinishedAt.IsZero() {
			f.Errorf("execution = %+v", e)
		}
		h := f.history(l.Execution)
		if a := h.Attempts[0]; a.Outcome != restaq.AttemptFailed || a.Error != "boom" || a.Step != "charge" {
			f.Errorf("attempt = %+v", a)
		}
		if wait := e.RetryAt.Sub(h.Attempts[0].EndedAt); wait != time.Hour {
			f.Errorf("due %v after the attempt's end, want 1h", wait)
		}
	}},

	{"a retry at once is due at once", func(f *fixture) {
		l := f.begun("evt_1")
		o := retryInHour
		o.RetryIn = 0
		if e := f.finish(l, o); !e.Retrying() {
			f.Errorf("execution = %+v, want retrying", e)
		}
		f.claim(l.Execution)
	}},

	{"a failure without a retry is dead", func(f *fixture) {
		l := f.begun("evt_1")
		e := f.finish(l, died)
		f.stamped("FinishedAt", e.FinishedAt)
		if !e.Dead() || e.Error != "boom" || e.Step != "charge" {
			f.Errorf("execution = %+v", e)
		}
	}},

	{"an interrupted attempt is due again at once", func(f *fixture) {
		l := f.begun("evt_1")
		e := f.finish(l, interrupted)
		if e.Status != restaq.Pending || e.Attempts != 1 || !e.FinishedAt.IsZero() || !e.RetryAt.IsZero() {
			f.Errorf("execution = %+v", e)
		}
		c := f.claim(l.Execution)
		if c.Lease.Attempt != 2 || c.Kind != restaq.Automatic {
			f.Errorf("claimed %+v of kind %d, want attempt 2", c.Lease, c.Kind)
		}
	}},

	{"a released attempt is due again after a while, and says why", func(f *fixture) {
		l := f.begun("evt_1")
		e := f.finish(l, released)
		if e.Status != restaq.Pending || e.Attempts != 1 || !e.FinishedAt.IsZero() || !e.RetryAt.IsZero() || e.Error != "newer" || e.Step != "charge" {
			f.Errorf("execution = %+v", e)
		}
		f.claimNone()
		if h := f.history(l.Execution); len(h.Attempts) != 1 || h.Attempts[0].Outcome != restaq.AttemptReleased || h.Attempts[0].Error != "newer" {
			f.Errorf("attempts = %+v", h.Attempts)
		}
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Pending, Kind: restaq.Retried})
		if c := f.claim(l.Execution); c.Lease.Attempt != 2 || c.Kind != restaq.Retried {
			f.Errorf("claimed %+v of kind %d, want attempt 2, as asked for", c.Lease, c.Kind)
		}
	}},

	{"why a dead execution is dead stays until it is reopened", func(f *fixture) {
		l := f.begun("evt_1")
		o := died
		o.StoppedBy = restaq.StoppedBySchema
		if e := f.finish(l, o); e.StoppedBy != restaq.StoppedBySchema {
			f.Errorf("execution = %+v, want it stopped by %s", e, o.StoppedBy)
		}
		if e := f.read(l.Execution); e.StoppedBy != restaq.StoppedBySchema {
			f.Errorf("execution = %+v, want it stopped by %s", e, o.StoppedBy)
		}
		if e := f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending, Kind: restaq.Retried}); e.StoppedBy != "" {
			f.Errorf("reopened: stopped by %q, want nothing", e.StoppedBy)
		}
		if e := f.finish(f.claim(l.Execution).Lease, died); !e.Dead() || e.StoppedBy != "" {
			f.Errorf("dead again for no reason that is known: %+v", e)
		}
	}},

	{"the last failed attempt's error stays", func(f *fixture) {
		l := f.begun("evt_1")
		o := retryInHour
		o.RetryIn = 0
		f.finish(l, o)
		if e := f.finish(f.claim(l.Execution).Lease, interrupted); e.Error != "boom" || e.Step != "" {
			f.Errorf("after an interruption: error %q, step %q", e.Error, e.Step)
		}
		if e := f.finish(f.claim(l.Execution).Lease, completed); e.Error != "boom" || e.Step != "" {
			f.Errorf("after completion: error %q, step %q", e.Error, e.Step)
		}
	}},

	{"an uncounted attempt leaves no trace", func(f *fixture) {
		l := f.begun("evt_1")
		o := interrupted
		o.Uncounted = true
		e := f.finish(l, o)
		if e.Attempts != 0 || e.Status != restaq.Pending {
			f.Errorf("execution = %+v, want pending without attempts", e)
		}
		if h := f.history(l.Execution); len(h.Attempts) != 0 {
			f.Errorf("attempts = %+v, want none", h.Attempts)
		}
		c := f.claim(l.Execution)
		if c.Lease.Attempt != 1 || c.Lease.Token <= l.Token {
			f.Errorf("claimed %+v, want attempt 1 with a greater token", c.Lease)
		}
		f.record(c.Lease, &restaq.Progress{Steps: steps(1, 1, 1)})
		f.finish(c.Lease, completed)
	}},

	{"an uncounted attempt can be put off", func(f *fixture) {
		l := f.begun("evt_1")
		o := restaq.Outcome{Status: restaq.Failed, Attempt: restaq.AttemptFailed, Retry: true, RetryIn: time.Hour, Error: "later", Uncounted: true}
		if e := f.finish(l, o); !e.Retrying() || e.Attempts != 0 || e.Error != "later" {
			f.Errorf("execution = %+v, want retrying without attempts", e)
		}
		f.claimNone()
	}},

	{"what an uncounted attempt was to be, the next one is", func(f *fixture) {
		id := f.pending("evt_1")
		f.change(id, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Pending, Kind: restaq.Restarted})
		o := interrupted
		o.Uncounted = true
		f.finish(f.claim(id).Lease, o)
		if c := f.claim(id); c.Kind != restaq.Restarted {
			f.Errorf("kind = %d, want restarted", c.Kind)
		}
	}},

	{"the same end again is recognised", func(f *fixture) {
		for name, o := range map[string]restaq.Outcome{
			"completed": completed, "retry": retryInHour, "dead": died, "interrupted": interrupted, "released": released,
			"uncounted": {Status: restaq.Pending, Attempt: restaq.AttemptInterrupted, Uncounted: true},
		} {
			f.Run(name, func(t *testing.T) {
				f := newFixture(t, f.backend)
				l := f.begun("evt_1")
				f.finish(l, o)
				before := f.history(l.Execution)
				again := f.finish(l, o)
				f.equal("execution", *again, before.Execution)
				f.equal("history", f.history(l.Execution), before)
			})
		}
	}},

	{"the same end again is recognised after the next claim", func(f *fixture) {
		l := f.begun("evt_1")
		f.finish(l, interrupted)
		f.claim(l.Execution)
		before := f.history(l.Execution)
		again := f.finish(l, interrupted)
		f.equal("execution", *again, before.Execution)
		f.equal("history", f.history(l.Execution), before)
	}},

	{"another end is refused", func(f *fixture) {
		for name, lose := range lostLeases {
			f.Run(name, func(t *testing.T) {
				f := newFixture(t, f.backend)
				l := f.begun("evt_1")
				lose(f, l)
				before := f.history(l.Execution)
				for _, o := range []restaq.Outcome{
					{Status: restaq.Completed, Attempt: restaq.AttemptCompleted, Step: "other", Steps: steps(1, 1, 1)},
					{Status: restaq.Failed, Attempt: restaq.AttemptFailed, Error: "other", Steps: steps(1, 1, 1)},
					{Status: restaq.Failed, Attempt: restaq.AttemptCancelled},
				} {
					_, err := f.store.Finish(f.ctx, l, &o)
					f.is("Finish", err, restaq.ErrLeaseLost)
				}
				f.equal("history", f.history(l.Execution), before)
			})
		}
		_, err := f.store.Finish(f.ctx, restaq.Lease{Execution: newID(), Attempt: 1, Token: 1}, &completed)
		f.is("Finish of an unknown execution", err, restaq.ErrLeaseLost)
	}},

	{"another process's end of the same attempt number is refused", func(f *fixture) {
		l := f.begun("evt_1")
		o := interrupted
		o.Uncounted = true
		f.finish(l, o)
		c := f.claim(l.Execution)
		f.finish(c.Lease, completed) // attempt 1 again, by the next token
		_, err := f.store.Finish(f.ctx, l, &completed)
		f.is("Finish", err, restaq.ErrLeaseLost)
	}},

	{"a wish noted while the attempt ran comes next", func(f *fixture) {
		for name, o := range map[string]restaq.Outcome{"completed": completed, "retry": retryInHour, "dead": died, "interrupted": interrupted, "released": released} {
			f.Run(name, func(t *testing.T) {
				f := newFixture(t, f.backend)
				l := f.begun("evt_1")
				f.wish(l.Execution, restaq.Retried)
				f.wish(l.Execution, restaq.Restarted)
				f.wish(l.Execution, restaq.Retried) // the greatest wins
				e := f.finish(l, o)
				if e.Status != restaq.Pending || !e.FinishedAt.IsZero() || !e.RetryAt.IsZero() {
					f.Errorf("execution = %+v, want pending", e)
				}
				if h := f.history(l.Execution); h.Attempts[0].Outcome != o.Attempt || h.Attempts[0].Kind != restaq.Automatic {
					f.Errorf("attempt = %+v, want it closed as the outcome says", h.Attempts[0])
				}
				c := f.claim(l.Execution)
				if c.Kind != restaq.Restarted {
					f.Errorf("kind = %d, want restarted", c.Kind)
				}
				if h := f.history(l.Execution); h.Kind != restaq.Restarted {
					f.Errorf("kind under way = %d, want restarted", h.Kind)
				}
				if e := f.finish(c.Lease, completed); e.Status != restaq.Completed {
					f.Errorf("the wish was not used up: %+v", e)
				}
			})
		}
	}},

	{"a wish survives the loss of the attempt", func(f *fixture) {
		l := f.begun("evt_1")
		f.wish(l.Execution, restaq.Restarted)
		f.advance(2 * lease)
		if c := f.claim(l.Execution); c.Kind != restaq.Restarted {
			f.Errorf("kind = %d, want restarted", c.Kind)
		}
	}},

	{"many ends of one attempt have one effect", func(f *fixture) {
		l := f.begun("evt_1")
		handles := []restaq.Store{f.store, f.another()}
		together(16, func(i int) {
			o := retryInHour
			o.Steps = steps(1, 1, 2)
			if _, err := handles[i%2].Finish(f.ctx, l, &o); err != nil {
				f.Errorf("Finish: %v", err)
			}
		})
		if h := f.history(l.Execution); len(h.Attempts) != 1 || len(h.Steps) != 2 || !h.Execution.Retrying() {
			f.Errorf("history = %+v", h)
		}
	}},

	{"an end and a cancellation have one order", func(f *fixture) {
		handles := []restaq.Store{f.store, f.another()}
		for i := range 20 {
			l := f.begun("evt_" + string(rune('a'+i)))
			var finished error
			var cancelled bool
			together(2, func(i int) {
				if i == 0 {
					_, finished = handles[0].Finish(f.ctx, l, &completed)
					return
				}
				var err error
				_, cancelled, err = handles[1].Change(f.ctx, l.Execution, restaq.Change{From: []restaq.Status{restaq.Running}, To: restaq.Cancelled})
				if err != nil {
					f.Errorf("Change: %v", err)
				}
			})
			if (finished == nil) == cancelled {
				f.Errorf("Finish = %v, cancelled = %v; want one of them", finished, cancelled)
			}
			if h := f.history(l.Execution); len(h.Attempts) != 1 {
				f.Errorf("attempts = %+v, want one", h.Attempts)
			}
		}
	}},
}

// wish notes a wish on a running execution.
func (f *fixture) wish(id string, kind restaq.AttemptKind) {
	f.Helper()
	f.change(id, restaq.Change{From: []restaq.Status{restaq.Running}, To: restaq.Running, Kind: kind})
}
