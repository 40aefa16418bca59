package restaq

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// An Observer sees what a runtime does while it does it: package otel has one
// that makes traces and metrics of it. Its methods run on the path of the work,
// from many goroutines at once, so they must be quick. The functions that they
// return are called once, when what they saw has ended; none may be nil. A panic
// in one is logged and goes no further.
type Observer interface {
	// Delivery sees Deliver, and each event of a request to Webhook. It may
	// replace e.Header, not change the one that is there. The end has a
	// receipt or an error.
	Delivery(ctx context.Context, e *Event) (context.Context, func(r *Receipt, err error))

	// Refused sees a request that Webhook refused.
	Refused(ctx context.Context, r *Refusal)

	// Attempt sees an attempt. The context that it returns is the handler's;
	// trace, if not "", is kept with the attempt and shown to later ones.
	Attempt(ctx context.Context, a *AttemptStart) (inner context.Context, trace string, end func(*AttemptEnd))

	// Step sees a call of a step; the context goes to its function. What is
	// answered from a record ends with StepSkipped.
	Step(ctx context.Context, s *StepStart) (context.Context, func(*StepEnd))

	// Store sees a call of one of the Store's methods, by its name.
	Store(ctx context.Context, method string) func(err error)

	// Commit sees a commit of the store, if that is a Committer, with the
	// number of writes that share it.
	Commit(writes int)
}

// A Committer lets writes that are made at once share a commit, and says how
// many. It is an optional ability of a [Store].
type Committer interface {
	// SeeCommits has fn called with the number of writes of each commit. It is
	// called before anything is written, by New if there is an Observer.
	SeeCommits(fn func(writes int))
}

// Hooks are functions of the program's own that are called after something
// happened, for alerts and counts. Each may be nil. They run on the goroutine
// that did the work, which waits for them; a panic in one is logged and goes no
// further.
type Hooks struct {
	// Delivered is called after Deliver, and for each event of a request to
	// Webhook: with a receipt or with an error.
	Delivered func(ctx context.Context, e *Event, r *Receipt, err error)

	// Refused is called after Webhook refused a request.
	Refused func(ctx context.Context, r *Refusal)

	// AttemptEnded is called after an attempt's outcome is recorded.
	AttemptEnded func(ctx context.Context, a *AttemptEnd)

	// StepEnded is called after a step's call has ended, recorded or not.
	StepEnded func(ctx context.Context, s *StepEnd)

	// Dead is called when this process recorded that an execution failed for
	// good: it waits for a person from now on. It may be called again for one
	// that was retried in vain, and is not if the process ends just then;
	// Filter{Statuses: []string{"dead"}} finds them all.
	Dead func(ctx context.Context, e *Execution)
}

// Refusal is a request that Webhook refused.
type Refusal struct {
	Provider, Source string
	Status           int    // of the answer, 4xx or 5xx
	Reason           string // as in the answer
	Request          *http.Request
}

// AttemptStart is an attempt that begins.
type AttemptStart struct {
	Execution string // its id
	Handler   string
	Attempt   int // from 1
	Kind      AttemptKind
	Event     *Event

	// TookOver says that the attempt before was lost with its process.
	TookOver bool

	// Traces are what Observer.Attempt returned for the earlier attempts whose
	// end was recorded, in order.
	Traces []string
}

// AttemptEnd is an attempt whose outcome is recorded.
type AttemptEnd struct {
	AttemptStart

	Outcome AttemptOutcome // "" if nothing was recorded: Err says why
	Status  Status         // the execution's now
	Dead    bool           // it waits for a person
	RetryIn time.Duration  // until the next attempt; 0 if there is none
	Step    string         // name of the step, without its key, whose failure ended the attempt
	Error   string         // the attempt's
	Err     error          // why nothing was recorded: ErrLeaseLost, say
	Took    time.Duration
}

// StepStart is a call of a step that begins.
type StepStart struct {
	Execution string // its id
	Handler   string
	Attempt   int
	Step      string // its name, without the key
	Record    string // its name with the key
	Func      string // the function, qualified by its package

	// Recorded says that an earlier attempt recorded the step: its function
	// will not run.
	Recorded bool
}

// StepEnd is a call of a step that has ended.
type StepEnd struct {
	StepStart
	Status StepStatus // "" if nothing was recorded
	Err    error      // as the handler gets it
	Took   time.Duration
}

// unseen is the observer of a runtime that has none.
type unseen struct{}

func (unseen) Delivery(ctx context.Context, _ *Event) (context.Context, func(*Receipt, error)) {
	return ctx, func(*Receipt, error) {}
}
func (unseen) Refused(context.Context, *Refusal) {}
func (unseen) Attempt(ctx context.Context, _ *AttemptStart) (context.Context, string, func(*AttemptEnd)) {
	return ctx, "", func(*AttemptEnd) {}
}
func (unseen) Step(ctx context.Context, _ *StepStart) (context.Context, func(*StepEnd)) {
	return ctx, func(*StepEnd) {}
}
func (unseen) Store(context.Context, string) func(error) { return func(error) {} }
func (unseen) Commit(int)                                {}

// call calls a hook or an observer, whose panic is its own affair.
func (rt *Runtime) call(what string, fn func()) {
	if err := guard(func() error { fn(); return nil }); err != nil {
		rt.cfg.Logger.Error("restaq: "+what+" panicked", "error", firstLine(errorText(err), 200))
	}
}

// observed is a store whose methods an observer sees.
type observed struct {
	store Store
	rt    *Runtime
}

func (o observed) see(ctx context.Context, method string) (end func(err error)) {
	var inner func(error)
	o.rt.call("observer", func() { inner = o.rt.cfg.Observer.Store(ctx, method) })
	return func(err error) {
		if inner != nil {
			o.rt.call("observer", func() { inner(err) })
		}
	}
}

func (o observed) Lookup(ctx context.Context, source, eventID string, payload bool) (*StoredEvent, error) {
	end := o.see(ctx, "Lookup")
	e, err := o.store.Lookup(ctx, source, eventID, payload)
	if errors.Is(err, ErrNotFound) {
		end(nil) // as it is for each new event
	} else {
		end(err)
	}
	return e, err
}

func (o observed) Insert(ctx context.Context, in *Insertion) (bool, []Execution, error) {
	end := o.see(ctx, "Insert")
	created, executions, err := o.store.Insert(ctx, in)
	end(err)
	return created, executions, err
}

func (o observed) Claim(ctx context.Context, c Claim) ([]Claimed, error) {
	end := o.see(ctx, "Claim")
	claimed, err := o.store.Claim(ctx, c)
	end(err)
	return claimed, err
}

func (o observed) Record(ctx context.Context, lease Lease, p *Progress) error {
	end := o.see(ctx, "Record")
	err := o.store.Record(ctx, lease, p)
	end(err)
	return err
}

func (o observed) Renew(ctx context.Context, renewals []Renewal, d time.Duration) ([]string, error) {
	end := o.see(ctx, "Renew")
	lost, err := o.store.Renew(ctx, renewals, d)
	end(err)
	return lost, err
}

func (o observed) Finish(ctx context.Context, lease Lease, out *Outcome) (*Execution, error) {
	end := o.see(ctx, "Finish")
	e, err := o.store.Finish(ctx, lease, out)
	end(err)
	return e, err
}

func (o observed) Change(ctx context.Context, id string, c Change) (*Execution, bool, error) {
	end := o.see(ctx, "Change")
	e, changed, err := o.store.Change(ctx, id, c)
	end(err)
	return e, changed, err
}

func (o observed) History(ctx context.Context, id string) (*StoredExecution, error) {
	end := o.see(ctx, "History")
	h, err := o.store.History(ctx, id)
	end(err)
	return h, err
}

// Health reports why this process should get no more events: the store cannot
// be reached within ctx, or Run has ended or is about to. It costs one read of
// the store, and is meant for a readiness probe. A process that never calls Run
// is healthy if its store is.
func (rt *Runtime) Health(ctx context.Context) error {
	rt.work.mu.Lock()
	ended := rt.work.base != nil && !rt.work.active
	rt.work.mu.Unlock()
	if ended {
		return fmt.Errorf("health: %w", ErrShutdown)
	}
	_, _, err := rt.store.Change(ctx, "00000000-0000-0000-0000-000000000000", Change{})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("health: %w", err)
	}
	return nil
}
