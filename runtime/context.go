package restaq

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
)

// Scope is what a context inside an execution knows of it.
type Scope struct {
	ExecutionID string
	Handler     string
	Attempt     int // from 1
	Event       Event
	Logger      *slog.Logger // nil means slog.Default()
}

// scopeContext is the context of a handler.
type scopeContext struct {
	context.Context
	engine Engine
	scope  Scope
}

// scopeKey finds a scopeContext.
type scopeKey struct{}

// Value implements context.Context.
func (c *scopeContext) Value(key any) any {
	if key == (scopeKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// String keeps what the event holds out of a context that is printed.
func (c *scopeContext) String() string { return "restaq.execution(" + c.scope.ExecutionID + ")" }

// stepContext is the context of a step's function.
type stepContext struct {
	context.Context
	name string // record name
	key  string // what idempotency keys are made from
}

// stepKey finds the innermost stepContext.
type stepKey struct{}

// Value implements context.Context.
func (c *stepContext) Value(key any) any {
	if key == (stepKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// String keeps keys, which are part of the name, out of a context that is
// printed.
func (c *stepContext) String() string { return "restaq.step" }

// WithEngine returns a context in which step wrappers find engine, and the
// functions of this package that take a context find scope. It is for engines:
// package restaqtest is one.
func WithEngine(ctx context.Context, engine Engine, scope Scope) context.Context {
	return &scopeContext{ctx, engine, scope}
}

// WithStep returns the context that a step's function gets: one that knows the
// record name. It is for engines.
func WithStep(ctx context.Context, recordName string) context.Context {
	return &stepContext{ctx, recordName, recordName}
}

// InStep reports whether ctx belongs to the function of the step with that
// record name, or to a step that it calls. It is for engines.
func InStep(ctx context.Context, recordName string) bool {
	for s := stepFrom(ctx); s != nil; s = stepFrom(s.Context) {
		if s.name == recordName {
			return true
		}
	}
	return false
}

// stepFrom returns the innermost step that ctx belongs to, or nil.
func stepFrom(ctx context.Context) *stepContext {
	s, _ := ctx.Value(stepKey{}).(*stepContext)
	return s
}

func engineFrom(ctx context.Context) Engine {
	if c, ok := ctx.Value(scopeKey{}).(*scopeContext); ok {
		return c.engine
	}
	return nil
}

var noScope Scope

func scopeFrom(ctx context.Context) *Scope {
	if c, ok := ctx.Value(scopeKey{}).(*scopeContext); ok {
		return &c.scope
	}
	return &noScope
}

// ExecutionID returns the id of the execution that ctx belongs to, or "".
func ExecutionID(ctx context.Context) string { return scopeFrom(ctx).ExecutionID }

// Attempt returns the number of the attempt that ctx belongs to, from 1, or 0
// outside an execution.
func Attempt(ctx context.Context) int { return scopeFrom(ctx).Attempt }

// EventFrom returns the raw event of the execution that ctx belongs to. Its
// payload and header are shared: do not change them. Outside an execution it
// is the zero Event.
func EventFrom(ctx context.Context) Event { return scopeFrom(ctx).Event }

// Logger returns a logger whose lines name the execution, handler and attempt
// that ctx belongs to, and the step inside one. Outside an execution it is
// slog.Default().
func Logger(ctx context.Context) *slog.Logger {
	s := scopeFrom(ctx)
	log := s.Logger
	if log == nil {
		log = slog.Default()
	}
	if s.ExecutionID == "" {
		return log
	}
	log = log.With("execution", s.ExecutionID, "handler", s.Handler, "attempt", s.Attempt)
	if step := stepFrom(ctx); step != nil {
		log = log.With("step", step.name)
	}
	return log
}

// IdempotencyKey returns a key to hand to outside systems that deduplicate by
// one, such as a payment API. It is made from the execution's id and the
// step's record name (the oldest one, for a step that was renamed by
// //restaq:was): the same over attempts, take-overs and restarts, new in a
// replay. It has 32 hexadecimal digits. In a handler outside its steps it is
// the execution's own; outside an execution it is "".
func IdempotencyKey(ctx context.Context) string {
	id := ExecutionID(ctx)
	if id == "" {
		return ""
	}
	name := ""
	if step := stepFrom(ctx); step != nil {
		name = step.key
	}
	sum := sha256.Sum256([]byte(id + "\x00" + name))
	return hex.EncodeToString(sum[:16])
}
