package restaq

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"
)

// judge turns what the handler returned into the attempt's outcome. The
// function it returns waits for step calls that the handler left behind, and
// returns nil if nothing may be written any more. stack, if not nil, supplies
// a stack for the record.
func (a *attempt) judge(err error, stack func() []byte) func() *Outcome {
	return func() *Outcome {
		a.mu.Lock()
		for a.calls > 0 {
			a.idle.Wait()
		}
		a.ended = true
		fatal, refused := a.fatal, a.refused
		a.mu.Unlock()

		cause := context.Cause(a.ctx)
		switch {
		case cause == ErrLeaseLost || cause == ErrCancelled:
			return nil
		case fatal != nil:
			return a.failed(fatal, nil)
		case cause != nil && (err != nil || refused):
			return &Outcome{Status: Pending, Attempt: AttemptInterrupted}
		case err != nil:
			if stack != nil {
				return a.failed(err, stack())
			}
			return a.failed(err, nil)
		}
		return a.completed()
	}
}

// completed is the outcome of a handler that returned nil.
func (a *attempt) completed() *Outcome {
	unused := a.past.unused(func(name string) bool { return a.byName[name] != nil })
	if len(unused) > 0 {
		a.log().Warn("restaq: records of earlier attempts that the completed attempt did not ask for", "count", len(unused))
	}
	return &Outcome{Status: Completed, Attempt: AttemptCompleted, Detail: encodeDetail(&attemptDetail{Unused: unused})}
}

// failed decides whether and when another attempt follows.
func (a *attempt) failed(err error, stack []byte) *Outcome {
	o := &Outcome{Status: Failed, Attempt: AttemptFailed, Error: errorText(err)}
	f := a.rt.known.classify(err)
	if f.stack != nil {
		stack = f.stack
	}
	detail := attemptDetail{Stack: storable(string(stack))}

	backoff := a.handler.backoff.or(a.rt.cfg.Backoff)
	used, budget := 1, a.budget()
	if a.past != nil {
		used += a.past.attempts
	}
	failures := used
	if f.step != nil && a.byName[f.step.Step] != nil {
		call := a.byName[f.step.Step].call
		o.Step = f.step.Step
		tries := 1 + a.past.failures[o.Step]
		if call.Backoff != (Backoff{}) {
			backoff, failures = call.Backoff, tries
		}
		if call.Attempts > 0 {
			used, budget, failures = tries, call.Attempts, tries
			detail.OwnBudget = true
		}
	}
	o.Detail = encodeDetail(&detail)
	if f.permanent || used >= budget {
		return o
	}
	o.Retry = true
	o.RetryIn = backoff.Delay(failures)
	if f.after != nil { // not before, and not all at once
		o.RetryIn = f.after.delay + rand.N(f.after.delay/10+1)
	}
	return o
}

// finish records the outcome and says what follows from it.
func (a *attempt) finish(o *Outcome) {
	if o == nil {
		a.log().Warn("restaq: attempt ended without a record", "cause", context.Cause(a.ctx))
		return
	}
	var e *Execution
	err := a.persist("record outcome", func(ctx context.Context) (err error) {
		o.Steps = a.progress(nil).Steps
		e, err = a.rt.store.Finish(ctx, a.lease, o)
		return err
	})
	if err != nil {
		a.log().Warn("restaq: attempt ended without a record", "cause", err)
		return
	}
	a.announce(o)
	switch {
	case e.Status == Pending: // interrupted, or a wish was waiting
		a.rt.work.look()
	case e.Retrying() && o.RetryIn < a.rt.cfg.Poll:
		time.AfterFunc(o.RetryIn, a.rt.work.look)
	}
}

// announce logs the outcome. A failure that waits for a person is loud.
func (a *attempt) announce(o *Outcome) {
	log := a.log()
	if o.Step != "" {
		log = log.With("step", a.byName[o.Step].call.Name)
	}
	text := firstLine(a.withoutKeys(o.Error), 200)
	switch {
	case o.Attempt == AttemptCompleted:
		log.Debug("restaq: execution completed")
	case o.Attempt == AttemptInterrupted:
		log.Info("restaq: attempt interrupted by shutdown")
	case o.Retry:
		log.Warn("restaq: attempt failed", "error", text, "retryIn", o.RetryIn.Round(time.Millisecond))
	default:
		log.Error("restaq: execution failed and waits for a person", "error", text,
			"retry", "restaq retry "+a.lease.Execution)
	}
}

// withoutKeys names the attempt's steps in text without their keys, which stay
// out of the log.
func (a *attempt) withoutKeys(text string) string {
	for name, r := range a.byName {
		if name != r.call.Name {
			text = strings.ReplaceAll(text, name, r.call.Name)
		}
	}
	return text
}

// log returns a logger for lines about the attempt.
func (a *attempt) log() *slog.Logger {
	return a.rt.cfg.Logger.With("execution", a.lease.Execution, "handler", a.handler.name, "attempt", a.lease.Attempt)
}
