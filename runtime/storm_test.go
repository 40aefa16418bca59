package restaq_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/zstd"
)

var stormFor = flag.Duration("storm", 1500*time.Millisecond, "how long TestAStormBreaksNoGuarantee blows")

// TestAStormBreaksNoGuarantee has processes on one store, which come and go,
// whose calls of the store fail before they are done or after, or end half-way.
// Handlers fail as well; people retry, restart, replay and cancel; events are
// delivered again and again. The ledger fails the test if a guarantee does not
// hold. At the end the weather is fine, and all that is left has to end.
func TestAStormBreaksNoGuarantee(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		store := memory.New()
		blow(t, func() restaq.Store { return store }, nil, false)
	})
	t.Run("memory, sealed", func(t *testing.T) {
		t.Parallel()
		store := memory.New()
		blow(t, func() restaq.Store { return store }, nil, true)
	})
	eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) { blow(t, open, l, false) })
	t.Run("sealed", func(t *testing.T) {
		eachTransactor(t, func(t *testing.T, open func() restaq.Store, l *ledger) { blow(t, open, l, true) })
	})
}

// blow lets the storm blow. With sealed, values are encrypted and compressed.
func blow(t *testing.T, open func() restaq.Store, l *ledger, sealed bool) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := &storm{t: t, open: open, ledger: l, sealed: sealed, rand: rand.New(rand.NewPCG(seed, 1)), seen: map[string]*seenExecution{}, events: map[string][]string{}, done: map[int]int{}}
	s.rough.Store(true)
	for range 3 {
		s.begin()
	}
	until := time.Now().Add(*stormFor)
	var people sync.WaitGroup
	for n := range 6 {
		people.Go(func() { s.deliverUntil(n, until) })
	}
	for range 3 {
		people.Go(func() { s.meddleUntil(until) })
	}
	people.Go(func() { s.killUntil(until) })
	people.Wait()
	s.rough.Store(false)
	s.end()
	s.check()
}

// storm is the weather, and what has been seen.
type storm struct {
	t      *testing.T
	open   func() restaq.Store
	ledger *ledger
	rough  atomic.Bool // faults occur
	sealed bool        // values are encrypted and compressed

	mu        sync.Mutex
	rand      *rand.Rand
	processes []*process
	events    map[string][]string       // executions of an event, as first told
	seen      map[string]*seenExecution // by id
	ids       []string                  // of all executions, as told
	done      map[int]int               // how many ordered events have been handled, by key
	kills     int
}

// seenExecution is what is known of one.
type seenExecution struct {
	restarted bool
	started   map[string]int    // runs of a step's function
	values    map[string]string // outputs that a handler got
	attempts  map[string]int    // which attempt's
	cancelled bool
	history   *restaq.StoredExecution // as it was seen last
}

func (s *storm) chance(n int) bool { return s.pick(n) == 0 }

func (s *storm) pick(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rand.IntN(n)
}

// fail reports whether something fails this time.
func (s *storm) fail(n int) bool { return s.rough.Load() && s.chance(n) }

func (s *storm) of(id string) *seenExecution {
	e := s.seen[id]
	if e == nil {
		e = &seenExecution{started: map[string]int{}, values: map[string]string{}, attempts: map[string]int{}}
		s.seen[id] = e
	}
	return e
}

var errWeather = errors.New("the weather is bad")

// process is a process, with its way to the store.
type process struct {
	restaq.Store
	storm *storm
	dead  atomic.Bool
	rt    *restaq.Runtime
	stop  context.CancelFunc
	ended chan struct{}
}

// call makes a call of the store in this weather.
func (p *process) call(ctx context.Context, do func(ctx context.Context) error) error {
	s := p.storm
	switch {
	case p.dead.Load():
		return errDead
	case s.fail(25):
		return errWeather
	case s.fail(25):
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(s.pick(3000))*time.Microsecond)
		defer cancel()
	}
	err := do(ctx)
	if err == nil && (p.dead.Load() || s.fail(25)) {
		err = errWeather
	}
	return err
}

func (p *process) Lookup(ctx context.Context, source, id string, payload bool) (e *restaq.StoredEvent, err error) {
	err = p.call(ctx, func(ctx context.Context) error {
		e, err = p.Store.Lookup(ctx, source, id, payload)
		return err
	})
	return e, err
}

func (p *process) Insert(ctx context.Context, in *restaq.Insertion) (created bool, made []restaq.Execution, err error) {
	err = p.call(ctx, func(ctx context.Context) error {
		created, made, err = p.Store.Insert(ctx, in)
		return err
	})
	return created, made, err
}

func (p *process) Claim(ctx context.Context, c restaq.Claim) (claimed []restaq.Claimed, err error) {
	err = p.call(ctx, func(ctx context.Context) error {
		claimed, err = p.Store.Claim(ctx, c)
		return err
	})
	if err != nil {
		claimed = nil
	}
	return claimed, err
}

func (p *process) Record(ctx context.Context, l restaq.Lease, progress *restaq.Progress) error {
	return p.call(ctx, func(ctx context.Context) error { return p.Store.Record(ctx, l, progress) })
}

func (p *process) Renew(ctx context.Context, r []restaq.Renewal, d time.Duration) (lost []string, err error) {
	err = p.call(ctx, func(ctx context.Context) error {
		lost, err = p.Store.Renew(ctx, r, d)
		return err
	})
	return lost, err
}

func (p *process) Finish(ctx context.Context, l restaq.Lease, o *restaq.Outcome) (e *restaq.Execution, err error) {
	err = p.call(ctx, func(ctx context.Context) error {
		e, err = p.Store.Finish(ctx, l, o)
		return err
	})
	return e, err
}

func (p *process) Change(ctx context.Context, id string, c restaq.Change) (e *restaq.Execution, changed bool, err error) {
	err = p.call(ctx, func(ctx context.Context) error {
		e, changed, err = p.Store.Change(ctx, id, c)
		return err
	})
	return e, changed, err
}

func (p *process) History(ctx context.Context, id string) (h *restaq.StoredExecution, err error) {
	err = p.call(ctx, func(ctx context.Context) error {
		h, err = p.Store.History(ctx, id)
		return err
	})
	return h, err
}

// transacting is a process on a store that has transactions.
type transacting struct {
	*process
	restaq.Transactor
	restaq.Outbox
}

// Transact loses its connection now and then, or the answer to its commit.
func (p transacting) Transact(ctx context.Context, l restaq.Lease, d time.Duration, fn func(ctx context.Context, tx any) (*restaq.Progress, error)) error {
	if p.dead.Load() {
		return errDead
	}
	if p.storm.fail(20) {
		return restaq.ErrConnectionLost
	}
	lost := p.storm.fail(20)
	err := p.Transactor.Transact(ctx, l, d, func(ctx context.Context, tx any) (*restaq.Progress, error) {
		progress, err := fn(ctx, tx)
		if err == nil && (p.dead.Load() || p.storm.fail(20)) {
			return nil, restaq.ErrConnectionLost
		}
		return progress, err
	})
	if err == nil && (lost || p.dead.Load()) {
		err = restaq.ErrUncertain
	}
	return err
}

func (p transacting) Recorded(ctx context.Context, l restaq.Lease, seq int) (found bool, err error) {
	err = p.call(ctx, func(ctx context.Context) error {
		found, err = p.Transactor.Recorded(ctx, l, seq)
		return err
	})
	return found, err
}

// begin begins a process.
func (s *storm) begin() {
	p := &process{Store: s.open(), storm: s, ended: make(chan struct{})}
	var store restaq.Store = p
	if s.ledger != nil {
		store = transacting{p, p.Store.(restaq.Transactor), p.Store.(restaq.Outbox)}
	}
	cfg := quick()
	cfg.Lease, cfg.Attempts, cfg.Concurrency, cfg.ShutdownTimeout = time.Second, 6, 8, time.Second
	if s.sealed {
		cfg.Keyring, cfg.Compressor, cfg.CompressAbove = keys(s.t, "a"), zstd.New(), 1
	}
	rt, err := restaq.New(store, cfg)
	if err != nil {
		s.t.Error(err)
		return
	}
	p.rt = rt
	if err := rt.Register(p.handlers(store)...); err != nil {
		s.t.Error(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	go func() {
		defer close(p.ended)
		rt.Run(ctx) // which may find it hard to end in this weather
	}()
	rt.WaitActive()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes = append(s.processes, p)
}

// handlers are those of the storm: one calls steps of all kinds, one runs in
// order, one has the events that the first one's transactions send out.
func (p *process) handlers(store restaq.Store) []restaq.Part {
	s := p.storm
	run := func(name string) *restaq.Step[struct{}, in1, string] {
		return step(name, func(ctx context.Context, v string) (string, error) { return p.step(ctx, name, v) })
	}
	pure, plain, left, right, large := run("pure"), run("plain"), run("left"), run("right"), run("large")
	pure.Pure, large.Timeout = true, 5*time.Second
	tx := txStep(store, "tx", func(ctx context.Context, tx any, v string) (string, error) {
		id := restaq.ExecutionID(ctx)
		if err := s.ledger.write(ctx, tx, id); err != nil {
			return "", err
		}
		if _, err := p.rt.DeliverTx(ctx, tx, restaq.Event{ID: "own-" + id, Type: "acme.own"}); err != nil {
			return "", err
		}
		return p.step(ctx, "tx", v)
	})
	many := func(ctx context.Context, event restaq.Event) error {
		if err := checkStormPayload(event); err != nil {
			s.t.Error(err)
		}
		for _, one := range []*restaq.Step[struct{}, in1, string]{pure, plain} {
			if err := p.use(ctx, one, event.ID); err != nil {
				return err
			}
		}
		errs := make([]error, 2)
		var both sync.WaitGroup
		both.Go(func() { errs[0] = p.use(ctx, left, event.ID) })
		both.Go(func() { errs[1] = p.use(ctx, right, event.ID) })
		both.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if s.ledger != nil {
			if err := p.use(ctx, tx, event.ID); err != nil {
				return err
			}
		}
		if s.fail(10) {
			return errors.New("the handler fails\x00 after all its steps")
		}
		if strings.HasSuffix(event.ID, "7") {
			return p.use(ctx, large, event.ID)
		}
		return nil
	}
	ordered := on("ordered", func(ctx context.Context, event restaq.Event) error {
		var key, n int
		fmt.Sscanf(event.ID, "evt-%d-%d", &key, &n)
		s.mu.Lock()
		if done := s.done[key]; n > done && !p.dead.Load() {
			s.t.Errorf("%s of order key %d began when %d were done", event.ID, key, done)
		}
		s.mu.Unlock()
		if err := p.use(ctx, plain, event.ID); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done[key] = max(s.done[key], n+1)
		return nil
	})
	ordered.Attempts = 1000
	ordered.Order = func(event restaq.Event) string { return strings.Split(event.ID, "-")[1] }
	return []restaq.Part{on("many", many), ordered, on("own", func(ctx context.Context, event restaq.Event) error {
		return p.use(ctx, plain, event.ID)
	}, "acme.own"), pure.Bind(struct{}{}), plain.Bind(struct{}{})}
}

// step is the function of a step.
func (p *process) step(ctx context.Context, name, v string) (string, error) {
	s := p.storm
	if p.dead.Load() {
		return "", errDead
	}
	id := restaq.ExecutionID(ctx)
	s.mu.Lock()
	e := s.of(id)
	e.started[name]++
	// An attempt that has lost its lease without knowing may come late.
	if got, ok := e.values[name]; ok && !e.restarted && name != "pure" && restaq.Attempt(ctx) >= e.attempts[name] {
		s.t.Errorf("step %s of execution %s runs again although the handler has had %.20q of it", name, id, got)
	}
	value := fmt.Sprintf("%s %s %d\x00", name, v, e.started[name])
	s.mu.Unlock()
	switch {
	case name == "large" && s.chance(2):
		value += strings.Repeat("x", 400_000)
	case s.chance(8): // for a renewal to come between
		wait := time.NewTimer(time.Duration(s.pick(30)) * time.Millisecond)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	if s.fail(10) {
		if s.chance(2) {
			panic("the step panics\x00")
		}
		return "", errors.New("the step fails\x00")
	}
	return value, nil
}

// use calls a step and notes what the handler gets.
func (p *process) use(ctx context.Context, one *restaq.Step[struct{}, in1, string], v string) error {
	got, err := one.Run(ctx, struct{}{}, in1{v})
	if err != nil {
		return err
	}
	s, id := p.storm, restaq.ExecutionID(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.of(id)
	if had, ok := e.values[one.Name]; ok && had != got && !e.restarted && !one.Pure {
		s.t.Errorf("step %s of execution %s gave %.40q, then %.40q", one.Name, id, had, got)
	}
	e.values[one.Name], e.attempts[one.Name] = got, max(e.attempts[one.Name], restaq.Attempt(ctx))
	return nil
}

// stormPayload is the payload of an event.
func stormPayload(id string) []byte {
	return bytes.Repeat([]byte(id+"\x00"), 1+len(id)*int(id[len(id)-1]-'0'))
}

func checkStormPayload(event restaq.Event) error {
	if !bytes.Equal(event.Payload, stormPayload(event.ID)) {
		return fmt.Errorf("event %s has another payload: %.60q", event.ID, event.Payload)
	}
	return nil
}

// some returns a process that is alive.
func (s *storm) some() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[s.rand.IntN(len(s.processes))]
}

// deliverUntil delivers the events of an order key one after the other, each
// until it is acknowledged and now and then once more.
func (s *storm) deliverUntil(key int, until time.Time) {
	for n := 0; time.Now().Before(until); n++ {
		id := fmt.Sprintf("evt-%d-%d", key, n)
		for again := true; again; {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			if s.fail(5) {
				ctx, cancel = context.WithTimeout(context.Background(), time.Duration(s.pick(4000))*time.Microsecond)
			}
			payload := stormPayload(id)
			receipt, err := s.some().rt.Deliver(ctx, restaq.Event{ID: id, Type: "acme.order.created", Payload: payload})
			cancel()
			for i := range payload { // it is the caller's again
				payload[i] = '?'
			}
			if err == nil {
				s.acknowledged(id, receipt)
				again = s.chance(4)
				if n%8 == 7 { // not faster than they are handled
					ctx, cancel := context.WithTimeout(context.Background(), time.Second)
					s.some().rt.Wait(ctx, receipt.Executions[0].ID)
					cancel()
				}
			}
		}
	}
}

func (s *storm) acknowledged(event string, receipt restaq.Receipt) {
	var ids []string
	for _, e := range receipt.Executions {
		ids = append(ids, e.Handler+" "+e.ID)
	}
	slices.Sort(ids)
	s.mu.Lock()
	defer s.mu.Unlock()
	had, ok := s.events[event]
	switch {
	case len(ids) != 2:
		s.t.Errorf("event %s has executions %q, want one of each handler", event, ids)
	case ok && fmt.Sprint(had) != fmt.Sprint(ids):
		s.t.Errorf("event %s had executions %q, then %q", event, had, ids)
	case !ok:
		s.events[event] = ids
		for _, e := range receipt.Executions {
			s.ids = append(s.ids, e.ID)
			if e.Handler == "many" && s.rand.IntN(4) == 0 {
				s.of(e.ID).restarted = true // as it may be
			}
		}
	}
}

// meddleUntil does what people do.
func (s *storm) meddleUntil(until time.Time) {
	for time.Now().Before(until) {
		s.mu.Lock()
		if len(s.ids) == 0 {
			s.mu.Unlock()
			continue
		}
		id := s.ids[len(s.ids)-1-s.rand.IntN(min(len(s.ids), 30))]
		e := s.of(id)
		restarted := e.restarted
		what := s.rand.IntN(40)
		s.mu.Unlock()
		rt := s.some().rt
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(s.pick(20))*time.Millisecond)
		switch {
		case what < 10:
			rt.Retry(ctx, id)
		case what < 20 && restarted:
			rt.Restart(ctx, id)
		case what == 20 && restarted: // of handler many
			if x, err := rt.Replay(ctx, id); err == nil {
				s.mu.Lock()
				s.ids = append(s.ids, x.ID)
				s.mu.Unlock()
			}
		case what == 21 && restarted:
			s.mu.Lock()
			e.cancelled = true // or perhaps not
			s.mu.Unlock()
			rt.Cancel(ctx, id)
		default:
			s.look(id)
		}
		cancel()
	}
}

// killUntil ends processes and begins others.
func (s *storm) killUntil(until time.Time) {
	var ended sync.WaitGroup
	defer ended.Wait()
	for time.Now().Before(until) {
		timer := time.NewTimer(time.Duration(100+s.pick(600)) * time.Millisecond)
		<-timer.C
		s.mu.Lock()
		p := s.processes[0]
		s.processes = s.processes[1:]
		s.kills++
		s.mu.Unlock()
		if s.chance(2) {
			p.dead.Store(true)
		}
		p.stop()
		ended.Go(func() {
			<-p.ended
			if store, ok := p.Store.(io.Closer); ok && s.ledger != nil {
				store.Close()
			}
		})
		s.begin()
	}
}

// look looks at a history, which must have grown only.
func (s *storm) look(id string) {
	s.mu.Lock()
	p := s.processes[0]
	s.mu.Unlock()
	h, err := p.Store.History(context.Background(), id)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if p == s.processes[0] { // which is not closed, then
			s.t.Errorf("history of %s: %v", id, err)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.of(id)
	if err := grown(e.history, h); err != nil {
		s.t.Errorf("execution %s: %v", id, err)
	}
	if err := consistent(h, e.restarted); err != nil {
		s.t.Errorf("execution %s: %v", id, err)
	}
	if e.history == nil || len(e.history.Steps)+len(e.history.Attempts) <= len(h.Steps)+len(h.Attempts) {
		e.history = h
	}
}
