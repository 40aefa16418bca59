package restaq

import (
	"errors"
	"fmt"
	"time"
)

// Errors that callers branch on, with errors.Is.
var (
	// ErrNotFound says that the store has no such event or execution.
	ErrNotFound = errors.New("not found")

	// ErrLeaseLost says that another process has taken the execution over, or
	// that a person cancelled it: this process records nothing more of it.
	ErrLeaseLost = errors.New("lease lost")

	// ErrFinal says that the execution is in a state that the call cannot
	// change: cancelled, or for Cancel completed.
	ErrFinal = errors.New("execution is final")

	// ErrNoPayload says that an event's payload was not kept, so that nothing
	// can run on it any more.
	ErrNoPayload = errors.New("the event's payload was not kept")

	// ErrUnsupported says that the store lacks an ability that the call needs.
	ErrUnsupported = errors.New("not supported by this store")

	// ErrCursor says that a cursor is none that a page of this store had.
	ErrCursor = errors.New("invalid cursor")

	// ErrNoExecution says that a step's wrapper was called with a context that
	// belongs to no execution. In a unit test, restaqtest.Context provides one.
	ErrNoExecution = errors.New("called outside an execution: pass the handler's context on")

	// ErrShutdown is the cause of a context that ended because the runtime is
	// shutting down. The attempt is picked up again by the next process.
	ErrShutdown = errors.New("runtime is shutting down")

	// ErrCancelled is the cause of a context that ended because a person
	// cancelled the execution.
	ErrCancelled = errors.New("execution cancelled")

	// ErrInvalidEvent says that an event lacks something or cannot be stored;
	// delivering it again will not help.
	ErrInvalidEvent = errors.New("invalid event")

	// ErrNotAuthentic says that a request did not prove that it comes from the
	// provider. Providers wrap it with the reason.
	ErrNotAuthentic = errors.New("not authentic")

	// ErrMalformed says that an authentic request could not be understood.
	// Providers wrap it with the reason.
	ErrMalformed = errors.New("malformed")

	// ErrNotRegistered says that the runtime has no handler, or that handlers
	// were registered too late.
	ErrNotRegistered = errors.New("handlers must be registered before the first delivery")
)

// Permanent marks an error as final: no automatic retry follows it. Returned
// by a step it is an outcome that is recorded, and later attempts get it again
// without running the step; returned by a handler it ends the execution.
// Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// IsPermanent reports whether err, or an error it wraps, was made by Permanent
// or is a StepError with a permanent failure.
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p) || permanentStep(err) != nil
}

// permanentStep returns the first permanent failure of a step among all that
// err wraps, or nil.
func permanentStep(err error) *StepError {
	if s, ok := err.(*StepError); ok && s.Permanent {
		return s
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return permanentStep(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, wrapped := range err.Unwrap() {
			if s := permanentStep(wrapped); s != nil {
				return s
			}
		}
	}
	return nil
}

// RetryAfter wraps err with the delay until the next attempt, in place of the
// backoff: what a server's Retry-After header asks for, say. Up to a tenth is
// added, so that executions that were put off together do not return together.
// A negative delay counts as zero. RetryAfter(nil, d) is nil.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfterError{err, max(d, 0)}
}

type retryAfterError struct {
	err   error
	delay time.Duration
}

func (e *retryAfterError) Error() string { return e.err.Error() }
func (e *retryAfterError) Unwrap() error { return e.err }

// StepError is the failure of a step, as its wrapper returns it.
type StepError struct {
	// Step is the record name: the step's name, plus its key in brackets.
	Step string

	// Permanent says that the step will not be tried again by itself.
	Permanent bool

	// Err is the step's own error. For a failure that an earlier attempt
	// recorded it has the recorded text and sees through to the sentinels and
	// types of Config.Errors.
	Err error
}

// Error returns the step's name and its error.
func (e *StepError) Error() string { return fmt.Sprintf("step %s: %v", e.Step, e.Err) }

// Unwrap returns the step's own error.
func (e *StepError) Unwrap() error { return e.Err }

// panicError is a recovered panic.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// Unwrap makes the panicked error visible to errors.Is and errors.As.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}
