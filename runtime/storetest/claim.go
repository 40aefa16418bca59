package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

var claimTests = []test{
	{"a pending execution is claimed with its event", func(f *fixture) {
		ev := newEvent("evt_1")
		n := newExecution(handler)
		f.insert(ev, n)
		c := f.claim(n.ID)
		f.equal("lease", c.Lease, restaq.Lease{Execution: n.ID, Attempt: 1, Token: c.Lease.Token})
		if c.Lease.Token < 1 {
			f.Errorf("token = %d, want at least 1", c.Lease.Token)
		}
		if c.Execution.Status != restaq.Running || c.Execution.Attempts != 1 || c.Kind != restaq.Automatic {
			f.Errorf("claimed %+v of kind %d", c.Execution, c.Kind)
		}
		f.stamped("ReceivedAt", c.Event.ReceivedAt)
		want := *ev
		want.ReceivedAt = c.Event.ReceivedAt
		f.equal("event", c.Event, want)
		f.equal("stored", f.read(n.ID), c.Execution)
		f.claimNone()
	}},

	{"nothing is claimed from an empty store", func(f *fixture) { f.claimNone() }},

	{"only named handlers are claimed", func(f *fixture) {
		f.insert(newEvent("evt_1"), newExecution("a"), newExecution("b"), newExecution("c"))
		if claimed := f.claimAll(); len(claimed) != 0 {
			f.Errorf("claimed %v without handlers", claimedIDs(claimed))
		}
		if claimed := f.claimAll("d", "a.", "A"); len(claimed) != 0 {
			f.Errorf("claimed %v of other handlers", claimedIDs(claimed))
		}
		if claimed := f.claimAll("c", "a"); len(claimed) != 2 {
			f.Errorf("claimed %v, want a's and c's", claimedIDs(claimed))
		}
	}},

	{"the oldest due of a handler come first, up to the limit", func(f *fixture) {
		var want []string
		for i := range 6 {
			want = append(want, f.pending(fmt.Sprint("evt_", i)))
			f.advance(time.Second)
		}
		// The first is retried, and so falls due after all others.
		first := f.claimSome(1, handler)
		f.equal("claimed", claimedIDs(first), want[:1])
		f.finish(first[0].Lease, restaq.Outcome{Status: restaq.Failed, Attempt: restaq.AttemptFailed, Retry: true, RetryIn: time.Second})
		f.advance(2 * time.Second)
		want = append(want[1:], want[0])
		var got []string
		for range 3 {
			got = append(got, claimedIDs(f.claimSome(2, handler))...)
		}
		for i := 0; i < 6; i += 2 { // within one claim any order will do
			f.equal("claimed", sorted(got[i:i+2]), sorted(want[i:i+2]))
		}
	}},

	{"handlers take turns, however much work one of them has", func(f *fixture) {
		const much = 40
		of := map[string]string{}
		for i := range much {
			of[f.insert(newEvent(fmt.Sprint("evt_", i)), newExecution("much"))[0].ID] = "much"
		}
		f.advance(time.Hour) // the others come long after
		for i := range 3 {
			of[f.insert(newEvent(fmt.Sprint("evt_few_", i)), newExecution("few"))[0].ID] = "few"
		}
		of[f.insert(newEvent("evt_one"), newExecution("one"))[0].ID] = "one"
		for _, pass := range []struct {
			handlers []string
			limit    int
			want     map[string]int
		}{
			{[]string{"few", "much", "one"}, 1, map[string]int{"few": 1}},
			{[]string{"much", "none", "one", "few"}, 2, map[string]int{"much": 1, "one": 1}},
			{[]string{"one", "few", "much"}, 3, map[string]int{"few": 2, "much": 1}},
			{[]string{"much", "few", "one"}, 3, map[string]int{"much": 3}},
			{[]string{"few", "one", "much"}, 5, map[string]int{"much": 5}},
		} {
			got := map[string]int{}
			for _, c := range f.claimSome(pass.limit, pass.handlers...) {
				got[of[c.Execution.ID]]++
			}
			f.equal(fmt.Sprintf("claimed by %d of %v", pass.limit, pass.handlers), got, pass.want)
		}
	}},

	{"a retry is due at its time and not before", func(f *fixture) {
		l := f.begun("evt_1")
		e := f.finish(l, retryInHour)
		f.stamped("RetryAt", e.RetryAt)
		f.advance(59 * time.Minute)
		f.claimNone()
		f.advance(2 * time.Minute)
		c := f.claim(l.Execution)
		if c.Lease.Attempt != 2 || c.Lease.Token <= l.Token || c.Kind != restaq.Automatic {
			f.Errorf("claimed %+v of kind %d, want attempt 2 with a greater token", c.Lease, c.Kind)
		}
		if !c.Execution.RetryAt.IsZero() || c.Execution.Error != "boom" || c.Execution.Step != "" {
			f.Errorf("claimed %+v, want no retry time, the last error and no step", c.Execution)
		}
	}},

	{"executions to be passed over are left to others", func(f *fixture) {
		first, second := f.pending("evt_1"), f.pending("evt_2")
		claim := func(except ...string) []string {
			f.Helper()
			claimed, err := f.store.Claim(f.ctx, restaq.Claim{Owner: owner, Lease: time.Hour, Handlers: []string{handler}, Limit: 1, Except: except})
			if err != nil {
				f.Fatalf("Claim: %v", err)
			}
			return claimedIDs(claimed)
		}
		f.equal("nothing but what is to be passed over", claim(first, second, newID(), "no id"), []string(nil))
		f.equal("the oldest is to be passed over", claim(first), []string{second})
		f.equal("the same again", claim(first), []string(nil))
		f.equal("the oldest is not to be passed over any more", claim(), []string{first})
	}},

	{"a running execution is left alone until its lease runs out", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 2), Current: "charge"})
		f.advance(lease - 10*time.Second)
		f.claimNone()
		f.advance(20 * time.Second)
		c := f.claim(l.Execution)
		if c.Lease.Attempt != 2 || c.Lease.Token <= l.Token || c.Kind != restaq.Automatic {
			f.Errorf("claimed %+v of kind %d, want attempt 2 with a greater token", c.Lease, c.Kind)
		}
		h := f.history(l.Execution)
		if len(h.Attempts) != 1 || len(h.Steps) != 2 {
			f.Fatalf("history = %+v, want the lost attempt with its steps", h)
		}
		lost := h.Attempts[0]
		if lost.Number != 1 || lost.Outcome != restaq.AttemptLost || lost.EndedAt.Before(lost.StartedAt) {
			f.Errorf("lost attempt = %+v", lost)
		}
		if h.Execution.Attempts != 2 || h.Execution.Step != "" || h.Kind != restaq.Automatic {
			f.Errorf("execution = %+v", h.Execution)
		}
		f.stamped("StartedAt", h.StartedAt)
	}},

	{"the lost attempt keeps its kind", func(f *fixture) {
		id := f.pending("evt_1")
		f.change(id, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Pending, Kind: restaq.Restarted})
		if c := f.claim(id); c.Kind != restaq.Restarted {
			f.Fatalf("kind = %d, want restarted", c.Kind)
		}
		f.advance(2 * lease)
		if c := f.claim(id); c.Kind != restaq.Automatic {
			f.Errorf("kind = %d, want automatic", c.Kind)
		}
		if h := f.history(id); h.Attempts[0].Kind != restaq.Restarted {
			f.Errorf("lost attempt = %+v, want its kind kept", h.Attempts[0])
		}
	}},

	{"tokens grow with every claim", func(f *fixture) {
		id := f.pending("evt_1")
		var last int64
		for i := range 4 {
			c := f.claim(id)
			if c.Lease.Token <= last {
				f.Fatalf("token %d after %d", c.Lease.Token, last)
			}
			last = c.Lease.Token
			switch i {
			case 0:
				f.finish(c.Lease, interrupted)
			case 1:
				o := interrupted
				o.Uncounted = true
				f.finish(c.Lease, o)
			default:
				f.advance(2 * lease)
			}
		}
	}},

	{"finished executions are never claimed", func(f *fixture) {
		for _, state := range []string{"completed", "dead", "cancelled"} {
			states[state](f, "evt_"+state)
		}
		f.advance(1000 * time.Hour)
		f.claimNone()
	}},

	{"sixteen claimers never get one execution twice", func(f *fixture) {
		const n = 200
		for i := range n {
			f.pending(fmt.Sprint("evt_", i))
		}
		handles := []restaq.Store{f.store, f.another()}
		var mu sync.Mutex
		seen := map[string]bool{}
		together(16, func(i int) {
			for {
				claimed, err := handles[i%2].Claim(f.ctx, restaq.Claim{
					Owner: fmt.Sprint("owner-", i), Lease: time.Hour, Handlers: []string{handler}, Limit: 3,
				})
				if err != nil {
					f.Errorf("Claim: %v", err)
					return
				}
				mu.Lock()
				for _, c := range claimed {
					if seen[c.Execution.ID] {
						f.Errorf("execution %s was claimed twice", c.Execution.ID)
					}
					seen[c.Execution.ID] = true
				}
				done := len(seen) == n
				mu.Unlock()
				// A claim may pass over what another claim has locked, but
				// whoever locked it takes it.
				if done || len(claimed) == 0 {
					return
				}
			}
		})
		for _, c := range f.claimAll(handler) {
			if seen[c.Execution.ID] {
				f.Errorf("execution %s was claimed twice", c.Execution.ID)
			}
			seen[c.Execution.ID] = true
		}
		if len(seen) != n {
			f.Errorf("%d executions were claimed, want %d", len(seen), n)
		}
	}},

	{"sixteen claimers of one expired lease close one attempt", func(f *fixture) {
		l := f.begun("evt_1")
		f.advance(2 * lease)
		handles := []restaq.Store{f.store, f.another()}
		won := make(chan restaq.Lease, 16)
		together(16, func(i int) {
			claimed, err := handles[i%2].Claim(f.ctx, restaq.Claim{Owner: owner, Lease: lease, Handlers: []string{handler}, Limit: 1})
			if err != nil {
				f.Errorf("Claim: %v", err)
			}
			for _, c := range claimed {
				won <- c.Lease
			}
		})
		if len(won) != 1 {
			f.Fatalf("%d claims won, want 1", len(won))
		}
		if h := f.history(l.Execution); len(h.Attempts) != 1 || h.Execution.Attempts != 2 {
			f.Errorf("history = %+v, want one lost attempt", h)
		}
	}},
}

// recovers claims again what the owner does not know to be its own, and checks
// that it is want.
func (f *fixture) recovers(c restaq.Claim, want ...restaq.Lease) []restaq.Claimed {
	f.Helper()
	c.Lease, c.Recover = lease, true
	if c.Owner == "" {
		c.Owner = owner
	}
	if c.Handlers == nil {
		c.Handlers = []string{handler}
	}
	if c.Limit == 0 {
		c.Limit = 100
	}
	claimed, err := f.store.Claim(f.ctx, c)
	if err != nil {
		f.Fatalf("Claim: %v", err)
	}
	var got []restaq.Lease
	for _, one := range claimed {
		got = append(got, one.Lease)
	}
	slices.SortFunc(got, compareLeases)
	slices.SortFunc(want, compareLeases)
	f.equal("recovered leases", got, want)
	return claimed
}

func compareLeases(a, b restaq.Lease) int { return strings.Compare(a.Execution, b.Execution) }

var recoverTests = []test{
	{"what a claim or a delivery took is handed out again as it was begun", func(f *fixture) {
		id := f.pending("evt_1")
		f.change(id, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Pending, Kind: restaq.Restarted})
		claimed := f.claim(id)
		again := f.recovers(restaq.Claim{}, claimed.Lease)
		f.equal("claimed", again[0], claimed)

		begun := f.begun("evt_2")
		again = f.recovers(restaq.Claim{Held: []restaq.Lease{claimed.Lease}}, begun)
		ev := newEvent("evt_2")
		f.equal("payload", again[0].Event.Payload, ev.Payload)
		f.equal("header", again[0].Event.Header, ev.Header)
		f.equal("execution", again[0].Execution, f.read(begun.Execution))

		// It is the same attempt still.
		f.record(begun, &restaq.Progress{Steps: steps(1, 1, 1)})
		f.finish(begun, completed)
		f.finish(claimed.Lease, completed)
		h := f.history(id)
		if len(h.Attempts) != 1 || h.Execution.Attempts != 1 {
			f.Errorf("attempts = %+v, want one", h.Attempts)
		}
		f.recovers(restaq.Claim{})
	}},

	{"what is held, another's, of another handler, or does not run is left alone", func(f *fixture) {
		l := f.begun("evt_1")
		f.recovers(restaq.Claim{Held: []restaq.Lease{l}})
		f.recovers(restaq.Claim{Owner: "owner-2"})
		f.recovers(restaq.Claim{Handlers: []string{"other"}})
		f.recovers(restaq.Claim{Handlers: []string{}})
		for state, put := range states {
			if state != "running" {
				put(f, "evt_"+state)
			}
		}
		f.advance(1000 * time.Hour)
		f.recovers(restaq.Claim{}, l)
		if n := len(f.history(l.Execution).Attempts); n != 0 {
			f.Errorf("%d attempts have ended, want none", n)
		}
	}},

	{"a lease that is held under an older token is not the same", func(f *fixture) {
		old := f.begun("evt_1")
		f.advance(2 * lease)
		claimed := f.claim(old.Execution)
		f.recovers(restaq.Claim{Held: []restaq.Lease{old}}, claimed.Lease)
		f.recovers(restaq.Claim{Held: []restaq.Lease{claimed.Lease, old}})
	}},

	{"the lease is extended", func(f *fixture) {
		l := f.begun("evt_1")
		f.advance(lease - time.Second)
		f.recovers(restaq.Claim{}, l)
		f.advance(lease - time.Second)
		f.claimNone()
		// One that ran out, and that nobody has taken, is the owner's still.
		f.advance(2 * lease)
		f.recovers(restaq.Claim{}, l)
		f.claimNone()
		f.finish(l, completed)
	}},

	{"no more than the limit", func(f *fixture) {
		leases := []restaq.Lease{f.begun("evt_1"), f.begun("evt_2"), f.begun("evt_3")}
		c := restaq.Claim{Owner: owner, Lease: lease, Handlers: []string{handler}, Limit: 2, Recover: true}
		first, err := f.store.Claim(f.ctx, c)
		if err != nil || len(first) != 2 {
			f.Fatalf("Claim = %v, %v; want two", claimedIDs(first), err)
		}
		left := slices.DeleteFunc(leases, func(l restaq.Lease) bool { return l == first[0].Lease || l == first[1].Lease })
		f.recovers(restaq.Claim{Held: []restaq.Lease{first[0].Lease, first[1].Lease}, Limit: 2}, left...)
	}},

	{"a recovery and a take-over have one order", func(f *fixture) {
		handles := []restaq.Store{f.store, f.another()}
		for i := range 20 {
			l := f.begun(fmt.Sprint("evt_", i))
			f.advance(2 * lease)
			claims := []restaq.Claim{
				{Owner: owner, Lease: 1000 * time.Hour, Handlers: []string{handler}, Limit: 1, Recover: true},
				{Owner: "owner-2", Lease: 1000 * time.Hour, Handlers: []string{handler}, Limit: 1},
			}
			claimed := make([][]restaq.Claimed, 2)
			together(2, func(j int) {
				var err error
				if claimed[j], err = handles[j].Claim(f.ctx, claims[j]); err != nil {
					f.Errorf("Claim: %v", err)
				}
			})
			recovered, taken := len(claimed[0]) == 1, len(claimed[1]) == 1
			if err := f.store.Record(f.ctx, l, &restaq.Progress{}); (err == nil) == taken {
				f.Errorf("Record = %v; recovered: %v, taken over: %v", err, recovered, taken)
			}
			for _, c := range slices.Concat(claimed...) {
				if c.Lease != l || !taken {
					f.finish(c.Lease, completed)
				}
			}
			if !recovered && !taken {
				f.finish(l, completed)
			}
		}
	}},
}
