package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Lookup returns the stored event with the executions that are not replays.
func (s *Store) Lookup(ctx context.Context, source, eventID string, payload bool) (*restaq.StoredEvent, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("look up event: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ev := s.events[eventKey{source, eventID}]
	if ev == nil {
		return nil, fmt.Errorf("event %s of %s: %w", eventID, source, restaq.ErrNotFound)
	}
	found := &restaq.StoredEvent{Event: ev.out(payload)}
	for _, e := range ev.executions {
		if e.ReplayOf == "" {
			found.Executions = append(found.Executions, e.out())
		}
	}
	return found, nil
}

// Insert stores an event with its executions, or executions of a stored event.
func (s *Store) Insert(ctx context.Context, in *restaq.Insertion) (bool, []restaq.Execution, error) {
	if err := ctx.Err(); err != nil {
		return false, nil, fmt.Errorf("insert event: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.time()

	ev := s.events[eventKey{in.Source, in.EventID}]
	if in.Event != nil {
		key := eventKey{in.Event.Source, in.Event.ID}
		if s.events[key] != nil {
			return false, nil, nil
		}
		ev = s.newEvent(in.Event, now)
		s.events[key] = ev
	} else if ev == nil {
		return false, nil, fmt.Errorf("event %s of %s: %w", in.EventID, in.Source, restaq.ErrNotFound)
	} else if ev.Payload == nil && len(in.Executions) > 0 {
		return false, nil, fmt.Errorf("event %s of %s: %w", in.EventID, in.Source, restaq.ErrNoPayload)
	}

	var made []restaq.Execution
	for _, n := range in.Executions {
		if s.executions[n.ID] != nil || (n.ReplayOf == "" && ev.has(n.Handler)) {
			continue
		}
		e := s.newExecution(n, ev, now, in)
		ev.executions = append(ev.executions, e)
		ev.unhandled = false
		s.executions[e.ID] = e
		s.settle(e)
		made = append(made, e.out())
	}
	return in.Event != nil || len(made) > 0, made, nil
}

func (s *Store) newEvent(from *restaq.Event, now time.Time) *event {
	s.arrivals++
	ev := &event{Event: *from, arrival: s.arrivals, unhandled: true}
	ev.Payload, ev.Header = slices.Clone(from.Payload), cloneHeader(from.Header)
	ev.ReceivedAt = now
	return ev
}

// has reports whether the event has an execution of handler that is no replay.
func (e *event) has(handler string) bool {
	return slices.ContainsFunc(e.executions, func(x *execution) bool {
		return x.ReplayOf == "" && x.Handler == handler
	})
}

func (s *Store) newExecution(n restaq.NewExecution, ev *event, now time.Time, in *restaq.Insertion) *execution {
	s.arrivals++
	e := &execution{
		Execution: restaq.Execution{ID: n.ID, Handler: n.Handler, ReplayOf: n.ReplayOf, CreatedAt: now},
		event:     ev,
		orderKey:  n.OrderKey,
		place:     s.arrivals,
		index:     -1,
	}
	switch {
	case n.Error != "":
		e.setFinished(restaq.Failed, now)
		e.Error = n.Error
	case n.Begin:
		e.begin(now, in.Owner, in.Lease)
	default:
		e.setPending(now)
	}
	return e
}
