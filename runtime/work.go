package restaq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// cutGrace is how long Run waits for attempts that it has cut off, so that
// they can give their leases back.
const cutGrace = 3 * time.Second

// work is what runs in this process: attempts in slots.
//
// A slot is reserved before a lease is taken, by the claim loop or by a
// delivery that begins its executions itself, and freed when the attempt ends.
// Nothing waits in memory: what finds no slot is pending in the store, and
// backlog says that there may be such work.
type work struct {
	kick chan struct{} // capacity 1: look for due work

	mu       sync.Mutex
	active   bool // Run takes new work
	cutting  bool // what begins is cut off at once
	free     int  // slots
	backlog  bool // older work may wait in the store
	attempts map[string]*attempt
	waiters  map[string][]chan struct{} // closed when an attempt of the execution ends
	drained  chan struct{}              // closed when no attempt is left after active ended; nil before
	values   context.Context            // has the values that attempts see; set by Run
	base     context.Context            // of calls of the store; set by Run
	bound    atomic.Pointer[bound]
	slots    int
}

// bound is a context that ends at a time.
type bound struct {
	ctx    context.Context
	cancel context.CancelFunc // by its time
	begun  time.Time
}

// bounded returns a context for one call of the store. It ends with Run, and
// before d is over, but not before three quarters of d are: calls share one, as
// each execution makes many.
func (w *work) bounded(d time.Duration) context.Context {
	b := w.bound.Load()
	if b == nil || time.Since(b.begun) > d/4 {
		b = &bound{begun: time.Now()}
		b.ctx, b.cancel = context.WithTimeout(w.base, d)
		w.bound.Store(b)
	}
	return b.ctx
}

func (w *work) init(slots int) {
	w.kick = make(chan struct{}, 1)
	w.slots, w.free = slots, slots
	w.attempts = make(map[string]*attempt)
	w.waiters = make(map[string][]chan struct{})
}

// look makes the claim loop look for due work, soon and at least once.
func (w *work) look() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// reserve takes up to n slots for work that is newer than all in the store,
// and returns how many it got: none while older work may wait.
func (w *work) reserve(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.active || w.backlog {
		return 0
	}
	n = min(n, w.free)
	w.free -= n
	return n
}

// release gives slots back that were reserved and not used.
func (w *work) release(n int) {
	if n == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free += n
	w.settle()
}

// pending notes that the store has due work which did not begin at once, and
// reports whether this process will take it soon: it runs and has a free slot.
func (w *work) pending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.active {
		return false
	}
	w.backlog = true
	w.settle()
	return w.free > 0
}

// settle follows every change that frees slots. The caller holds mu.
func (w *work) settle() {
	if w.active && w.backlog && w.free > 0 {
		w.look()
	}
	if !w.active && w.drained != nil && w.free == w.slots {
		close(w.drained)
		w.drained = nil
	}
}

// await returns a channel that is closed when an attempt of the execution ends
// in this process, and a function that drops it.
func (w *work) await(id string) (ended <-chan struct{}, drop func()) {
	ch := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiters[id] = append(w.waiters[id], ch)
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		rest := slices.DeleteFunc(w.waiters[id], func(c chan struct{}) bool { return c == ch })
		if len(rest) == 0 {
			delete(w.waiters, id)
		} else {
			w.waiters[id] = rest
		}
	}
}

// Run works off due executions until ctx ends, then drains: it takes no new
// work, waits for the attempts under way, cuts them off after
// Config.ShutdownTimeout, and gives their leases back. It returns nil after a
// clean drain; an error names attempts that did not stop within a further 3 s
// and whose executions wait for their leases to run out. A store that cannot be
// reached, at the start or later, is waited for. Values of ctx reach the
// handlers. Run may be called once.
func (rt *Runtime) Run(ctx context.Context) error {
	if err := rt.sealUntil(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil // nothing was begun
		}
		return fmt.Errorf("run: %w", err)
	}
	values := context.WithoutCancel(ctx)
	base, stop := context.WithCancel(values)
	defer stop()
	w := &rt.work
	w.mu.Lock()
	if w.base != nil {
		w.mu.Unlock()
		return errors.New("run: called twice")
	}
	w.values, w.base, w.active, w.backlog = values, base, true, true
	w.mu.Unlock()

	var background sync.WaitGroup
	background.Go(func() { rt.renewLeases(base) })
	background.Go(func() { rt.listen(base) })
	background.Go(func() { rt.watchStranded(base) })
	rt.claimUntil(ctx)
	err := rt.drain()
	stop()
	background.Wait()
	return err
}

// claimUntil takes due work until ctx ends: at once when told to look, and
// every Config.Poll.
func (rt *Runtime) claimUntil(ctx context.Context) {
	poll := time.NewTimer(0)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rt.work.kick:
		case <-poll.C:
		}
		rt.claimDue(ctx)
		poll.Reset(rt.cfg.Poll)
	}
}

// claimDue fills the free slots with due executions.
func (rt *Runtime) claimDue(ctx context.Context) {
	w := &rt.work
	for ctx.Err() == nil {
		w.mu.Lock()
		n := w.free
		w.free = 0
		if n == 0 {
			w.backlog = true // look again when a slot is free
			w.mu.Unlock()
			return
		}
		w.backlog = false // what arrives from here on says so itself
		w.mu.Unlock()
		sent := time.Now()
		claimed, err := rt.claim(n)
		if err != nil {
			rt.cfg.Logger.Warn("restaq: cannot claim work", "error", firstLine(errorText(err), 200))
		}
		for i := range claimed {
			c := &claimed[i]
			rt.begin(c.Execution.Handler, c.Lease, c.Kind, &c.Event, sent)
		}
		full := len(claimed) == n
		w.mu.Lock()
		w.backlog = w.backlog || full || err != nil
		w.free += n - len(claimed)
		if err == nil { // after an error, wait for the next poll
			w.settle()
		}
		w.mu.Unlock()
		if !full {
			return
		}
	}
}

// claim takes up to n due executions. It is not cut short by the end of Run's
// context: leases that were taken must be known, to be given back.
func (rt *Runtime) claim(n int) ([]Claimed, error) {
	ctx, cancel := context.WithTimeout(rt.work.base, rt.cfg.Lease)
	defer cancel()
	return rt.store.Claim(ctx, Claim{Owner: rt.owner, Lease: rt.cfg.Lease, Handlers: rt.registry.names, Limit: n})
}

// begin runs an attempt in the slot that was reserved for it. sent is when the
// lease was asked for.
func (rt *Runtime) begin(handler string, lease Lease, kind AttemptKind, event *Event, sent time.Time) {
	w := &rt.work
	a := newAttempt(rt, rt.registry.handlers[handler], lease, kind, event, sent)
	w.mu.Lock()
	earlier := w.attempts[a.lease.Execution]
	w.attempts[a.lease.Execution] = a
	cutting := w.cutting
	if earlier != nil { // this process lost the lease to itself
		earlier.over = make(chan struct{})
	}
	w.mu.Unlock()
	if cutting {
		a.cut(ErrShutdown)
	}
	go func() {
		if earlier != nil {
			earlier.cut(ErrLeaseLost)
			<-earlier.over
		}
		defer rt.end(a)
		a.run()
	}()
}

// end frees an attempt's slot.
func (rt *Runtime) end(a *attempt) {
	w := &rt.work
	id := a.lease.Execution
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attempts[id] == a {
		delete(w.attempts, id)
	}
	if a.over != nil {
		close(a.over)
	}
	for _, ch := range w.waiters[id] {
		close(ch)
	}
	delete(w.waiters, id)
	w.free++
	w.settle()
}

// drain ends the taking of work and waits for what runs.
func (rt *Runtime) drain() error {
	w := &rt.work
	drained := make(chan struct{})
	w.mu.Lock()
	w.active = false
	w.drained = drained
	w.settle()
	w.mu.Unlock()

	patience := time.NewTimer(rt.cfg.ShutdownTimeout)
	defer patience.Stop()
	select {
	case <-drained:
		return nil
	case <-patience.C:
	}
	w.mu.Lock()
	w.cutting = true
	w.mu.Unlock()
	for _, a := range rt.running() {
		a.cut(ErrShutdown)
	}
	patience.Reset(cutGrace)
	select {
	case <-drained:
		return nil
	case <-patience.C:
	}
	var errs []error
	for _, a := range rt.running() {
		errs = append(errs, fmt.Errorf("execution %s (handler %s) did not stop; its lease runs out within %v", a.lease.Execution, a.handler.name, rt.cfg.Lease))
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("drain: %w", errors.Join(errs...))
}

// running returns the attempts under way.
func (rt *Runtime) running() []*attempt {
	rt.work.mu.Lock()
	defer rt.work.mu.Unlock()
	all := make([]*attempt, 0, len(rt.work.attempts))
	for _, a := range rt.work.attempts {
		all = append(all, a)
	}
	return all
}

// renewLeases renews the leases of all attempts, every third of a lease, and
// sooner after a failure.
func (rt *Runtime) renewLeases(ctx context.Context) {
	interval := rt.cfg.Lease / 3
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		next := interval
		if err := rt.renew(ctx, rt.running()...); err != nil && ctx.Err() == nil {
			rt.cfg.Logger.Warn("restaq: cannot renew leases", "error", firstLine(errorText(err), 200))
			next = interval / 5
		}
		timer.Reset(next)
	}
}

// renew extends the leases of attempts and writes what they have to say. An
// attempt whose lease is gone is cut off.
func (rt *Runtime) renew(ctx context.Context, attempts ...*attempt) error {
	if len(attempts) == 0 {
		return nil
	}
	renewals := make([]Renewal, len(attempts))
	for i, a := range attempts {
		renewals[i] = Renewal{Lease: a.lease, Progress: a.progress(nil, nil)}
	}
	ctx, cancel := context.WithTimeout(ctx, rt.cfg.Lease/3)
	defer cancel()
	sent := time.Now()
	lost, err := rt.store.Renew(ctx, renewals, rt.cfg.Lease)
	if err != nil {
		return err
	}
	for i, a := range attempts {
		if slices.Contains(lost, a.lease.Execution) {
			a.cut(ErrLeaseLost)
			continue
		}
		a.renewed(sent, renewals[i].Progress.Steps)
	}
	return nil
}
