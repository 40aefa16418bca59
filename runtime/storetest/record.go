package storetest

import (
	"fmt"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// lostLeases are the ways to lose a lease. Each gets a fresh running execution
// and leaves it without its lease.
var lostLeases = map[string]func(f *fixture, l restaq.Lease){
	"taken over": func(f *fixture, l restaq.Lease) {
		f.advance(2 * lease)
		f.claim(l.Execution)
	},
	"finished": func(f *fixture, l restaq.Lease) { f.finish(l, completed) },
	"dead":     func(f *fixture, l restaq.Lease) { f.finish(l, died) },
	"cancelled": func(f *fixture, l restaq.Lease) {
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Running}, To: restaq.Cancelled})
	},
	"interrupted and claimed again": func(f *fixture, l restaq.Lease) {
		f.finish(l, interrupted)
		f.claim(l.Execution)
	},
	"taken back uncounted and claimed again": func(f *fixture, l restaq.Lease) {
		o := interrupted
		o.Uncounted = true
		f.finish(l, o)
		f.claim(l.Execution) // the same attempt number, another token
	},
}

// eachLost runs fn for each way to lose a lease and checks that it changed
// nothing.
func eachLost(f *fixture, fn func(f *fixture, l restaq.Lease)) {
	for name, lose := range lostLeases {
		f.Run(name, func(t *testing.T) {
			f := newFixture(t, f.backend)
			l := f.begun("evt_1")
			f.record(l, &restaq.Progress{Steps: steps(1, 1, 1)})
			lose(f, l)
			before := f.history(l.Execution)
			fn(f, l)
			f.equal("history", f.history(l.Execution), before)
		})
	}
}

var recordTests = []test{
	{"steps are appended to the attempt", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 1), Current: "two"})
		f.record(l, &restaq.Progress{Steps: steps(1, 2, 3), Current: "five"})
		h := f.history(l.Execution)
		f.equal("steps", h.Steps, steps(1, 1, 4))
		if h.Execution.Step != "five" || h.Execution.Status != restaq.Running {
			f.Errorf("execution = %+v, want running at step five", h.Execution)
		}
		f.record(l, &restaq.Progress{})
		if e := f.read(l.Execution); e.Step != "" {
			f.Errorf("step under way = %q, want none", e.Step)
		}
	}},

	{"every column comes back as it went in", func(f *fixture) {
		l := f.begun("evt_1")
		at := time.Date(2026, 5, 6, 7, 8, 9, 123456000, time.UTC)
		rows := []restaq.StepRow{
			{Attempt: 1, Seq: 1, Name: "a", Func: "p.f", Status: restaq.StepFailed, Error: "boom", StartedAt: at, EndedAt: at},
			{Attempt: 1, Seq: 2, Name: "a", Func: "p.f", Status: restaq.StepPermanent, Error: "no\nmore", Detail: []byte("{}"), StartedAt: at, EndedAt: at},
			{Attempt: 1, Seq: 3, Name: "b", Func: "p.g", Status: restaq.StepSkipped, StartedAt: at, EndedAt: at},
			{Attempt: 1, Seq: 7, Name: "c", Func: "p.h", Status: restaq.StepCompleted, Output: []byte("1"), Inputs: []byte{9}, Shape: "s", StartedAt: at, EndedAt: at.Add(time.Hour)},
		}
		f.record(l, &restaq.Progress{Steps: rows})
		f.equal("steps", f.history(l.Execution).Steps, rows)
	}},

	{"times of steps are kept in UTC", func(f *fixture) {
		l := f.begun("evt_1")
		rows := steps(1, 1, 1)
		zone := time.FixedZone("away", -7*3600)
		rows[0].StartedAt, rows[0].EndedAt = rows[0].StartedAt.In(zone), rows[0].EndedAt.In(zone)
		f.record(l, &restaq.Progress{Steps: rows})
		f.equal("steps", f.history(l.Execution).Steps, steps(1, 1, 1))
	}},

	{"rows that are there are left alone", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 2)})
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 2)})
		changed := steps(1, 1, 3)
		changed[0].Output, changed[1].Status = []byte("other"), restaq.StepFailed
		f.record(l, &restaq.Progress{Steps: changed})
		f.equal("steps", f.history(l.Execution).Steps, steps(1, 1, 3))
	}},

	{"steps of attempts are in order", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 12)})
		f.finish(l, interrupted)
		second := f.claim(l.Execution).Lease
		f.record(second, &restaq.Progress{Steps: steps(2, 3, 1)})
		f.record(second, &restaq.Progress{Steps: steps(2, 1, 2)})
		f.equal("steps", f.history(l.Execution).Steps, append(steps(1, 1, 12), steps(2, 1, 3)...))
	}},

	{"a lost lease records nothing", func(f *fixture) {
		eachLost(f, func(f *fixture, l restaq.Lease) {
			f.is("Record", f.store.Record(f.ctx, l, &restaq.Progress{Steps: steps(1, 2, 1), Current: "x"}), restaq.ErrLeaseLost)
			f.is("Record of rows that are there", f.store.Record(f.ctx, l, &restaq.Progress{Steps: steps(1, 1, 1)}), restaq.ErrLeaseLost)
		})
	}},

	{"an unknown execution has no lease", func(f *fixture) {
		for _, id := range []string{newID(), "", "no-uuid"} {
			l := restaq.Lease{Execution: id, Attempt: 1, Token: 1}
			f.is("Record", f.store.Record(f.ctx, l, &restaq.Progress{Steps: steps(1, 1, 1)}), restaq.ErrLeaseLost)
		}
	}},

	{"a token that was never given is no lease", func(f *fixture) {
		l := f.begun("evt_1")
		for _, token := range []int64{0, -1, 2, 1 << 62} {
			wrong := l
			wrong.Token = token
			f.is("Record", f.store.Record(f.ctx, wrong, &restaq.Progress{Steps: steps(1, 1, 1)}), restaq.ErrLeaseLost)
		}
		if h := f.history(l.Execution); len(h.Steps) != 0 {
			f.Errorf("steps = %v, want none", h.Steps)
		}
	}},

	{"a lease that ran out but was not taken still records", func(f *fixture) {
		l := f.begun("evt_1")
		f.advance(10 * lease)
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 1)})
		f.finish(l, completed)
	}},

	{"many record at once", func(f *fixture) {
		const n = 40
		leases := make([]restaq.Lease, n)
		for i := range leases {
			leases[i] = f.begun(fmt.Sprint("evt_", i))
		}
		stale := leases[0]
		stale.Token++
		handles := []restaq.Store{f.store, f.another()}
		together(2*n, func(i int) {
			s, l := handles[i%2], leases[i/2]
			if i%10 == 9 { // one failing write fails only its own caller
				if err := s.Record(f.ctx, stale, &restaq.Progress{Steps: steps(1, 9, 1)}); err == nil {
					f.Error("a stale token recorded")
				}
			}
			if err := s.Record(f.ctx, l, &restaq.Progress{Steps: steps(1, 1+i%2, 1)}); err != nil {
				f.Errorf("Record: %v", err)
			}
		})
		for _, l := range leases {
			f.equal("steps", f.history(l.Execution).Steps, steps(1, 1, 2))
		}
	}},

	{"a take-over and a record have one order", func(f *fixture) {
		// Whatever the interleaving, a record that was let through is in the
		// history before the new owner reads it.
		handles := []restaq.Store{f.store, f.another()}
		takeOver := restaq.Claim{Owner: "owner-2", Lease: 1000 * time.Hour, Handlers: []string{handler}, Limit: 1}
		for i := range 20 {
			l := f.begun(fmt.Sprint("evt_", i))
			f.advance(2 * lease)
			var recorded error
			var seen int
			together(2, func(i int) {
				if i == 0 {
					recorded = handles[0].Record(f.ctx, l, &restaq.Progress{Steps: steps(1, 1, 1)})
					return
				}
				claimed, err := handles[1].Claim(f.ctx, takeOver)
				if err != nil {
					f.Errorf("Claim: %v", err)
					return
				}
				if len(claimed) == 0 { // the record's lock was passed over
					seen = -1
					return
				}
				h, err := handles[1].History(f.ctx, l.Execution)
				if err != nil {
					f.Errorf("History: %v", err)
					return
				}
				seen = len(h.Steps)
			})
			after := len(f.history(l.Execution).Steps)
			if seen >= 0 && after != seen {
				f.Errorf("the new owner saw %d steps, and then there were %d", seen, after)
			}
			if (recorded == nil) != (after == 1) {
				f.Errorf("Record = %v, and there are %d steps", recorded, after)
			}
			if seen < 0 { // what was passed over must not meet the next round
				if claimed, err := f.store.Claim(f.ctx, takeOver); err != nil || len(claimed) != 1 {
					f.Fatalf("Claim = %v, %v; want what was passed over", claimedIDs(claimed), err)
				}
			}
		}
	}},
}

var renewTests = []test{
	{"a renewed lease lasts from now", func(f *fixture) {
		l := f.begun("evt_1")
		for range 5 {
			f.advance(lease - 10*time.Second)
			f.renew(lease, restaq.Renewal{Lease: l})
			f.claimNone()
		}
		f.advance(lease + 10*time.Second)
		f.claim(l.Execution)
	}},

	{"a lease can be renewed for longer and for shorter", func(f *fixture) {
		l := f.begun("evt_1")
		f.renew(10*lease, restaq.Renewal{Lease: l})
		f.advance(9 * lease)
		f.claimNone()
		f.renew(time.Second, restaq.Renewal{Lease: l})
		f.advance(10 * time.Second)
		f.claim(l.Execution)
	}},

	{"progress travels with the renewal", func(f *fixture) {
		l := f.begun("evt_1")
		f.renew(lease, restaq.Renewal{Lease: l, Progress: restaq.Progress{Steps: steps(1, 1, 2), Current: "three"}})
		f.renew(lease, restaq.Renewal{Lease: l, Progress: restaq.Progress{Steps: steps(1, 1, 2), Current: "three"}})
		h := f.history(l.Execution)
		f.equal("steps", h.Steps, steps(1, 1, 2))
		if h.Execution.Step != "three" {
			f.Errorf("step under way = %q, want three", h.Execution.Step)
		}
	}},

	{"a lease that ran out but was not taken is renewed", func(f *fixture) {
		l := f.begun("evt_1")
		f.advance(10 * lease)
		f.renew(lease, restaq.Renewal{Lease: l})
		f.claimNone()
		f.finish(l, completed)
	}},

	{"a lost lease is named and the others are renewed", func(f *fixture) {
		taken := f.begun("evt_1")
		f.advance(2 * lease)
		f.claim(taken.Execution)
		done, kept, also := f.begun("evt_2"), f.begun("evt_3"), f.begun("evt_4")
		f.finish(done, completed)
		unknown := restaq.Lease{Execution: newID(), Attempt: 1, Token: 1}
		p := restaq.Progress{Steps: steps(1, 1, 1), Current: "x"}
		got, err := f.store.Renew(f.ctx, []restaq.Renewal{
			{Lease: taken, Progress: p}, {Lease: kept, Progress: p}, {Lease: unknown, Progress: p},
			{Lease: done, Progress: p}, {Lease: also, Progress: p},
		}, 5*lease)
		if err != nil {
			f.Fatal(err)
		}
		f.equal("lost", sorted(got), sorted([]string{taken.Execution, unknown.Execution, done.Execution}))
		for id, want := range map[string]int{taken.Execution: 0, done.Execution: 0, kept.Execution: 1, also.Execution: 1} {
			if h := f.history(id); len(h.Steps) != want {
				f.Errorf("%d steps, want %d", len(h.Steps), want)
			}
		}
		f.advance(2 * lease)
		f.claim(taken.Execution) // its new lease ran out, the renewed ones did not
	}},

	{"nothing to renew is no error", func(f *fixture) { f.renew(lease) }},

	{"a lost lease is not renewed", func(f *fixture) {
		eachLost(f, func(f *fixture, l restaq.Lease) {
			lost, err := f.store.Renew(f.ctx, []restaq.Renewal{{Lease: l, Progress: restaq.Progress{Steps: steps(1, 5, 1), Current: "x"}}}, lease)
			if err != nil {
				f.Fatal(err)
			}
			f.equal("lost", lost, []string{l.Execution})
		})
	}},
}

// renew extends leases, none of which may be lost.
func (f *fixture) renew(d time.Duration, renewals ...restaq.Renewal) {
	f.Helper()
	lost, err := f.store.Renew(f.ctx, renewals, d)
	if err != nil || len(lost) != 0 {
		f.Fatalf("Renew lost %v, %v; want all renewed", lost, err)
	}
}
