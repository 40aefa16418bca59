package restaq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// maxPayload is the largest payload that is stored, in bytes.
const maxPayload = 64 << 20

// unstoredHeaders never reach a store.
var unstoredHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"}

// Deliver stores an event with one execution for each handler that subscribes
// to its type. An event whose (source, id) is stored already is a duplicate:
// the receipt names the executions of the first delivery, and nothing new is
// made, however many deliveries arrive at once, in however many processes.
//
// When Deliver returns nil, the event is durable. On ErrInvalidEvent another
// delivery would not help; on any other error the event may or may not be
// stored, and delivering it again is safe. Deliver waits for no handler. If
// this process runs and has a free slot, the executions begin at once.
func (rt *Runtime) Deliver(ctx context.Context, event Event) (Receipt, error) {
	if err := event.validate(); err != nil {
		return Receipt{}, fmt.Errorf("deliver: %w: %w", ErrInvalidEvent, err)
	}
	if err := rt.seal(ctx); err != nil {
		return Receipt{}, fmt.Errorf("deliver: %w", err)
	}
	receipt, err := rt.deliverSeen(ctx, &event)
	rt.count(CountDelivery, event.Source, deliveryResult(&receipt, err), 0)
	if err != nil {
		return Receipt{}, fmt.Errorf("deliver event %s from %s: %w", event.ID, event.Source, err)
	}
	return receipt, nil
}

// deliverSeen is deliver under the eyes of the observer and the hook.
func (rt *Runtime) deliverSeen(ctx context.Context, event *Event) (Receipt, error) {
	if rt.unseen && rt.cfg.Hooks.Delivered == nil {
		return rt.deliver(ctx, event)
	}
	end := func(*Receipt, error) {}
	rt.call("observer", func() { ctx, end = rt.cfg.Observer.Delivery(ctx, event) })
	receipt, err := rt.deliver(ctx, event)
	rt.call("observer", func() { end(&receipt, err) })
	if rt.cfg.Hooks.Delivered != nil {
		rt.call("hook", func() { rt.cfg.Hooks.Delivered(ctx, event, &receipt, err) })
	}
	return receipt, err
}

// deliveryResult is what a delivery counts as.
func deliveryResult(r *Receipt, err error) string {
	switch {
	case err != nil:
		return "failed"
	case r.Duplicate:
		return "duplicate"
	case len(r.Executions) == 0:
		return "unhandled"
	}
	return "accepted"
}

// deliver looks the event up and, if it is new, inserts it. The insert decides
// a race; whoever loses it looks up again.
func (rt *Runtime) deliver(ctx context.Context, event *Event) (Receipt, error) {
	prepared := false
	for {
		stored, err := rt.store.Lookup(ctx, event.Source, event.ID, false)
		if err == nil {
			return Receipt{Duplicate: true, Executions: stored.Executions}, nil
		}
		if !errors.Is(err, ErrNotFound) {
			return Receipt{}, err
		}
		if !prepared {
			prepared = true
			event.Header = storedHeader(event.Header)
			if event.Payload == nil {
				event.Payload = []byte{}
			}
		}
		handlers := rt.registry.subscribers(event.Type)
		if len(handlers) == 0 {
			switch rt.cfg.Unhandled {
			case DropUnhandled:
				return Receipt{}, nil
			case KeepUnhandledWithoutPayload:
				event.Payload, event.Header = nil, nil
			}
		}
		created, executions, err := rt.insert(ctx, event, handlers)
		if err != nil {
			return Receipt{}, err
		}
		if created {
			return Receipt{Executions: executions}, nil
		}
	}
}

// insert stores a new event with its executions, and begins those that find a
// free slot. If the answer is lost, the claim loop finds out what has begun.
func (rt *Runtime) insert(ctx context.Context, event *Event, handlers []*handler) (bool, []Execution, error) {
	in := &Insertion{Event: event, Owner: rt.owner, Lease: rt.cfg.Lease, Executions: make([]NewExecution, len(handlers))}
	for i, h := range handlers {
		in.Executions[i] = rt.newExecution(h, event)
	}
	slots := rt.work.reserve(in.Executions)
	if slots > 0 { // attempts read it after the caller has it back
		event.Payload = bytes.Clone(event.Payload)
	}
	sent := rt.instant()
	created, executions, err := rt.store.Insert(ctx, in)
	switch {
	case err == nil:
	case slots > 0:
		rt.work.doubt(rt.cfg.Lease)
	default:
		rt.work.hear() // they may be pending
	}
	if err != nil || !created {
		rt.work.release(in.Executions)
		return false, nil, err
	}
	for i := range executions {
		e := &executions[i]
		switch {
		case e.Status == Running:
			event.ReceivedAt = e.Event.ReceivedAt
			rt.begin(e.Handler, firstLease(e.ID), Automatic, event, sent)
		case e.Status == Pending:
			rt.pend(e.Handler)
		default:
			rt.cfg.Logger.Error("restaq: execution failed and waits for a person", "execution", e.ID, "handler", e.Handler,
				"error", firstLine(e.Error, 200), "retry", "restaq retry "+e.ID)
			rt.dead(ctx, e)
		}
	}
	return true, executions, nil
}

// dead tells the program of an execution that waits for a person.
func (rt *Runtime) dead(ctx context.Context, e *Execution) {
	if rt.cfg.Hooks.Dead != nil {
		rt.call("hook", func() { rt.cfg.Hooks.Dead(ctx, e) })
	}
}

// firstLease is that of an execution that its insert began.
func firstLease(id string) Lease { return Lease{Execution: id, Attempt: 1, Token: 1} }

// newExecution describes a handler's execution for an event. An order key that
// cannot be computed makes it a dead one: the event is stored all the same.
func (rt *Runtime) newExecution(h *handler, event *Event) NewExecution {
	e := NewExecution{ID: rt.newID(), Handler: h.name}
	if h.order == nil {
		return e
	}
	err := guard(func() error {
		key, err := h.order(event)
		if err == nil && key != "" {
			e.OrderKey = (&StepCall{Name: "order", Key: func() string { return key }}).RecordName()
		}
		return err
	})
	if err != nil {
		e.Error = storable("order key: " + errorText(err))
	}
	return e
}

// storedHeader returns a copy of h without what must not be stored, with
// storable text.
func storedHeader(h http.Header) http.Header {
	if len(h) == 0 {
		return nil
	}
	kept := make(http.Header, len(h))
	for name, values := range h {
		if slices.Contains(unstoredHeaders, http.CanonicalHeaderKey(name)) {
			continue
		}
		copied := make([]string, len(values))
		for i, v := range values {
			copied[i] = storable(v)
		}
		kept[storable(name)] = copied
	}
	return kept
}
