package restaq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/restaq/restaq/runtime/codec"
)

// Part is what Register takes: a Handler or a bound Step.
type Part interface {
	register(r *registry) error
}

// Handler subscribes a function to event types. E is what the payload is
// decoded into, or Event for the raw event.
type Handler[E any] struct {
	// Name is the handler's stable name, such as
	// "billing.Billing.ChargeSucceeded". Executions are stored under it.
	Name string

	// Was are names that the handler had before. It goes on with executions that
	// are stored under them. A handler with Order has none, as an order holds
	// among executions of one name.
	Was []string

	// Events are the event types: exact, or with "*" as the whole last
	// segment, which matches one segment or more.
	Events []string

	// Func is the handler.
	Func func(ctx context.Context, event E) error

	// Decode makes the handler's event from a payload; nil only if E is Event.
	// With an error that is a [*codec.RangeError] itself, the event counts, and
	// each attempt logs a warning.
	Decode func(eventType string, payload []byte) (E, error)

	// Attempts is how many attempts an execution gets; 0: Config.Attempts.
	Attempts int

	// Backoff is the wait between attempts; zero: Config.Backoff.
	Backoff Backoff

	// Timeout ends the context of one attempt; 0 means none.
	Timeout time.Duration

	// Order computes the order key; nil for none. Executions with equal keys
	// run one at a time, in the order in which their deliveries were committed.
	// One that waits for its retry keeps its key; a dead one does if
	// Config.DeadBlocksKey says so. An empty key is none.
	Order func(event E) string

	// Graph is what the handler does, step by step, as the generator found it,
	// for tools: the JSON of package graph, or a restaq.graph.json in which the
	// handler is found by its name. "" for none.
	Graph string
}

// handler is a Handler with its type erased.
type handler struct {
	name     string
	events   []string
	attempts int
	backoff  Backoff
	timeout  time.Duration
	detail   HandlerDetail // for the store

	// prepare decodes the event; the function it returns runs the handler.
	prepare func(event *Event) (func(ctx context.Context) error, error)

	// order computes the order key; nil for none.
	order func(event *Event) (string, error)
}

func (h Handler[E]) register(r *registry) error {
	if err := h.validate(); err != nil {
		return fmt.Errorf("handler %q: %w", h.Name, err)
	}
	decode := func(event *Event) (e E, beyond *codec.RangeError, err error) {
		if raw, ok := any(*event).(E); ok && h.Decode == nil {
			return raw, nil, nil
		}
		e, err = h.Decode(event.Type, event.Payload)
		if is, ok := err.(*codec.RangeError); ok { // one that is wrapped comes without an event
			return e, is, nil
		}
		return e, nil, err
	}
	graph, err := r.graph(h.Name, h.Graph)
	if err != nil {
		return fmt.Errorf("handler %q: graph: %w", h.Name, err)
	}
	erased := &handler{
		name: h.Name, events: h.Events, attempts: h.Attempts, backoff: h.Backoff, timeout: h.Timeout,
		detail: HandlerDetail{Graph: graph, Was: h.Was},
		prepare: func(event *Event) (func(ctx context.Context) error, error) {
			e, beyond, err := decode(event)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) error {
				if beyond != nil {
					Logger(ctx).WarnContext(ctx, "event has integers that do not fit their type", "first", beyond.Path, "count", beyond.Count)
				}
				return h.Func(ctx, e)
			}, nil
		},
	}
	if h.Order != nil {
		erased.order = func(event *Event) (string, error) {
			e, _, err := decode(event)
			if err != nil {
				return "", err
			}
			return h.Order(e), nil
		}
	}
	return r.addHandler(erased)
}

func (h *Handler[E]) validate() error {
	if err := checkIdentifier(h.Name); err != nil {
		return fmt.Errorf("name %w", err)
	}
	if len(h.Events) == 0 {
		return errors.New("events: is empty")
	}
	for _, pattern := range h.Events {
		if err := checkPattern(pattern); err != nil {
			return fmt.Errorf("events: %q: %w", pattern, err)
		}
	}
	if h.Func == nil {
		return errors.New("func: is nil")
	}
	if _, raw := any(*new(E)).(Event); !raw && h.Decode == nil {
		return errors.New("decode: is nil, which only a handler of restaq.Event may have")
	}
	if h.Attempts < 0 {
		return errors.New("attempts: must not be negative")
	}
	if h.Timeout < 0 {
		return errors.New("timeout: must not be negative")
	}
	if err := h.Backoff.validate(); err != nil {
		return fmt.Errorf("backoff: %w", err)
	}
	for _, old := range h.Was {
		if err := checkIdentifier(old); err != nil {
			return fmt.Errorf("was: %q %w", old, err)
		}
	}
	if len(h.Was) > 0 && h.Order != nil {
		return errors.New("was: an order holds among executions of one name: keep the handler's old name")
	}
	return nil
}

// stepPart is a bound step.
type stepPart struct {
	info   StepInfo
	tx     string // the type of the transaction that it takes; "" for none
	invoke func(ctx context.Context, inputs []byte) ([]byte, error)
}

func (s stepPart) register(r *registry) error { return r.addStep(&s) }

// registry holds what was registered. It is changed only before the first
// delivery, under the runtime's lock, and read freely afterwards.
type registry struct {
	handlers map[string]*handler // by name, and by the names that they had before
	names    []string            // of handlers, in order of registration
	claimed  []string            // names, and those that they had before
	steps    map[string]*stepPart
	graphs   graphs
}

// clone returns a copy that can be changed apart.
func (r *registry) clone() registry {
	return registry{
		handlers: maps.Clone(r.handlers), names: slices.Clone(r.names), claimed: slices.Clone(r.claimed), steps: maps.Clone(r.steps),
		graphs: r.graphs,
	}
}

// infos returns what a store remembers of the handlers. redact is
// Config.Redact.
func (r *registry) infos(redact []string) []HandlerInfo {
	infos := make([]HandlerInfo, len(r.names))
	for i, name := range r.names {
		h := r.handlers[name]
		infos[i] = HandlerInfo{Name: name, Events: h.events, HandlerDetail: h.detail}
		infos[i].Redact = redact
	}
	return infos
}

func (r *registry) addHandler(h *handler) error {
	for _, name := range append([]string{h.name}, h.detail.Was...) {
		if other, taken := r.handlers[name]; taken && other.name == name && h.name == name {
			return fmt.Errorf("handler %q is registered twice", name)
		} else if taken {
			return fmt.Errorf("handler %q: its name or a name that it had before, %q, is that of handler %q too", h.name, name, other.name)
		}
		r.handlers[name] = h
		r.claimed = append(r.claimed, name)
	}
	r.names = append(r.names, h.name)
	return nil
}

func (r *registry) addStep(s *stepPart) error {
	if _, taken := r.steps[s.info.Func]; taken {
		return fmt.Errorf("step %q: function %s is registered twice", s.info.Name, s.info.Func)
	}
	r.steps[s.info.Func] = s
	return nil
}

// describe notes the steps that were registered together with handlers.
func (r *registry) describe(handlers []string, parts []Part) {
	var steps []StepInfo
	for _, p := range parts {
		if s, ok := p.(stepPart); ok {
			steps = append(steps, s.info)
		}
	}
	for _, name := range handlers {
		r.handlers[name].detail.Steps = steps
	}
}

// subscribers returns the handlers of an event type, in order of registration.
func (r *registry) subscribers(eventType string) []*handler {
	var found []*handler
	for _, name := range r.names {
		if matchesAny(r.handlers[name].events, eventType) {
			found = append(found, r.handlers[name])
		}
	}
	return found
}
