package storetest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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

	{"a dead one keeps its key if it blocks", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		b := f.ordered("evt_2", handler, "k")
		c := f.ordered("evt_3", handler, "k")
		f.finish(f.claim(a).Lease, died)
		blocked := func(want ...string) []restaq.Claimed {
			f.Helper()
			claimed, err := f.store.Claim(f.ctx, restaq.Claim{Owner: owner, Lease: lease, Handlers: []string{handler}, Limit: 5, DeadBlocks: true})
			if err != nil {
				f.Fatalf("Claim: %v", err)
			}
			f.equal("claimed", claimedIDs(claimed), want)
			return claimed
		}
		blocked()
		other := f.ordered("evt_4", handler, "l")
		blocked(other)
		// A person lets it run again, and it dies again.
		retry := restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending, Kind: restaq.Retried}
		f.change(a, retry)
		f.finish(blocked(a)[0].Lease, died)
		blocked()
		// A person gives it up.
		f.change(a, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Cancelled})
		f.finish(blocked(b)[0].Lease, died)
		// One that died holds up those behind it alone.
		f.change(b, retry)
		f.finish(blocked(b)[0].Lease, died)
		blocked()
		f.claim(c) // for a program that says otherwise
	}},

	{"one whose key could not be computed blocks nothing", func(f *fixture) {
		n := newExecution(handler)
		n.Error = "order key: oops"
		f.insert(newEvent("evt_1"), n)
		b := f.ordered("evt_2", handler, "k")
		claimed, err := f.store.Claim(f.ctx, restaq.Claim{Owner: owner, Lease: lease, Handlers: []string{handler}, Limit: 5, DeadBlocks: true})
		if err != nil {
			f.Fatalf("Claim: %v", err)
		}
		f.equal("claimed", claimedIDs(claimed), []string{b})
	}},

	{"a pruned one blocks no more", func(f *fixture) {
		p, ok := f.store.(restaq.Pruner)
		if !ok {
			f.Skip("the store is no restaq.Pruner")
		}
		a := f.ordered("evt_1", handler, "k")
		b := f.ordered("evt_2", handler, "k")
		f.finish(f.claim(a).Lease, died)
		f.advance(2 * time.Hour)
		if pruned, err := p.Prune(f.ctx, restaq.Prune{OlderThan: time.Hour, Statuses: []string{"dead"}}); err != nil || pruned.Executions != 1 {
			f.Fatalf("Prune = %+v, %v", pruned, err)
		}
		claimed, err := f.store.Claim(f.ctx, restaq.Claim{Owner: owner, Lease: lease, Handlers: []string{handler}, Limit: 5, DeadBlocks: true})
		if err != nil {
			f.Fatalf("Claim: %v", err)
		}
		f.equal("claimed", claimedIDs(claimed), []string{b})
	}},

	{"a reopened execution waits for the one that runs", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		b := f.ordered("evt_2", handler, "k")
		c := f.ordered("evt_3", handler, "k")
		f.finish(f.claim(a).Lease, died)
		running := f.claim(b)
		f.change(a, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending})
		f.claimNone()
		f.finish(running.Lease, retryInHour)
		// It was stored first, and so goes before those that wait.
		f.finish(f.claim(a).Lease, completed)
		f.claimNone()
		f.advance(2 * time.Hour)
		f.finish(f.claim(b).Lease, completed)
		f.finish(f.claim(c).Lease, completed)
		// So does one that had completed.
		d := f.ordered("evt_4", handler, "k")
		f.change(b, restaq.Change{From: []restaq.Status{restaq.Completed}, To: restaq.Pending, Kind: restaq.Restarted})
		f.finish(f.claim(b).Lease, completed)
		f.claim(d)
	}},

	{"a lost execution is taken over before a reopened one has the key", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		b := f.ordered("evt_2", handler, "k")
		f.finish(f.claim(a).Lease, died)
		lost := f.claim(b)
		f.change(a, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending})
		f.advance(2 * lease)
		taken := f.claim(b) // its first owner may be about to renew
		f.is("Record", f.store.Record(f.ctx, lost.Lease, &restaq.Progress{}), restaq.ErrLeaseLost)
		f.claimNone()
		f.finish(taken.Lease, completed)
		f.claim(a)
	}},

	{"a recovered execution has the key", func(f *fixture) {
		a := f.ordered("evt_1", handler, "k")
		f.ordered("evt_2", handler, "k")
		l := f.claim(a).Lease
		f.recovers(restaq.Claim{}, l)
		f.claimNone()
	}},

	{"a place is taken when an execution is stored, not when its event came", func(f *fixture) {
		early, late := newEvent("evt_1"), newEvent("evt_2")
		a := newExecution(handler)
		a.OrderKey = "k"
		f.insert(early, a)
		f.insert(late)
		n := newExecution(handler)
		n.OrderKey = "k"
		f.add(late, n)
		replay := newExecution(handler)
		replay.OrderKey, replay.ReplayOf = "k", a.ID
		f.add(early, replay)
		for _, want := range []string{a.ID, n.ID, replay.ID} {
			f.finish(f.claim(want).Lease, completed)
		}
	}},

	{"executions of one event go in the order in which they were made", func(f *fixture) {
		ev := newEvent("evt_1")
		a := f.ordered("evt_1", handler, "k")
		var ids []string
		for range 3 {
			ids = append(ids, newID())
		}
		slices.Reverse(ids)
		for _, id := range ids {
			f.add(ev, restaq.NewExecution{ID: id, Handler: handler, OrderKey: "k", ReplayOf: a})
		}
		for _, id := range append([]string{a}, ids...) {
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

	{"deliveries and claims at once keep one order", func(f *fixture) {
		const keys, senders, each = 3, 6, 6
		l := newLedger(f)
		handles := []restaq.Store{f.store, f.another()}
		together(senders+4, func(i int) {
			s := handles[i%2]
			if i >= senders { // a claimer
				l.work(s, fmt.Sprint("owner-", i), keys*senders*each)
				return
			}
			for n := range each {
				for k := range keys {
					l.deliver(s, fmt.Sprintf("evt_%d_%d_%d", i, n, k), fmt.Sprint("k", k))
				}
			}
		})
		l.check(keys * senders * each)
	}},

	{"a delivery that is not committed holds its place", func(f *fixture) {
		s := usesTx[restaq.Outbox](f)
		first, second := newExecution(handler), newExecution(handler)
		first.OrderKey, second.OrderKey = "k", "k"
		tx := f.backend.Tx.Begin(f.T, f.store)
		if _, _, err := s.InsertTx(f.ctx, tx, &restaq.Insertion{Event: newEvent("evt_1"), Executions: []restaq.NewExecution{first}}); err != nil {
			f.Fatal(err)
		}
		stored := make(chan error, 1)
		go func() {
			_, _, err := f.another().Insert(f.ctx, &restaq.Insertion{Event: newEvent("evt_2"), Executions: []restaq.NewExecution{second}})
			stored <- err
		}()
		for range 20 { // whoever overtakes shows up here
			f.claimNone()
		}
		if err := f.backend.Tx.Commit(f.ctx, tx); err != nil {
			f.Fatal(err)
		}
		if err := <-stored; err != nil {
			f.Fatal(err)
		}
		f.finish(f.claim(first.ID).Lease, completed)
		f.finish(f.claim(second.ID).Lease, completed)
	}},

	{"reopening and claiming at once never run two", func(f *fixture) {
		handles := []restaq.Store{f.store, f.another()}
		reopen := restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending, Kind: restaq.Retried}
		for i := range 10 {
			key := fmt.Sprint("k", i)
			first := f.ordered(fmt.Sprintf("evt_%d_1", i), handler, key)
			f.finish(f.claim(first).Lease, died)
			f.ordered(fmt.Sprintf("evt_%d_2", i), handler, key)
			claimed := make(chan restaq.Lease, 8)
			together(5, func(j int) {
				if j == 0 {
					if _, _, err := handles[0].Change(f.ctx, first, reopen); err != nil {
						f.Errorf("Change: %v", err)
					}
					return
				}
				taken, err := handles[j%2].Claim(f.ctx, restaq.Claim{Owner: fmt.Sprint("owner-", j), Lease: lease, Handlers: []string{handler}, Limit: 5})
				if err != nil {
					f.Errorf("Claim: %v", err)
				}
				for _, c := range taken {
					claimed <- c.Lease
				}
			})
			close(claimed)
			if len(claimed) > 1 {
				f.Fatalf("%d executions of one key run", len(claimed))
			}
			l, running := <-claimed
			for range 2 {
				if !running {
					next := f.claimAll(handler)
					if len(next) != 1 {
						f.Fatalf("Claim took %v, want one", claimedIDs(next))
					}
					l = next[0].Lease
				}
				f.claimNone()
				f.finish(l, completed)
				running = false
			}
		}
	}},
}

// ledger notes what becomes of executions with order keys that are stored and
// claimed by many at once.
type ledger struct {
	*fixture
	clock atomic.Int64

	mu        sync.Mutex
	delivered map[string]delivery // by execution
	running   map[string]string   // by key
	order     map[string][]string // executions as they were claimed, by key
	finished  int
}

// delivery is one call of Insert.
type delivery struct {
	key          string
	began, ended int64 // by the ledger's clock
}

func newLedger(f *fixture) *ledger {
	return &ledger{fixture: f, delivered: map[string]delivery{}, running: map[string]string{}, order: map[string][]string{}}
}

// deliver stores an execution of a key.
func (l *ledger) deliver(s restaq.Store, eventID, key string) {
	n := newExecution(handler)
	n.OrderKey = key
	d := delivery{key: key, began: l.clock.Add(1)}
	if _, _, err := s.Insert(l.ctx, &restaq.Insertion{Event: newEvent(eventID), Executions: []restaq.NewExecution{n}}); err != nil {
		l.Errorf("Insert: %v", err)
	}
	d.ended = l.clock.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delivered[n.ID] = d
}

// work claims and finishes until n executions are finished. Each one's history
// begins with a failed attempt that is due again at once.
func (l *ledger) work(s restaq.Store, owner string, n int) {
	again := restaq.Outcome{Status: restaq.Failed, Attempt: restaq.AttemptFailed, Retry: true, Error: "boom"}
	for range 20_000 { // bounded, so that a store that forgets one fails
		claimed, err := s.Claim(l.ctx, restaq.Claim{Owner: owner, Lease: lease, Handlers: []string{handler}, Limit: 2})
		if err != nil {
			l.Errorf("Claim: %v", err)
			return
		}
		for _, c := range claimed {
			h, err := s.History(l.ctx, c.Execution.ID)
			if err != nil {
				l.Errorf("History: %v", err)
				return
			}
			l.begin(h.OrderKey, c.Execution.ID, c.Lease.Attempt)
			if err := s.Record(l.ctx, c.Lease, &restaq.Progress{Steps: steps(c.Lease.Attempt, 1, 1)}); err != nil {
				l.Errorf("Record: %v", err)
			}
			o := completed
			if c.Lease.Attempt == 1 {
				o = again
			}
			l.end(h.OrderKey, o.Status == restaq.Completed)
			if _, err := s.Finish(l.ctx, c.Lease, &o); err != nil {
				l.Errorf("Finish: %v", err)
				return
			}
		}
		l.mu.Lock()
		done := l.finished >= n
		l.mu.Unlock()
		if done {
			return
		}
	}
}

func (l *ledger) begin(key, id string, attempt int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := l.running[key]; other != "" {
		l.Errorf("%s and %s of key %s run at once", other, id, key)
	}
	l.running[key] = id
	if attempt == 1 {
		l.order[key] = append(l.order[key], id)
	} else if last := l.order[key][len(l.order[key])-1]; last != id {
		l.Errorf("%s of key %s overtook %s, which waited for its retry", last, key, id)
	}
}

func (l *ledger) end(key string, completed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, key)
	if completed {
		l.finished++
	}
}

// check checks that n executions ran, and that of two deliveries one of which
// had ended before the other began, the first ran first.
func (l *ledger) check(n int) {
	l.Helper()
	if l.finished != n {
		l.Errorf("%d executions were finished, want %d", l.finished, n)
	}
	for key, ids := range l.order {
		for i, id := range ids {
			for _, later := range ids[i+1:] {
				if l.delivered[later].ended < l.delivered[id].began {
					l.Errorf("key %s: %s ran before %s, which was delivered before it", key, id, later)
				}
			}
		}
	}
}
