package restaq

import (
	"context"
	"fmt"
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
	var name string
	if err := guard(func() error { name = call.RecordName(); return nil }); err != nil {
		return a.invalid(call, fmt.Errorf("key: %w", err))
	}
	var inputs []byte
	if call.Inputs != nil {
		err := guard(func() (err error) {
			inputs, err = codec.FingerprintOf(a.rt.key, call.Inputs)
			return err
		})
		if err != nil {
			return a.invalid(call, Permanent(fmt.Errorf("encode inputs: %w", err)))
		}
	}

	a.mu.Lock()
	if first := a.byName[name]; first != nil {
		a.mu.Unlock()
		return a.again(ctx, first, call, inputs)
	}
	r := &stepRun{call: call, name: name, inputs: inputs, done: make(chan struct{}), err: errGoexit}
	a.open(r)
	a.mu.Unlock()
	defer a.close(r)

	if record := a.past.records[name]; record != nil {
		r.output, r.err = a.reuse(r, record)
	} else {
		r.output, r.err = a.first(ctx, r)
	}
	return r.output, r.err
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
	r.seq = a.seq
	a.byName[r.name] = r
	a.order = append(a.order, r)
}

// close ends a call.
func (a *attempt) close(r *stepRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, o := range a.order {
		if o == r {
			a.order = append(a.order[:i:i], a.order[i+1:]...)
			break
		}
	}
	close(r.done)
}

// row begins the row of a call.
func (a *attempt) row(r *stepRun) StepRow {
	now := a.now()
	return StepRow{
		Attempt: a.lease.Attempt, Seq: r.seq, Name: r.name, Func: r.call.Func, Inputs: r.inputs, Shape: r.call.Shape,
		StartedAt: now, EndedAt: now,
	}
}

func (a *attempt) now() time.Time { return a.rt.cfg.Now().UTC().Truncate(time.Microsecond) }

// invalid records a call that could not even be named or fingerprinted as a
// failure of its step.
func (a *attempt) invalid(call *StepCall, err error) ([]byte, error) {
	r := &stepRun{call: call, name: call.Name, done: make(chan struct{})}
	a.mu.Lock()
	if a.byName[r.name] == nil {
		a.open(r)
	} else { // keep the first call's place in byName
		a.seq++
		r.seq = a.seq
	}
	a.mu.Unlock()
	defer a.close(r)
	r.err = a.fail(a.row(r), r, err)
	return nil, r.err
}

// again answers a second call under one record name.
func (a *attempt) again(ctx context.Context, first *stepRun, call *StepCall, inputs []byte) ([]byte, error) {
	switch {
	case packageOf(first.call.Func) != packageOf(call.Func) || first.call.Name != call.Name:
		return nil, a.Refuse(ctx, conflict(first.name, first.call.Func, call.Func))
	case call.Inputs == nil:
		return nil, a.Refuse(ctx, fmt.Errorf("step %s is called a second time in one attempt: give each call a name of its own", first.name))
	case string(first.inputs) != string(inputs):
		return nil, a.Refuse(ctx, fmt.Errorf("step %s is called a second time in one attempt with other inputs: tell the calls apart with key=", first.name))
	case InStep(ctx, first.name):
		return nil, a.Refuse(ctx, fmt.Errorf("step %s calls itself", first.name))
	}
	select {
	case <-first.done:
		return first.output, first.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func conflict(name, one, other string) error {
	return fmt.Errorf("step %s is the name of two steps in one execution: %s and %s; rename one", name, one, other)
}

// reuse answers a call from the record of an earlier attempt.
func (a *attempt) reuse(r *stepRun, record *StepRow) ([]byte, error) {
	if packageOf(record.Func) != packageOf(r.call.Func) {
		return nil, a.Refuse(a.ctx, conflict(r.name, record.Func, r.call.Func))
	}
	if record.Status == StepCompleted && !record.readable(r.call.Shape, r.call.Reads) {
		return nil, a.Refuse(a.ctx, fmt.Errorf("step %s: its output's shape has changed: the record has shape %q, this program's %s reads %q; restart the execution, or run the program that wrote the record",
			r.name, record.Shape, r.call.Func, r.call.Shape))
	}
	row := a.row(r)
	row.Status = StepSkipped
	if record.inputChanged(r.inputs) {
		if a.rt.cfg.StrictInputs {
			return nil, a.Refuse(a.ctx, fmt.Errorf("step %s: its inputs differ from those that its record was made from (Config.StrictInputs)", r.name))
		}
		row.Detail = encodeDetail(&stepDetail{InputChanged: true})
		a.log().Warn("restaq: input changed: a step's record was made from other inputs", "step", r.call.Name)
	}
	a.leave(row)
	if record.Status == StepPermanent {
		return nil, &StepError{Step: r.name, Permanent: true, Err: a.rt.known.restore(record.Error, decodeDetail[stepDetail](record.Detail).Errors)}
	}
	return record.Output, nil
}

// first runs a step that has no record.
func (a *attempt) first(ctx context.Context, r *stepRun) ([]byte, error) {
	if err := a.ensureLease(); err != nil {
		return nil, a.refuse(err)
	}
	if err := ctx.Err(); err != nil {
		return nil, a.refuse(context.Cause(ctx))
	}
	row := a.row(r)
	if r.call.Tx != "" {
		output, failure, err := a.transact(WithStep(ctx, r.name), r, row)
		switch {
		case err != nil:
			return nil, a.refuse(err)
		case failure != nil:
			row.EndedAt = a.now()
			return nil, a.fail(row, r, failure)
		}
		return output, nil
	}
	output, err := a.call(ctx, r)
	if err == nil {
		err = checkOutput(output)
	}
	if err != nil {
		row.EndedAt = a.now()
		return nil, a.fail(row, r, err)
	}
	row.complete(a.now(), output, r.call.Reads)
	if r.call.Pure && a.leave(row) {
		return output, nil
	}
	if err := a.record(&row); err != nil {
		return nil, a.refuse(err)
	}
	return output, nil
}

// complete makes row that of a completed call.
func (r *StepRow) complete(at time.Time, output []byte, reads []string) {
	r.EndedAt = at
	r.Status = StepCompleted
	r.Output = output
	r.Detail = encodeDetail(&stepDetail{Reads: reads})
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
	ctx, cancel := r.timeout(WithStep(ctx, r.name))
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
func (a *attempt) fail(row StepRow, r *stepRun, err error) error {
	if cause := context.Cause(a.ctx); cause != nil {
		return a.refuse(cause)
	}
	row.Status = StepFailed
	row.Error = errorText(err)
	f := a.rt.known.classify(err)
	detail := stepDetail{Timeout: err == errStepTimeout, Stack: storable(string(f.stack))}
	if f.permanent {
		row.Status = StepPermanent
		detail.Errors = f.known
	}
	row.Detail = encodeDetail(&detail)
	if err := a.record(&row); err != nil {
		return a.refuse(err)
	}
	return &StepError{Step: r.name, Permanent: f.permanent, Err: err}
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
