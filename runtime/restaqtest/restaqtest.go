// Package restaqtest runs step wrappers in plain unit tests, without a store,
// a runtime or a handler.
//
//	func TestReceipt(t *testing.T) {
//		b := &Billing{…}
//		err := b.sendReceiptStep(restaqtest.Context(t), "cus_1", 2999)
//		…
//	}
//
// A wrapper behaves as in a first attempt: its output passes through the
// codec, a failure is a *restaq.StepError, a panic is a failure, a timeout is
// kept, and a second call under one name returns the first one's result or
// fails if the inputs differ. Nothing is retried. A step that takes a
// transaction gets that of WithTransaction.
//
// [Load] reads an execution that happened from a file, and runs its handler with
// the steps that it had recorded.
package restaqtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// ExecutionID is the id of the execution that every Context belongs to, so
// that idempotency keys are the same in each run of a test.
const ExecutionID = "00000000-0000-7000-8000-000000000000"

// Context returns the context of a new execution, which ends with the test. It
// belongs to the zero event; use EventContext to give it one.
func Context(t testing.TB) context.Context {
	return EventContext(t, restaq.Event{Payload: []byte("{}")})
}

// EventContext is Context for an execution of event, which restaq.EventFrom
// returns.
func EventContext(t testing.TB, event restaq.Event) context.Context {
	return restaq.WithEngine(t.Context(), &engine{calls: make(map[string]*call)}, restaq.Scope{
		ExecutionID: ExecutionID, Handler: t.Name(), Attempt: 1, Event: event,
	})
}

// transactionKey is where WithTransaction puts the transaction.
type transactionKey struct{}

// WithTransaction returns a context in which steps that take a transaction get
// tx, which the test begins, and commits or rolls back. Without it such a step
// fails.
func WithTransaction(ctx context.Context, tx any) context.Context {
	return context.WithValue(ctx, transactionKey{}, tx)
}

// engine runs steps where they are called.
type engine struct {
	records map[string]record // of a Recording

	mu    sync.Mutex
	calls map[string]*call // by record name
}

type call struct {
	fn     string
	inputs []byte
	done   chan struct{}
	output []byte
	err    error
}

// Step implements restaq.Engine.
func (e *engine) Step(ctx context.Context, sc *restaq.StepCall) ([]byte, error) {
	var name string
	if err := guard(func() error { name = sc.RecordName(); return nil }); err != nil {
		return nil, &restaq.StepError{Step: sc.Name, Err: fmt.Errorf("key: %w", err)}
	}
	c := &call{fn: sc.Func, done: make(chan struct{}), err: errors.New("the step's goroutine ended")}
	if sc.Inputs != nil {
		err := guard(func() (err error) {
			c.inputs, err = sc.Inputs(nil)
			return err
		})
		if err != nil {
			return nil, &restaq.StepError{Step: name, Permanent: true, Err: fmt.Errorf("encode inputs: %w", err)}
		}
	}
	e.mu.Lock()
	if first := e.calls[name]; first != nil {
		e.mu.Unlock()
		return first.again(ctx, name, sc, c.inputs)
	}
	e.calls[name] = c
	e.mu.Unlock()
	defer close(c.done)
	if r, ok := e.records[name]; ok {
		c.output, c.err = r.output, r.err
		return c.output, c.err
	}
	c.output, c.err = run(ctx, name, sc)
	return c.output, c.err
}

// Refuse implements restaq.Engine.
func (e *engine) Refuse(_ context.Context, err error) error { return restaq.Permanent(err) }

// again answers a second call under one record name.
func (c *call) again(ctx context.Context, name string, sc *restaq.StepCall, inputs []byte) ([]byte, error) {
	switch {
	case c.fn != sc.Func:
		return nil, restaq.Permanent(fmt.Errorf("step %s is the name of two steps in one execution: %s and %s", name, c.fn, sc.Func))
	case restaq.InStep(ctx, name):
		return nil, restaq.Permanent(fmt.Errorf("step %s calls itself", name))
	case sc.Inputs == nil || !bytes.Equal(c.inputs, inputs):
		return nil, restaq.Permanent(fmt.Errorf("step %s is called a second time: tell the calls apart with key= or names of their own", name))
	}
	select {
	case <-c.done:
		return c.output, c.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// run runs a step's function under its timeout.
func run(ctx context.Context, name string, sc *restaq.StepCall) (output []byte, err error) {
	ctx = restaq.WithStep(ctx, name)
	if sc.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sc.Timeout)
		defer cancel()
	}
	began := time.Now()
	err = guard(func() (err error) {
		if sc.Tx == "" {
			output, err = sc.Run(ctx)
			return err
		}
		tx := ctx.Value(transactionKey{})
		if tx == nil {
			return fmt.Errorf("it takes a %s: give one by restaqtest.WithTransaction", sc.Tx)
		}
		output, err = sc.RunTx(ctx, tx)
		return err
	})
	if sc.Timeout > 0 && time.Since(began) >= sc.Timeout {
		err = fmt.Errorf("timeout: %w", context.DeadlineExceeded)
	}
	if err != nil {
		return nil, &restaq.StepError{Step: name, Permanent: restaq.IsPermanent(err), Err: err}
	}
	return output, nil
}

func guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return fn()
}
