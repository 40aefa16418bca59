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
//
// When the answer to a claim or such a delivery is lost, the store may hold
// leases of this process that it does not know of. For a while afterwards the
// claim loop asks for them first.
type work struct {
	kick chan struct{} // capacity 1: look for due work

	mu       sync.Mutex
	active   bool            // Run takes new work
	cutting  bool            // what begins is cut off at once
	free     int             // slots
	backlog  bool            // older work may wait in the store
	claiming bool            // the claim loop has taken the free slots
	late     []string        // handlers whose work came meanwhile
	unsure   time.Time       // until when leases may turn up that are not known
	starting map[string]bool // executions that a delivery under way begins
	attempts map[string]*attempt
	waiters  map[string][]chan struct{} // closed when an attempt of the execution ends
	drained  chan struct{}              // closed when all slots are free after active ended; nil if nobody waits
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
	w.starting = make(map[string]bool)
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

// reserve takes slots for executions that are newer than all in the store, and
// sets Begin of those that get one: none while older work may wait.
func (w *work) reserve(executions []NewExecution) (slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.active || w.backlog {
		return 0
	}
	for i := range executions {
		// One with an order key has to wait for its turn.
		if e := &executions[i]; w.free > 0 && e.OrderKey == "" && e.Error == "" {
			e.Begin = true
			w.starting[e.ID] = true
			w.free--
			slots++
		}
	}
	return slots
}

// release gives back the slots of executions that were to begin and did not.
func (w *work) release(executions []NewExecution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range executions {
		if executions[i].Begin {
			delete(w.starting, executions[i].ID)
			w.free++
		}
	}
	w.settle()
}

// inDoubt reports whether leases may turn up that are not known.
func (w *work) inDoubt() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Before(w.unsure)
}

// doubt notes that leases may turn up that were asked for just now: until one
// lease from now, as a request may reach the store late.
func (w *work) doubt(lease time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unsure = time.Now().Add(lease)
	w.backlog = true
}

// pending notes that the store has due work of a handler which did not begin
// at once, and reports whether this process has a slot for it. While a claim is
// under way, which holds all slots, that is not known: late keeps the handler
// for its end.
func (w *work) pending(handler string) (slot bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.active {
		return false
	}
	w.backlog = true
	w.settle()
	if w.claiming && w.free == 0 && !slices.Contains(w.late, handler) {
		w.late = append(w.late, handler)
	}
	return w.free > 0 || w.claiming
}

// hear notes that the store may have due work, for which this process has a
// slot or which others know of too, and reports whether this process runs.
func (w *work) hear() (runs bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active {
		w.backlog = true
		w.settle()
	}
	return w.active
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
	background.Go(func() { rt.flushCounts(base) })
	background.Go(func() { rt.retain(base) })
	rt.claimUntil(ctx)
	err := rt.drain()
	rt.notices.flush()
	rt.flush(base)
	stop()
	background.Wait()
	return err
}

// begin runs an attempt in the slot that was reserved for it. sent is when the
// lease was asked for.
func (rt *Runtime) begin(handler string, lease Lease, kind AttemptKind, event *Event, sent instant) {
	w := &rt.work
	a := newAttempt(rt, rt.registry.handlers[handler], lease, kind, event, sent)
	w.mu.Lock()
	delete(w.starting, a.lease.Execution)
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
	w.mu.Lock()
	w.active = false
	w.mu.Unlock()
	rt.idle(rt.cfg.ShutdownTimeout)

	w.mu.Lock()
	w.cutting = true
	w.mu.Unlock()
	for _, a := range rt.running() {
		a.cut(ErrShutdown)
	}
	ctx, cancel := context.WithTimeout(w.base, cutGrace)
	defer cancel()
	rt.recoverLeases(ctx) // to give them back; what is not found runs out
	if rt.idle(cutGrace) {
		return nil
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

// idle waits until all slots are free, for as long as patience, and reports
// whether they are. No new work is taken.
func (rt *Runtime) idle(patience time.Duration) bool {
	w := &rt.work
	drained := make(chan struct{})
	w.mu.Lock()
	w.drained = drained
	w.settle()
	w.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-drained:
		return true
	case <-timer.C:
		return false
	}
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
	sent := rt.instant()
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
