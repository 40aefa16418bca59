package storetest

import (
	"fmt"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// The engine never begins an execution with an order key in Insert: whether
// anything earlier is unfinished is decided by Claim.

// ordered stores an event with one execution of an order key.
func (f *fixture) ordered(eventID, handler, key string) string {
	f.Helper()
	n := newExecution(handler)
	n.OrderKey = key
	return f.insert(newEvent(eventID), n)[0].ID
}

var orderTests = []test{
	{"executions of one key are claimed one at a time, in order of arrival", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		b := f.ordered("evt_2", handler, "k")
		c := f.ordered("evt_3", handler, "k")
		for _, id := range []string{a, b, c} {
			claimed := f.claim(id)
			f.claimNone()
			f.finish(claimed.Lease, completed)
		}
		f.claimNone()
	}},

	{"other keys, other handlers and no key do not wait", func(f *fixture) {
		f.ordered("evt_1", handler, "k")
		f.ordered("evt_2", handler, "l")
		f.ordered("evt_3", "other", "k")
		f.ordered("evt_4", handler, "")
		f.ordered("evt_5", handler, "")
		if claimed := f.claimAll(handler, "other"); len(claimed) != 5 {
			f.Errorf("claimed %d executions, want 5", len(claimed))
		}
	}},

	{"an execution that waits for its retry keeps its key", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		b := f.ordered("evt_2", handler, "k")
		f.finish(f.claim(a).Lease, retryInHour)
		f.claimNone()
		f.advance(2 * time.Hour)
		f.finish(f.claim(a).Lease, completed)
		f.claim(b)
	}},

	{"an execution whose lease ran out keeps its key", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		f.ordered("evt_2", handler, "k")
		f.claim(a)
		f.advance(2 * lease)
		f.claim(a)
	}},

	{"an interrupted execution keeps its key", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		f.ordered("evt_2", handler, "k")
		f.finish(f.claim(a).Lease, interrupted)
		f.claim(a)
	}},

	{"nothing waits for dead and cancelled ones", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		b := f.ordered("evt_2", handler, "k")
		c := f.ordered("evt_3", handler, "k")
		f.finish(f.claim(a).Lease, died)
		f.change(b, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Cancelled})
		f.claim(c)
	}},

	{"a reopened execution waits for the one that runs", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		b := f.ordered("evt_2", handler, "k")
		f.finish(f.claim(a).Lease, died)
		running := f.claim(b)
		f.change(a, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending})
		f.claimNone()
		f.finish(running.Lease, completed)
		f.claim(a)
	}},

	{"a reopened execution does not wait for one that is lost", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		b := f.ordered("evt_2", handler, "k")
		f.finish(f.claim(a).Lease, died)
		f.claim(b)
		f.change(a, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending})
		f.advance(2 * lease)
		f.finish(f.claim(a).Lease, completed)
		f.claim(b)
	}},

	{"arrival decides, not when an execution was made", func(f *fixture) {
		early, late := newEvent("evt_1"), newEvent("evt_2")
		f.insert(early)
		f.insert(late)
		n := newExecution(handler)
		n.OrderKey = "k"
		f.add(late, n)
		m := newExecution(handler)
		m.OrderKey = "k"
		f.add(early, m)
		f.finish(f.claim(m.ID).Lease, completed)
		f.claim(n.ID)
	}},

	{"executions of one event go by their ids", func(f *fixture) {
		ev := newEvent("evt_1")
		a := f.ordered("evt_1", handler, "k")
		var ids []string
		for range 3 {
			n := newExecution(handler)
			n.OrderKey, n.ReplayOf = "k", a
			f.add(ev, n)
			ids = append(ids, n.ID)
		}
		f.finish(f.claim(a).Lease, completed)
		for _, id := range sorted(ids) {
			f.finish(f.claim(id).Lease, completed)
		}
	}},

	{"those passed over do not use up the limit", func(f *fixture) {
		first := f.ordered("evt_first", handler, "k")
		for i := range 20 {
			f.ordered(fmt.Sprint("evt_", i), handler, "k")
		}
		free := f.pending("evt_free")
		claimed, err := f.store.Claim(f.ctx, restaq.Claim{Owner: owner, Lease: lease, Handlers: []string{handler}, Limit: 2})
		if err != nil || len(claimed) != 2 {
			f.Fatalf("Claim = %v, %v; want 2", claimedIDs(claimed), err)
		}
		f.equal("claimed", sorted(claimedIDs(claimed)), sorted([]string{first, free}))
	}},

	{"many claimers keep the order", func(f *fixture) {
		const keys, each = 3, 8
		want := map[string][]string{}
		for i := range keys * each {
			key := fmt.Sprint("k", i%keys)
			want[key] = append(want[key], f.ordered(fmt.Sprint("evt_", i), handler, key))
		}
		handles := []restaq.Store{f.store, f.another()}
		var mu sync.Mutex
		got := map[string][]string{}
		left := keys * each
		together(6, func(i int) {
			for range 10_000 { // bounded, so that a store that forgets one fails
				claimed, err := handles[i%2].Claim(f.ctx, restaq.Claim{Owner: owner, Lease: lease, Handlers: []string{handler}, Limit: 2})
				if err != nil {
					f.Errorf("Claim: %v", err)
					return
				}
				for _, c := range claimed {
					h, err := handles[i%2].History(f.ctx, c.Execution.ID)
					if err != nil {
						f.Errorf("History: %v", err)
						return
					}
					mu.Lock()
					got[h.OrderKey] = append(got[h.OrderKey], c.Execution.ID)
					left--
					mu.Unlock()
					if _, err := handles[i%2].Finish(f.ctx, c.Lease, &completed); err != nil {
						f.Errorf("Finish: %v", err)
						return
					}
				}
				mu.Lock()
				done := left <= 0
				mu.Unlock()
				if done {
					return
				}
			}
		})
		f.equal("order", got, want)
	}},
}
