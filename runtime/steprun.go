package restaq

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/restaq/restaq/runtime/codec"
)

const (
	// maxOutput is the largest output that is recorded, in bytes.
	maxOutput = 16 << 20

	// maxUnwritten bounds the outputs of an attempt's pure steps that wait for
	// the next write, in bytes.
	maxUnwritten = 256 << 10
)

// Step implements Engine.
func (a *attempt) Step(ctx context.Context, call *StepCall) ([]byte, error) {
	if err := a.enter(); err != nil {
		return nil, err
	}
	defer a.exit()

	if err := nested(ctx, call); err != nil {
		return nil, err
	}
	if err := checkIdentifier(call.Name); err != nil {
		return nil, a.Refuse(ctx, fmt.Errorf("step %q: its name %w", call.Name, err))
	}
	r := &stepRun{call: call, err: errGoexit}
	if err := a.identify(r); err != nil {
		return a.invalid(r, err)
	}
	a.mu.Lock()
	if first := a.byName[r.name()]; first != nil {
		a.mu.Unlock()
		return a.again(ctx, first, r)
	}
	a.open(r)
	a.mu.Unlock()
	defer a.close(r)

	ctx, end := a.observeStep(ctx, r)
	defer end()
	if record := a.past.records[r.oldest()]; record != nil {
		r.output, r.err = a.reuse(r, record)
	} else {
		r.output, r.err = a.first(ctx, r)
	}
	return r.output, r.err
}

// observeStep tells the observer that a call begins. It returns the context of
// the step's function, and what tells observer and hooks of the end.
func (a *attempt) observeStep(ctx context.Context, r *stepRun) (inner context.Context, ended func()) {
	if a.rt.unseen && a.rt.cfg.Hooks.StepEnded == nil {
		return ctx, func() {}
	}
	begun := time.Now()
	end := &StepEnd{StepStart: StepStart{
		Execution: a.lease.Execution, Handler: a.handler.name, Attempt: a.lease.Attempt,
		Step: r.call.Name, Record: r.name(), Func: r.call.Func, Recorded: a.past.records[r.name()] != nil,
	}}
	inner, observed := ctx, func(*StepEnd) {}
	a.rt.call("observer", func() { inner, observed = a.rt.cfg.Observer.Step(ctx, &end.StepStart) })
	return inner, func() {
		end.Status, end.Err, end.Took = r.row().Status, r.err, time.Since(begun)
		a.rt.call("observer", func() { observed(end) })
		if a.rt.cfg.Hooks.StepEnded != nil {
			a.rt.call("hook", func() { a.rt.cfg.Hooks.StepEnded(ctx, end) })
		}
	}
}

// identify begins the row of a call: its record name and the fingerprint of its
// inputs.
func (a *attempt) identify(r *stepRun) error {
	call, row := r.call, r.row()
	row.Attempt, row.Name, row.Func, row.Shape = a.lease.Attempt, call.Name, call.Func, call.Shape
	if call.Key != nil {
		if err := guard(func() error { row.Name = call.RecordName(); return nil }); err != nil {
			return fmt.Errorf("key: %w", err)
		}
	}
	if call.Inputs == nil {
		return nil
	}
	err := guard(func() (err error) {
		row.Inputs, err = codec.FingerprintOf(a.rt.key, call.Inputs)
		return err
	})
	if err != nil {
		row.Name = call.Name // as of no call
		return Permanent(fmt.Errorf("encode inputs: %w", err))
	}
	return nil
}

// enter admits a call, or says why no further step starts.
func (a *attempt) enter() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.fatal != nil:
		return a.fatal
	case a.ended:
		return errEnded
	case a.ctx.Err() != nil:
		a.refused = true
		return context.Cause(a.ctx)
	}
	a.calls++
	return nil
}

// exit ends what enter admitted.
func (a *attempt) exit() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls--; a.calls == 0 {
		a.idle.Broadcast()
	}
}

// open gives a call its place. The caller holds mu.
func (a *attempt) open(r *stepRun) {
	a.seq++
	r.row().Seq = a.seq
	if a.byName == nil {
		a.byName = make(map[string]*stepRun)
	}
	a.byName[r.name()] = r
	a.order = append(a.order, r)
}

// close ends a call.
func (a *attempt) close(r *stepRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.order, r); i >= 0 {
		a.order = slices.Delete(a.order, i, i+1)
	}
	r.ended = true
	if r.done != nil {
		close(r.done)
	}
}

// begin notes when a call began.
func (a *attempt) begin(r *stepRun) {
	now := a.now()
	r.row().StartedAt, r.row().EndedAt = now, now
}

func (a *attempt) now() time.Time { return a.rt.cfg.Now().UTC().Truncate(time.Microsecond) }

// invalid records a call that could not even be named or fingerprinted as a
// failure of its step.
func (a *attempt) invalid(r *stepRun, err error) ([]byte, error) {
	a.mu.Lock()
	if a.byName[r.name()] == nil {
		a.open(r)
	} else { // keep the first call's place in byName
		a.seq++
		r.row().Seq = a.seq
	}
	a.mu.Unlock()
	defer a.close(r)
	a.begin(r)
	r.err = a.fail(r, err)
	return nil, r.err
}

// again answers r, a second call under one record name.
func (a *attempt) again(ctx context.Context, first, r *stepRun) ([]byte, error) {
	name := r.name()
	switch {
	case packageOf(first.call.Func) != packageOf(r.call.Func) || first.call.Name != r.call.Name:
		return nil, a.Refuse(ctx, conflict(name, first.call.Func, r.call.Func))
	case r.call.Inputs == nil:
		return nil, a.Refuse(ctx, fmt.Errorf("step %s is called a second time in one attempt: give each call a name of its own", name))
	case string(first.row().Inputs) != string(r.row().Inputs):
		return nil, a.Refuse(ctx, fmt.Errorf("step %s is called a second time in one attempt with other inputs: tell the calls apart with key=", name))
	case InStep(ctx, name):
		return nil, a.Refuse(ctx, fmt.Errorf("step %s calls itself", name))
	}
	select {
	case <-a.awaitStep(first):
		return first.output, first.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// closed is a channel that is.
var closed = func() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// awaitStep returns a channel that is closed when the call has ended.
func (a *attempt) awaitStep(r *stepRun) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case r.ended:
		return closed
	case r.done == nil:
		r.done = make(chan struct{})
	}
	return r.done
}

func conflict(name, one, other string) error {
	return fmt.Errorf("step %s is the name of two steps in one execution: %s and %s; rename one", name, one, other)
}

// reuse answers a call from the record of an earlier attempt.
func (a *attempt) reuse(r *stepRun, record *StepRow) ([]byte, error) {
	if packageOf(record.Func) != packageOf(r.call.Func) {
		return nil, a.Refuse(a.ctx, conflict(r.name(), record.Func, r.call.Func))
	}
	output := record.Output
	if record.Status == StepCompleted {
		var err error
		if output, err = a.read(r, record); err != nil {
			return nil, err
		}
	}
	a.begin(r)
	row := r.row()
	row.Status = StepSkipped
	if record.inputChanged(row.Inputs) {
		if a.rt.cfg.StrictInputs {
			return nil, a.Refuse(a.ctx, fmt.Errorf("step %s: %w", r.name(), errInputChanged))
		}
		row.Detail = encodeDetail(&stepDetail{InputChanged: true})
		a.log().Warn("restaq: input changed: a step's record was made from other inputs", "step", r.call.Name)
	}
	a.leave(row)
	if record.Status == StepPermanent {
		return nil, &StepError{Step: r.name(), Permanent: true, Err: a.rt.known.restore(record.Error, decodeDetail[stepDetail](record.Detail).Errors)}
	}
	return output, nil
}

// first runs a step that has no record.
func (a *attempt) first(ctx context.Context, r *stepRun) ([]byte, error) {
	if err := a.ensureLease(); err != nil {
		return nil, a.refuse(err)
	}
	if err := ctx.Err(); err != nil {
		return nil, a.refuse(context.Cause(ctx))
	}
	a.begin(r)
	if r.call.Tx != "" {
		return a.firstTx(ctx, r)
	}
	output, err := a.call(ctx, r)
	if err == nil {
		err = checkOutput(output)
	}
	r.row().EndedAt = a.now()
	if err != nil {
		return nil, a.fail(r, err)
	}
	r.complete(r.row(), output)
	if r.call.Pure && a.leave(r.row()) {
		return output, nil
	}
	if err := a.record(r); err != nil {
		return nil, a.refuse(err)
	}
	return output, nil
}

// firstTx is first for a step that takes a transaction.
func (a *attempt) firstTx(ctx context.Context, r *stepRun) ([]byte, error) {
	output, failure, err := a.transact(r.context(ctx), r, *r.row())
	switch {
	case err != nil:
		return nil, a.refuse(err)
	case failure != nil:
		r.row().EndedAt = a.now()
		return nil, a.fail(r, failure)
	}
	return output, nil
}

// complete makes row that of a completed call.
func (r *stepRun) complete(row *StepRow, output []byte) {
	row.Status = StepCompleted
	row.Output = output
	lineage := r.call.Lineage
	if lineage == nil {
		return
	}
	detail := stepDetail{ReadBy: lineage.ReadBy, Was: r.was()}
	for _, shape := range slices.Concat(lineage.Reads, lineage.Earlier) {
		if !slices.Contains(lineage.ReadBy, shape) {
			detail.Earlier = append(detail.Earlier, shape)
		}
	}
	row.Detail = encodeDetail(&detail)
}

// checkOutput refuses an output that is too large to be recorded.
func checkOutput(output []byte) error {
	if len(output) > maxOutput {
		return Permanent(fmt.Errorf("output has %d bytes, at most %d can be recorded", len(output), maxOutput))
	}
	return nil
}

// timeout returns the context of one try of the step.
func (r *stepRun) timeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.call.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, r.call.Timeout, errStepTimeout)
}

// call runs the step's function under its timeout.
func (a *attempt) call(ctx context.Context, r *stepRun) (output []byte, err error) {
	ctx, cancel := r.timeout(r.context(ctx))
	defer cancel()
	err = guard(func() (err error) {
		output, err = r.call.Run(ctx)
		return err
	})
	if context.Cause(ctx) == errStepTimeout {
		return nil, errStepTimeout
	}
	return output, err
}

// fail records a failed call and returns the error for the handler. A failure
// after the attempt was cut off says nothing about the step: it is not
// recorded.
func (a *attempt) fail(r *stepRun, err error) error {
	if cause := context.Cause(a.ctx); cause != nil {
		return a.refuse(cause)
	}
	row := r.row()
	row.Status = StepFailed
	row.Error = errorText(err)
	f := a.rt.known.classify(err)
	detail := stepDetail{Timeout: err == errStepTimeout, Stack: storable(string(f.stack)), Was: r.was()}
	if f.permanent {
		row.Status = StepPermanent
		detail.Errors = f.known
	}
	row.Detail = encodeDetail(&detail)
	if err := a.record(r); err != nil {
		return a.refuse(err)
	}
	return &StepError{Step: r.name(), Permanent: f.permanent, Err: err}
}

// refuse notes that a step could not be run or recorded for a reason that is
// not its own, so that the attempt does not count as the handler's result.
func (a *attempt) refuse(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx.Err() != nil {
		a.refused = true
	}
	return err
}

// Refuse implements Engine: it stops the execution with a permanent error.
func (a *attempt) Refuse(_ context.Context, err error) error {
	err = Permanent(err)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fatal == nil {
		a.fatal = err
	}
	return err
}
