package restaq_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

func TestEqualOrderKeysRunOneAtATimeInOrder(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var mu sync.Mutex
		var order []string
		running := 0
		handler := on("h", func(_ context.Context, e restaq.Event) error {
			mu.Lock()
			defer mu.Unlock()
			if running++; running > 1 {
				t.Error("two executions of one key run at once")
			}
			order = append(order, e.ID)
			running--
			if len(order) == 1 {
				return errors.New("its retry keeps the key")
			}
			return nil
		})
		handler.Order = func(e restaq.Event) string {
			if e.Header.Get("Key") == "panic" {
				panic("no key")
			}
			return e.Header.Get("Key")
		}
		rt, _ := start(t, open(), quick(), handler)
		var want, ids []string
		for range 5 {
			event := newEvent()
			event.Header = map[string][]string{"Key": {"customer"}}
			ids = append(ids, deliver(t, rt, event).ID)
			want = append(want, event.ID)
		}
		for _, id := range ids {
			wait(t, rt, id, "completed")
		}
		mu.Lock()
		defer mu.Unlock()
		if got := fmt.Sprint(order[1:]); got != fmt.Sprint(want) {
			t.Errorf("order %s, want %s after the first's failed attempt", got, want)
		}

		// A key that cannot be computed: the event is stored, its execution dead.
		event := newEvent()
		event.Header = map[string][]string{"Key": {"panic"}}
		e := deliver(t, rt, event)
		if !e.Dead() || e.Error != "order key: panic: no key" {
			t.Errorf("execution %s: %s", word(&e), e.Error)
		}
	})
}

// mortal is a process's way to its store, which ends with the process.
type mortal struct {
	restaq.Store
	dead atomic.Bool
}

var errDead = errors.New("the process is dead")

func (s *mortal) Claim(ctx context.Context, c restaq.Claim) ([]restaq.Claimed, error) {
	if s.dead.Load() {
		return nil, errDead
	}
	return s.Store.Claim(ctx, c)
}

func (s *mortal) Record(ctx context.Context, l restaq.Lease, p *restaq.Progress) error {
	if s.dead.Load() {
		return errDead
	}
	return s.Store.Record(ctx, l, p)
}

func (s *mortal) Renew(ctx context.Context, r []restaq.Renewal, d time.Duration) ([]string, error) {
	if s.dead.Load() {
		return nil, errDead
	}
	return s.Store.Renew(ctx, r, d)
}

func (s *mortal) Finish(ctx context.Context, l restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	if s.dead.Load() {
		return nil, errDead
	}
	return s.Store.Finish(ctx, l, o)
}

// line notes what processes do with executions of a few keys.
type line struct {
	t     *testing.T
	clock atomic.Int64

	mu        sync.Mutex
	running   map[string]string   // event by key
	order     map[string][]string // events as they began, by key
	delivered map[string][2]int64 // when its delivery began and ended, by event
}

func (l *line) begin(key, event string, attempt int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := l.running[key]; other != "" {
		l.t.Errorf("%s and %s of key %s run at once", other, event, key)
	}
	l.running[key] = event
	if attempt == 1 {
		l.order[key] = append(l.order[key], event)
	} else if begun := l.order[key]; len(begun) == 0 || begun[len(begun)-1] != event {
		l.t.Errorf("attempt %d of %s of key %s begins after %v", attempt, event, key, begun)
	}
}

func (l *line) end(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, key)
}

// check checks that of two deliveries of a key, one of which had ended before
// the other began, the first ran first.
func (l *line) check(keys, each int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, events := range l.order {
		if len(events) != each {
			l.t.Errorf("%d executions of key %s ran, want %d", len(events), key, each)
		}
		for i, event := range events {
			for _, later := range events[i+1:] {
				if l.delivered[later][1] < l.delivered[event][0] {
					l.t.Errorf("%s of key %s ran before %s, which was delivered before it", event, key, later)
				}
			}
		}
	}
	if len(l.order) != keys {
		l.t.Errorf("%d keys ran, want %d", len(l.order), keys)
	}
}

// Three processes deliver and run; one of them dies in the middle of an
// execution, which another takes over.
func TestEqualOrderKeysKeepTheirOrderOverProcessesAndACrash(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		const processes, keys, each = 3, 2, 9
		l := &line{t: t, running: map[string]string{}, order: map[string][]string{}, delivered: map[string][2]int64{}}
		var stores []*mortal
		var begun atomic.Int32
		var all sync.WaitGroup
		var runtimes []*restaq.Runtime
		for p := range processes {
			stores = append(stores, &mortal{Store: open()})
			handler := on("h", func(ctx context.Context, e restaq.Event) error {
				key := e.Header.Get("Key")
				l.begin(key, e.ID, restaq.Attempt(ctx))
				defer l.end(key)
				if begun.Add(1) == 4 {
					stores[p].dead.Store(true)
					return nil // and nobody hears of it
				}
				if restaq.Attempt(ctx) == 1 && l.clock.Load()%3 == 0 {
					return errors.New("its retry keeps the key")
				}
				return nil
			})
			handler.Order = func(e restaq.Event) string { return e.Header.Get("Key") }
			cfg := quick()
			cfg.Lease = 3 * time.Second // the living ones keep theirs, however busy the machine
			rt, _ := start(t, stores[p], cfg, handler)
			t.Cleanup(func() { stores[p].dead.Store(false) }) // it hears that it has lost its lease, and stops
			runtimes = append(runtimes, rt)
		}
		ids := make(chan string, keys*each)
		for p, rt := range runtimes {
			all.Go(func() {
				for n := range each {
					if n%processes != p {
						continue
					}
					for k := range keys {
						event := newEvent()
						event.Header = map[string][]string{"Key": {fmt.Sprint("k", k)}}
						began := l.clock.Add(1)
						ids <- deliver(t, rt, event).ID
						l.mu.Lock()
						l.delivered[event.ID] = [2]int64{began, l.clock.Add(1)}
						l.mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		close(ids)
		for id := range ids {
			wait(t, runtimes[0], id, "completed")
		}
		l.check(keys, each)
	})
}

// A dead execution blocks its key if the program wants it to.
func TestADeadExecutionMayBlockItsKey(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		handler := on("h", func(_ context.Context, e restaq.Event) error {
			if n := runs.add(e.ID); e.Header.Get("Dies") != "" && n == 1 {
				return restaq.Permanent(errors.New("oops"))
			}
			return nil
		})
		handler.Order = func(e restaq.Event) string { return e.Header.Get("Key") }
		cfg := quick()
		cfg.DeadBlocksKey = true
		rt, _ := start(t, open(), cfg, handler)
		send := func(key, dies string) (restaq.Event, restaq.Execution) {
			event := newEvent()
			event.Header = map[string][]string{"Key": {key}, "Dies": {dies}}
			return event, deliver(t, rt, event)
		}
		_, dead := send("k", "yes")
		wait(t, rt, dead.ID, "dead")
		behind, waiting := send("k", "")
		_, other := send("l", "")
		wait(t, rt, other.ID, "completed") // a claim after the one behind was stored
		runs.want(t, map[string]int{behind.ID: 0})
		if e, err := rt.Retry(t.Context(), dead.ID); err != nil || e.Status != restaq.Completed {
			t.Fatalf("Retry = %+v, %v", e, err)
		}
		wait(t, rt, waiting.ID, "completed")
	})
}

// The end of one starts the next without a poll.
func TestTheNextOfAnOrderKeyStartsWithoutAPoll(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.Poll = time.Hour
		ran := make(chan string, 10)
		release := newGate()
		handler := on("h", func(ctx context.Context, e restaq.Event) error {
			ran <- e.ID
			return release.pass(ctx)
		})
		handler.Order = func(restaq.Event) string { return "k" }
		rt, _ := start(t, open(), cfg, handler)
		var want []string
		for range 5 {
			event := newEvent()
			want = append(want, event.ID)
			deliver(t, rt, event)
		}
		release.open()
		for _, id := range want {
			if got := await(t, ran); got != id {
				t.Fatalf("%s ran, want %s", got, id)
			}
		}
	})
}
