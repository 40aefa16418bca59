package restaq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

var (
	errStepTimeout    = fmt.Errorf("timeout%w", hidden{context.DeadlineExceeded})
	errHandlerTimeout = fmt.Errorf("timeout%w", hidden{context.DeadlineExceeded})
	errGoexit         = errors.New("the function ended its goroutine (runtime.Goexit) instead of returning")
	errEnded          = errors.New("the attempt has ended")
	errInputChanged   = errors.New("its inputs differ from those that its record was made from (Config.StrictInputs)")
)

// hidden is an error that adds no text.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }

// attempt is one run of a handler in this process, and the Engine that the
// handler's wrappers speak to.
//
// Its context ends for one of three causes: ErrLeaseLost and ErrCancelled,
// after which it writes nothing, and ErrShutdown, after which it still records
// what was done and gives the lease back.
type attempt struct {
	rt      *Runtime
	handler *handler
	lease   Lease
	kind    AttemptKind
	begun   time.Time

	ctx    context.Context
	cut    context.CancelCauseFunc
	inside scopeContext // ctx as the handler gets it, with the event

	past past // set before the handler runs

	trace    string            // the observer's
	observed func(*AttemptEnd) // its end; nil if it has not seen the attempt

	over chan struct{} // closed when all is over; made by a successor, under the mutex of work

	mu        sync.Mutex
	idle      sync.Cond // on mu: calls fell to 0
	calls     int       // step calls under way
	leasedAt  instant   // when the last renewal that succeeded was sent
	ended     bool      // the handler has returned and no call is under way
	refused   bool      // a call was refused because ctx had ended
	fatal     error     // stops the execution, whatever the handler returns
	unread    *unread   // fatal is that another process may read what this one does not
	seq       int
	byName    map[string]*stepRun
	order     []*stepRun // calls under way, in order
	unwritten []StepRow  // rows that travel with the next write
}

// stepRun is the first call under a record name in an attempt.
type stepRun struct {
	call   *StepCall
	rows   [1]StepRow // what is recorded of it; once that is asked for it stays as it is
	output []byte
	err    error
	ended  bool          // guarded by the attempt's mu
	done   chan struct{} // closed at the end; made by who waits for it, under mu
}

// row is what is recorded of the call.
func (r *stepRun) row() *StepRow { return &r.rows[0] }

// name is the call's record name.
func (r *stepRun) name() string { return r.rows[0].Name }

// was are the record names that the call would have had before its step was
// renamed, the oldest first.
func (r *stepRun) was() []string {
	var names []string
	for _, old := range r.call.lineage().Was {
		names = append(names, old+r.name()[len(r.call.Name):])
	}
	return names
}

// oldest is the first name that the call is known by. What is to be the same
// over renames hangs on it.
func (r *stepRun) oldest() string {
	was := r.call.lineage().Was
	if len(was) == 0 {
		return r.name()
	}
	return was[0] + r.name()[len(r.call.Name):]
}

// context is that of the call's function.
func (r *stepRun) context(ctx context.Context) context.Context {
	return &stepContext{ctx, r.name(), r.oldest()}
}

func newAttempt(rt *Runtime, h *handler, lease Lease, kind AttemptKind, event *Event, sent instant) *attempt {
	a := &attempt{rt: rt, handler: h, lease: lease, kind: kind, begun: time.Now(), leasedAt: sent}
	a.idle.L = &a.mu
	a.ctx, a.cut = context.WithCancelCause(rt.work.values)
	a.inside = scopeContext{a.ctx, a, Scope{
		ExecutionID: lease.Execution, Handler: h.name, Attempt: lease.Attempt, Event: *event, Logger: rt.cfg.Logger,
	}}
	return a
}

// run runs the attempt from its claim to its outcome. It survives a handler
// that ends its goroutine.
func (a *attempt) run() {
	end := ending{err: errGoexit, exited: true}
	defer func() {
		a.finish(a.judge(&end))
		a.cut(errEnded)
	}()
	end = a.execute()
}

// ending is how the run of a handler ended.
type ending struct {
	err    error
	exited bool // the handler ended its goroutine
	spent  bool // the handler did not run: lost attempts have used up all
}

// execute runs the handler.
func (a *attempt) execute() ending {
	if err := a.recall(); err != nil {
		return ending{err: err}
	}
	if budget := a.budget(); a.past.lost && a.past.attempts >= budget {
		return ending{spent: true, err: fmt.Errorf("the process that ran attempt %d was lost; all %d attempts are used up", a.lease.Attempt-1, budget)}
	}
	if cause := context.Cause(a.ctx); cause != nil { // cut off before it began
		return ending{err: cause}
	}
	event := &a.inside.scope.Event
	if err := cmp.Or(event.sealed, a.past.sealed); err != nil {
		return ending{err: a.cannotOpen("", err)}
	}
	if event.Payload == nil {
		return ending{err: Permanent(ErrNoPayload)}
	}
	var handle func(ctx context.Context) error
	if err := guard(func() (err error) {
		handle, err = a.handler.prepare(event)
		return err
	}); err != nil {
		return ending{err: Permanent(fmt.Errorf("decode event: %w", err))}
	}
	ctx := a.observe(&a.inside)
	if a.handler.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.handler.timeout, errHandlerTimeout)
		defer cancel()
	}
	err := guard(func() error { return handle(ctx) })
	if context.Cause(ctx) == errHandlerTimeout {
		err = errHandlerTimeout
	}
	return ending{err: err}
}

// observe tells the observer that the handler begins, and returns the handler's
// context.
func (a *attempt) observe(ctx context.Context) context.Context {
	if a.rt.unseen {
		return ctx
	}
	start := a.start()
	a.rt.call("observer", func() {
		inner, trace, end := a.rt.cfg.Observer.Attempt(ctx, &start)
		ctx, a.trace, a.observed = inner, storable(trace), end
	})
	return ctx
}

// start is the attempt as hooks and the observer see it.
func (a *attempt) start() AttemptStart {
	return AttemptStart{
		Execution: a.lease.Execution, Handler: a.handler.name, Attempt: a.lease.Attempt, Kind: a.kind,
		Event: &a.inside.scope.Event, TookOver: a.past.lost, Traces: a.past.traces,
	}
}

// recall loads what earlier attempts left.
func (a *attempt) recall() error {
	if a.lease.Attempt == 1 {
		return nil
	}
	return a.persist("load history", func(ctx context.Context) error {
		h, err := a.rt.store.History(ctx, a.lease.Execution)
		if err == nil {
			a.past = *remember(h, a.lease.Attempt, a.kind)
		}
		return err
	})
}

func (a *attempt) budget() int {
	if a.handler.attempts > 0 {
		return a.handler.attempts
	}
	return a.rt.cfg.Attempts
}

// guard runs fn and turns a panic into an error with its stack.
func guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, stack: debug.Stack()}
		}
	}()
	return fn()
}

// persist repeats a store operation until it succeeds, so that losing touch
// with the store is not losing the work. It gives up when the lease is lost,
// the execution is cancelled, or Run gives up.
func (a *attempt) persist(what string, op func(ctx context.Context) error) error {
	base := a.rt.work.base
	for n := 1; ; n++ {
		err := op(a.rt.work.bounded(a.rt.cfg.Lease))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrLeaseLost), errors.Is(err, ErrNotFound):
			a.cut(ErrLeaseLost)
			return ErrLeaseLost
		case base.Err() != nil:
			return ErrShutdown
		}
		a.log().Warn("restaq: cannot "+what, "error", firstLine(errorText(err), 200), "tries", n)
		wait := time.NewTimer(Backoff{50 * time.Millisecond, 5 * time.Second}.Delay(n))
		cut := a.ctx.Done()
		if context.Cause(a.ctx) == ErrShutdown {
			cut = nil // still to be recorded
		}
		select {
		case <-wait.C:
		case <-base.Done():
			wait.Stop()
			return ErrShutdown
		case <-cut:
			wait.Stop()
			if cause := context.Cause(a.ctx); cause != ErrShutdown {
				return cause
			}
		}
	}
}

// progress returns what the attempt has to say: what was left to be written
// and, if r is not nil, the rows of that call, which is about to end.
func (a *attempt) progress(r *stepRun, rows []StepRow) Progress {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := Progress{Steps: rows}
	if len(a.unwritten) > 0 {
		p.Steps = slices.Concat(a.unwritten, rows)
	}
	for _, o := range slices.Backward(a.order) {
		if o != r {
			p.Current = o.name()
			break
		}
	}
	return p
}

// renewed notes that the lease was renewed by a request sent then, which also
// wrote rows.
func (a *attempt) renewed(sent instant, rows []StepRow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leasedAt = sent
	a.dropWritten(rows)
}

// dropWritten forgets rows that have been written. The caller holds mu.
func (a *attempt) dropWritten(rows []StepRow) {
	if len(a.unwritten) == 0 {
		return
	}
	a.unwritten = slices.DeleteFunc(a.unwritten, func(r StepRow) bool {
		return slices.ContainsFunc(rows, func(w StepRow) bool { return w.Seq == r.Seq })
	})
}

// record makes the row of a call durable, with all that was left to be written.
func (a *attempt) record(r *stepRun) error {
	return a.persist("record step", func(ctx context.Context) error {
		p := a.progress(r, r.rows[:])
		if err := a.rt.store.Record(ctx, a.lease, &p); err != nil {
			return err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.dropWritten(p.Steps)
		return nil
	})
}

// leave puts row with what travels with the next write, unless that would grow
// too large: renewals of all attempts share one request.
func (a *attempt) leave(row *StepRow) (left bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	size := len(row.Output)
	for i := range a.unwritten {
		size += len(a.unwritten[i].Output)
	}
	if size > maxUnwritten {
		return false
	}
	a.unwritten = append(a.unwritten, *row)
	return true
}

// instant is a moment by both clocks of a process. The monotonic one may stand
// still while the machine sleeps; the wall clock may be set.
type instant struct{ mono, wall time.Time }

// instant reads both clocks.
func (rt *Runtime) instant() instant { return instant{time.Now(), rt.cfg.Now().Round(0)} }

// since is the time that has passed by the clock that says more.
func (i instant) since(earlier instant) time.Duration {
	return max(i.mono.Sub(earlier.mono), i.wall.Sub(earlier.wall))
}

// ensureLease makes sure that the lease has not run out by this process's
// clocks, so that one that slept wakes up harmless.
func (a *attempt) ensureLease() error {
	a.mu.Lock()
	leased := a.leasedAt
	a.mu.Unlock()
	if a.rt.instant().since(leased) < a.rt.cfg.Lease {
		return nil
	}
	err := a.persist("renew lease", func(ctx context.Context) error { return a.rt.renew(ctx, a) })
	if err != nil {
		return err
	}
	return context.Cause(a.ctx)
}
