package restaq

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"
)

// judge turns the end of the handler's run into the attempt's outcome. It waits
// for step calls that the handler left behind, and returns nil if nothing may
// be written any more.
func (a *attempt) judge(end *ending) *Outcome {
	if end.spent {
		return &Outcome{Status: Failed, Attempt: AttemptFailed, Error: end.err.Error(), Uncounted: true, StoppedBy: StoppedByAttempts}
	}
	a.mu.Lock()
	for a.calls > 0 {
		a.idle.Wait()
	}
	a.ended = true
	fatal, unread, refused := a.fatal, a.unread, a.refused
	a.mu.Unlock()

	cause := context.Cause(a.ctx)
	switch {
	case cause == ErrLeaseLost || cause == ErrCancelled:
		return nil
	case unread != nil:
		return a.left(unread)
	case fatal != nil:
		return a.failed(fatal, nil)
	case cause != nil && (end.err != nil || refused):
		return &Outcome{Status: Pending, Attempt: AttemptInterrupted, Detail: encodeDetail(&attemptDetail{Trace: a.trace})}
	case end.exited:
		return a.failed(end.err, debug.Stack())
	case end.err != nil:
		return a.failed(end.err, nil)
	}
	return a.completed()
}

// completed is the outcome of a handler that returned nil.
func (a *attempt) completed() *Outcome {
	unused := a.past.unused(a.byName)
	if len(unused) > 0 {
		a.log().Warn("restaq: records of earlier attempts that the completed attempt did not ask for", "count", len(unused))
	}
	return &Outcome{Status: Completed, Attempt: AttemptCompleted, Detail: encodeDetail(&attemptDetail{Unused: unused, Trace: a.trace})}
}

// failed decides whether and when another attempt follows.
func (a *attempt) failed(err error, stack []byte) *Outcome {
	o := &Outcome{Status: Failed, Attempt: AttemptFailed, Error: errorText(err)}
	f := a.rt.known.classify(err)
	if f.stack != nil {
		stack = f.stack
	}
	detail := attemptDetail{Stack: storable(string(stack)), Trace: a.trace}

	backoff := a.handler.backoff.or(a.rt.cfg.Backoff)
	used, budget := 1+a.past.attempts, a.budget()
	failures := used
	if f.step != nil && a.byName[f.step.Step] != nil {
		run := a.byName[f.step.Step]
		call := run.call
		o.Step = f.step.Step
		tries := 1 + a.past.failures[run.oldest()]
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
		o.StoppedBy = f.stop()
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
		cause := context.Cause(a.ctx)
		a.log().Warn("restaq: attempt ended without a record", "cause", cause)
		a.tell(nil, nil, cause)
		return
	}
	var e *Execution
	err := a.persist("record outcome", func(ctx context.Context) (err error) {
		o.Steps = a.progress(nil, nil).Steps
		e, err = a.rt.store.Finish(ctx, a.lease, o)
		return err
	})
	if err != nil {
		a.log().Warn("restaq: attempt ended without a record", "cause", err)
		a.tell(nil, nil, err)
		return
	}
	a.announce(o)
	a.rt.count(CountAttempt, a.handler.name, o.result(), latencyBucket(time.Since(a.begun)))
	a.tell(o, e, nil)
	switch {
	case o.Attempt == AttemptReleased && e.Status == Pending:
		// Others find it when it is due.
	case e.Status == Pending, a.handler.order != nil:
		// It was interrupted, or a wish was waiting, or the next one of its
		// order key can begin.
		a.rt.pendAfter(e.Handler)
	case e.Retrying() && o.RetryIn < a.rt.cfg.Poll:
		time.AfterFunc(o.RetryIn, a.rt.work.look)
	}
}

// tell tells hooks and the observer of the attempt's end: o was recorded and
// left e, or err says why nothing was.
func (a *attempt) tell(o *Outcome, e *Execution, err error) {
	hooks := &a.rt.cfg.Hooks
	if a.observed == nil && hooks.AttemptEnded == nil && hooks.Dead == nil {
		return
	}
	end := &AttemptEnd{AttemptStart: a.start(), Err: err, Took: time.Since(a.begun)}
	if o != nil {
		end.Outcome, end.Status, end.Dead, end.Error = o.Attempt, e.Status, e.Dead(), o.Error
		if r := a.byName[o.Step]; r != nil {
			end.Step = r.call.Name
		}
		if o.Retry {
			end.RetryIn = o.RetryIn
		}
	}
	if a.observed != nil {
		a.rt.call("observer", func() { a.observed(end) })
	}
	if hooks.AttemptEnded != nil {
		a.rt.call("hook", func() { hooks.AttemptEnded(&a.inside, end) })
	}
	if end.Dead {
		a.rt.dead(&a.inside, e)
	}
}

// result is what an attempt's end counts as.
func (o *Outcome) result() string {
	switch {
	case o.Status != Failed:
		return string(o.Attempt)
	case o.Retry:
		return "retrying"
	}
	return "dead"
}

// announce logs the outcome. A failure that waits for a person is loud.
func (a *attempt) announce(o *Outcome) {
	if o.Attempt == AttemptCompleted && !a.rt.cfg.Logger.Enabled(a.ctx, slog.LevelDebug) {
		return
	}
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
	case o.Attempt == AttemptReleased:
		log.Warn("restaq: what the execution has recorded cannot be read here: it is left to other processes", "error", text,
			"failsAfter", max(a.rt.cfg.HandoverTimeout-a.past.leftFor(), 0).Round(time.Second))
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
