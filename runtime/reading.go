package restaq

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// ShapeError says that a record's output cannot be handed out: this build does
// not read the shape that it was recorded in. It stops the execution, which is
// dead until a person retries it with a build that reads the record, or restarts
// it.
type ShapeError struct {
	// Step is the record name: the step's name, plus its key in brackets.
	Step string

	// Recorded is the fingerprint of the record's shape, "" if it is not known,
	// and Wanted that of the output of this build's step.
	Recorded, Wanted string

	// Err is why the record could not be decoded or converted; nil if it was
	// not tried, as nothing is known of how to read it.
	Err error
}

// Error names the step, both shapes, and the way out.
func (e *ShapeError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("step %s: read recorded output: %v (the record has shape %q, this build reads %q); deploy a build that reads it and retry the execution, or restart it",
			e.Step, e.Err, e.Recorded, e.Wanted)
	}
	return fmt.Sprintf("step %s: its output's shape has changed: the record has shape %q, which this build, whose output has shape %q, does not read; "+
		"write a converter (//restaq:convert), deploy it and retry the execution, or restart it", e.Step, e.Recorded, e.Wanted)
}

// Unwrap returns why the record could not be decoded or converted.
func (e *ShapeError) Unwrap() error { return e.Err }

// read returns a completed record's output in the shape that the call wants.
//
// Builds that work on one store know each other by the shapes that their lock
// files list. One that knows the record's shape as an earlier one, and does not
// read it, is the newer one: the execution stops. Otherwise the record may be of
// a newer build, and the execution is left to others for a while.
func (a *attempt) read(r *stepRun, record *StepRow) ([]byte, error) {
	call := r.call
	if record.sealed != nil {
		return nil, a.cannotOpen(r.name(), record.sealed)
	}
	if record.Shape == call.Shape {
		return record.Output, nil
	}
	lineage := call.lineage()
	if lineage.Convert != nil {
		output, ok, err := convert(lineage, record)
		switch {
		case err != nil:
			return nil, a.Refuse(a.ctx, &ShapeError{Step: r.name(), Recorded: record.Shape, Wanted: call.Shape, Err: err})
		case ok:
			return output, nil
		}
	}
	if slices.Contains(lineage.Reads, record.Shape) || slices.Contains(decodeDetail[stepDetail](record.Detail).ReadBy, call.Shape) {
		return record.Output, nil
	}
	err := &ShapeError{Step: r.name(), Recorded: record.Shape, Wanted: call.Shape}
	newer := slices.Contains(lineage.ReadBy, record.Shape) || slices.Contains(lineage.Earlier, record.Shape)
	if newer || a.past.leftFor() >= a.rt.cfg.HandoverTimeout {
		return nil, a.Refuse(a.ctx, err)
	}
	return nil, a.leaveToOthers(r.name(), err)
}

// cannotOpen leaves the execution, of which something cannot be opened, to
// processes that have the key, and stops it if there is none for long.
func (a *attempt) cannotOpen(step string, err error) error {
	if step != "" {
		err = fmt.Errorf("step %s: %w", step, err)
	}
	if a.past.leftFor() >= a.rt.cfg.HandoverTimeout {
		return a.Refuse(a.ctx, err)
	}
	return a.leaveToOthers(step, err)
}

// noLineage is that of a step that never was anything else.
var noLineage Lineage

func (c *StepCall) lineage() *Lineage {
	if c.Lineage == nil {
		return &noLineage
	}
	return c.Lineage
}

// convert converts a record if there is a converter for its shape.
func convert(lineage *Lineage, record *StepRow) (output []byte, ok bool, err error) {
	err = guard(func() (err error) {
		output, ok, err = lineage.Convert(record.Shape, record.Output)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("convert: %w", err)
	}
	return output, ok, nil
}

// unread is what a process cannot read and another one may.
type unread struct {
	step string // record name of the step, if it is its record
	err  error
}

// leaveToOthers ends the attempt without a result: another build or process may
// read what this one does not.
func (a *attempt) leaveToOthers(step string, err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fatal == nil {
		a.fatal, a.unread = Permanent(err), &unread{step, err}
	}
	return a.fatal
}

const (
	// handoverDelay is how soon an execution that was left to other builds can
	// be claimed by them.
	handoverDelay = time.Second

	// handoverHold is for how long the process that left it does not claim it,
	// if Config.HandoverTimeout is no less.
	handoverHold = time.Minute
)

// left is the outcome of an attempt that left its execution to other builds.
func (a *attempt) left(u *unread) *Outcome {
	hold := min(handoverHold, a.rt.cfg.HandoverTimeout)
	o := &Outcome{
		Status: Pending, Attempt: AttemptReleased, RetryIn: min(handoverDelay, hold), Step: u.step,
		Error:  storable("left to other processes: " + u.err.Error()),
		Detail: encodeDetail(&attemptDetail{Trace: a.trace}),
	}
	if !a.rt.leftOut.add(a.lease.Execution, time.Now().Add(hold)) {
		o.RetryIn = hold // nobody takes it for as long
	}
	return o
}

// leftOut are executions that this process left to others and does not claim for
// a while. Beyond maxLeftOut of them the store keeps the time instead.
type leftOut struct {
	mu    sync.Mutex
	until map[string]time.Time
}

const maxLeftOut = 256

// add reports whether the execution is left out until then.
func (l *leftOut) add(execution string, until time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = make(map[string]time.Time)
	}
	if len(l.until) >= maxLeftOut {
		return false
	}
	l.until[execution] = until
	return true
}

// drop has the execution claimed again.
func (l *leftOut) drop(execution string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, execution)
}

// list returns the executions that are left out now.
func (l *leftOut) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.until) == 0 {
		return nil
	}
	now := time.Now()
	ids := make([]string, 0, len(l.until))
	for id, until := range l.until {
		if now.After(until) {
			delete(l.until, id)
			continue
		}
		ids = append(ids, id)
	}
	return ids
}
