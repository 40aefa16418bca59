package restaq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
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
	receipt, err := rt.deliver(ctx, &event)
	if err != nil {
		return Receipt{}, fmt.Errorf("deliver event %s from %s: %w", event.ID, event.Source, err)
	}
	return receipt, nil
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
// free slot.
func (rt *Runtime) insert(ctx context.Context, event *Event, handlers []*handler) (bool, []Execution, error) {
	in := &Insertion{Event: event, Owner: rt.owner, Lease: rt.cfg.Lease, Executions: make([]NewExecution, 0, len(handlers))}
	ordered := 0
	for _, h := range handlers {
		e := rt.newExecution(h, event)
		if e.OrderKey != "" || e.Error != "" {
			ordered++
		}
		in.Executions = append(in.Executions, e)
	}
	slots := rt.work.reserve(len(handlers) - ordered)
	if slots > 0 { // attempts read it after the caller has it back
		event.Payload = bytes.Clone(event.Payload)
	}
	begun := 0
	for i := range in.Executions {
		if e := &in.Executions[i]; begun < slots && e.OrderKey == "" && e.Error == "" {
			e.Begin = true
			begun++
		}
	}
	sent := time.Now()
	created, executions, err := rt.store.Insert(ctx, in)
	if err != nil && slots > 0 {
		go rt.adopt(*event, in.Executions, slots, sent)
		return false, nil, err
	}
	if err != nil || !created {
		rt.work.release(slots)
		return false, nil, err
	}
	for i := range executions {
		e := &executions[i]
		switch {
		case e.Status == Running:
			event.ReceivedAt = e.Event.ReceivedAt
			rt.begin(e.Handler, firstLease(e), Automatic, event, sent)
		case e.Status == Pending:
			rt.pend(e.Handler)
		default:
			rt.cfg.Logger.Error("restaq: execution failed and waits for a person", "execution", e.ID, "handler", e.Handler,
				"error", firstLine(e.Error, 200), "retry", "restaq retry "+e.ID)
		}
	}
	return true, executions, nil
}

// firstLease is the lease of an execution that its insert began.
func firstLease(e *Execution) Lease { return Lease{Execution: e.ID, Attempt: 1, Token: 1} }

// adopt finds out whether an insert that failed was committed all the same. If
// so, its executions are leased to this process and nobody else begins them.
func (rt *Runtime) adopt(event Event, wanted []NewExecution, slots int, sent time.Time) {
	unused := slots
	defer func() { rt.work.release(unused) }()
	for n := 1; time.Since(sent) < rt.cfg.Lease; n++ {
		ctx, cancel := context.WithTimeout(rt.work.base, rt.cfg.Lease)
		stored, err := rt.store.Lookup(ctx, event.Source, event.ID, false)
		cancel()
		switch {
		case err == nil:
			event.ReceivedAt = stored.Event.ReceivedAt
			for i := range stored.Executions {
				e := &stored.Executions[i]
				own := func(w NewExecution) bool { return w.Begin && w.ID == e.ID }
				if e.Status == Running && e.Attempts == 1 && slices.ContainsFunc(wanted, own) {
					unused--
					rt.begin(e.Handler, firstLease(e), Automatic, &event, sent)
				}
			}
			return
		case errors.Is(err, ErrNotFound):
			return
		}
		wait := time.NewTimer(Backoff{50 * time.Millisecond, 5 * time.Second}.Delay(n))
		select {
		case <-wait.C:
		case <-rt.work.base.Done():
			wait.Stop()
			return
		}
	}
}

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
