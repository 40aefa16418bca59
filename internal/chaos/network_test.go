//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Requests and answers are lost, cut, delayed and swallowed, each one's way.
func TestNetworkFails(t *testing.T) {
	t.Parallel()
	f := newFleetOn(t, "postgres", newServer(t).url) // half a message holds up whoever makes databases
	all := []fault{loseAnswer, cutAnswer, cutQuestion, swallowReply, swallowHalf, swallowAll, delay}
	p := newProxy(t, f.target, sometimes(30, all...))
	f.underLoad(4*time.Second, crashes, func(cfg *workerConfig) { cfg.Target = p.url }, func(ctx context.Context) {
		p.calm.Store(false)
		<-ctx.Done()
		p.calm.Store(true)
	})
	total := int64(0)
	for _, kind := range all {
		total += p.counts[kind].Load()
		t.Logf("%s: %d", kind, p.counts[kind].Load())
	}
	if total == 0 {
		t.Error("nothing failed")
	}
}

// The server commits and the answer is lost: whoever asks again recognises its
// own work. No step runs twice, but where the lease ran out before a connection
// was made that the record could go by.
func TestAnswersAreLost(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "postgres")
	p := newProxy(t, f.target, sometimes(10, loseAnswer))
	// A claim whose answer was lost leaves leases that nobody knows of, so
	// attempts may be lost; steps may not.
	f.underLoad(3*time.Second, crashes, func(cfg *workerConfig) {
		cfg.Target, cfg.Lease = p.url, 5*time.Second
	}, func(ctx context.Context) {
		p.calm.Store(false)
		<-ctx.Done()
		p.calm.Store(true)
	})
	type call struct{ execution, step string }
	runs := make(map[call][]entry)
	values := make(map[call]string)
	for _, e := range f.entries() {
		c := call{e.Execution, e.Step}
		switch e.What {
		case returned:
			if e.Step == booking {
				continue // a transaction that has not been committed is begun anew
			}
			runs[c] = append(runs[c], e)
		case recorded:
			if before, ok := values[c]; ok && before != e.Value {
				t.Errorf("execution %s: step %s returned %q and then %q", c.execution, c.step, before, e.Value)
			}
			values[c] = e.Value
		}
	}
	for c, all := range runs {
		if len(all) > 1 && len(slices.DeleteFunc(all, func(e entry) bool { return f.lost(&e) })) > 1 {
			t.Errorf("execution %s: step %s completed %d times", c.execution, c.step, len(all))
		}
	}
	t.Logf("%d answers lost", p.counts[loseAnswer].Load())
	if p.counts[loseAnswer].Load() == 0 {
		t.Error("no answer was lost")
	}
}

// lost reports whether the attempt that an entry belongs to was lost.
func (f *fleet) lost(e *entry) bool {
	f.t.Helper()
	h, err := f.store.History(f.t.Context(), e.Execution)
	if err != nil {
		f.t.Fatal(err)
	}
	return slices.ContainsFunc(h.Attempts, func(a restaq.AttemptRow) bool {
		return a.Number == e.Attempt && a.Outcome == restaq.AttemptLost
	})
}

// A worker is cut off from the server for longer than its lease, with all its
// connections open and silent. The others take over; what it comes back with
// is refused.
func TestPartition(t *testing.T) {
	t.Parallel()
	f := newFleetOn(t, "postgres", newServer(t).url) // half a message holds up whoever makes databases
	var proxies []*proxy
	f.underLoad(5*time.Second, crashes, func(cfg *workerConfig) {
		p := newProxy(t, f.target, sometimes(1, none))
		proxies = append(proxies, p)
		cfg.Target, cfg.Lease = p.url, time.Second
	}, func(ctx context.Context) {
		for pause(ctx, 200*time.Millisecond) == nil {
			p := proxies[rand.N(len(proxies))]
			p.silent.Store(true)
			_ = pause(ctx, time.Second+time.Duration(rand.N(1000))*time.Millisecond)
			p.silent.Store(false)
		}
	})
	lost := false
	for _, e := range f.entries() {
		lost = lost || e.What == refused && e.Text == restaq.ErrLeaseLost.Error()
	}
	t.Logf("some write was refused: %t", lost)
}

// The database has fallen silent, with all connections open. Deliveries are
// refused for now, in time for any provider, however many come at once; and
// when it is back they are taken again, though the old connections stay silent
// for ever.
func TestSilentDatabaseRefusesDeliveriesInTime(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "postgres")
	p := newProxy(t, f.target, sometimes(1, none))
	s := newSendings()
	worker := f.start(workerConfig{Name: "worker", Target: p.url})
	f.first(s, worker)
	p.silent.Store(true)
	const limit, slack = 2500 * time.Millisecond, 5 * time.Second // Config.DeliverTimeout's default; of a busy machine
	var posting sync.WaitGroup
	for i := range 8 {
		posting.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			start := time.Now()
			a, err := post(ctx, worker, order{ID: fmt.Sprint("evt_", i)})
			if a == nil || a.status != http.StatusServiceUnavailable || a.again == "" {
				t.Errorf("delivery %d was answered %+v, %v; want 503 with Retry-After", i, a, err)
			}
			if took := time.Since(start); took > limit+slack {
				t.Errorf("the answer to delivery %d took %v, want %v", i, took, limit)
			}
		})
	}
	posting.Wait()
	p.silent.Store(false)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i := range 8 {
		f.deliver(ctx, s, order{ID: fmt.Sprint("evt_", i)})
	}
	f.settle()
	f.verify(s, evidence{allowed: crashes})
}
