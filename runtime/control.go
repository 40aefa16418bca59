package restaq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Retry asks for the execution's next attempt now, with a fresh budget of
// attempts. Completed steps are skipped; the permanent step failure that ended
// the execution, if one did, is run anew. An attempt under way is joined. On a
// completed execution it changes nothing; on a cancelled one it returns
// ErrFinal.
//
// An execution with an order key begins when no other one of its key runs, and
// before those that were stored after it.
//
// If this process runs the handler, Retry returns the execution when the
// attempt has ended, else as soon as the wish is recorded. The end of ctx ends
// the waiting only.
func (rt *Runtime) Retry(ctx context.Context, id string) (Execution, error) {
	e, attempt, err := rt.askRetry(ctx, id)
	if err != nil || attempt == 0 {
		return e, err
	}
	return rt.afterAttempt(ctx, e, attempt)
}

// askRetry records the wish and returns the number of the attempt that fulfils
// it, 0 if there is nothing to do.
func (rt *Runtime) askRetry(ctx context.Context, id string) (e Execution, attempt int, err error) {
	if err := rt.audit(ctx, string(ActionRetry), id, ""); err != nil {
		return e, 0, fmt.Errorf("retry execution %s: %w", id, err)
	}
	e, changed, err := rt.change(ctx, id, Change{From: []Status{Pending, Failed, Sleeping}, To: Pending, Kind: Retried})
	switch {
	case err != nil:
		return e, 0, fmt.Errorf("retry execution %s: %w", id, err)
	case changed:
		return e, e.Attempts + 1, nil
	case e.Status == Running:
		return e, e.Attempts, nil
	case e.Status == Cancelled:
		return e, 0, fmt.Errorf("retry execution %s: it is cancelled: %w", id, ErrFinal)
	}
	return e, 0, nil
}

// Restart asks for the execution's next attempt with every step run again,
// even those that completed, and a fresh budget of attempts. An attempt under
// way ends first; restarts that are asked for meanwhile are one. Completed and
// dead executions are reopened; on a cancelled one it returns ErrFinal.
// Waiting is as for Retry.
func (rt *Runtime) Restart(ctx context.Context, id string) (Execution, error) {
	e, err := rt.askRestart(ctx, id)
	if err != nil {
		return e, err
	}
	return rt.afterAttempt(ctx, e, e.Attempts+1)
}

// askRestart records the wish, which the next attempt fulfils.
func (rt *Runtime) askRestart(ctx context.Context, id string) (Execution, error) {
	if err := rt.audit(ctx, string(ActionRestart), id, ""); err != nil {
		return Execution{}, fmt.Errorf("restart execution %s: %w", id, err)
	}
	for {
		e, changed, err := rt.change(ctx, id, Change{From: []Status{Pending, Failed, Completed, Sleeping}, To: Pending, Kind: Restarted})
		if err == nil && !changed && e.Status == Running {
			e, changed, err = rt.change(ctx, id, Change{From: []Status{Running}, To: Running, Kind: Restarted})
		}
		switch {
		case err != nil:
			return e, fmt.Errorf("restart execution %s: %w", id, err)
		case changed:
			return e, nil
		case e.Status == Cancelled:
			return e, fmt.Errorf("restart execution %s: it is cancelled: %w", id, ErrFinal)
		}
		// It stopped running between the two changes: once more.
	}
}

// Cancel ends the execution for good: no attempt begins or goes on, and what
// an attempt under way would still write is refused. Its context is cancelled
// at once in this process, and with its next write or renewal in another. Its
// order key is free at once. Cancelling a cancelled execution again is no error;
// a completed one returns ErrFinal.
func (rt *Runtime) Cancel(ctx context.Context, id string) (Execution, error) {
	if err := rt.audit(ctx, string(ActionCancel), id, ""); err != nil {
		return Execution{}, fmt.Errorf("cancel execution %s: %w", id, err)
	}
	e, changed, err := rt.change(ctx, id, Change{From: []Status{Pending, Running, Sleeping, Failed}, To: Cancelled})
	if err != nil {
		return e, fmt.Errorf("cancel execution %s: %w", id, err)
	}
	if !changed && e.Status != Cancelled {
		return e, fmt.Errorf("cancel execution %s: it is %s: %w", id, e.Status, ErrFinal)
	}
	if !rt.cutCancelled(id) && changed {
		rt.tell(func(n *notices) { n.cancelled = append(n.cancelled, id) })
	}
	if changed && rt.mayOrder(e.Handler) {
		rt.pend(e.Handler) // the next one of its order key
	}
	return e, nil
}

// Replay makes a new execution of the same stored event for the same handler,
// and returns it without waiting. The old one's history is not touched. Under
// an order key its place is behind all that were stored before. It returns
// ErrNoPayload if the event's payload was not kept.
func (rt *Runtime) Replay(ctx context.Context, id string) (Execution, error) {
	err := rt.audit(ctx, string(ActionReplay), id, "")
	var e Execution
	if err == nil {
		e, err = rt.replay(ctx, id)
	}
	if err != nil {
		return Execution{}, fmt.Errorf("replay execution %s: %w", id, err)
	}
	rt.pend(e.Handler)
	return e, nil
}

func (rt *Runtime) replay(ctx context.Context, id string) (Execution, error) {
	if err := checkIdentifier(id); err != nil {
		return Execution{}, ErrNotFound
	}
	h, err := rt.store.History(ctx, id)
	if err != nil {
		return Execution{}, err
	}
	if h.Event.Payload == nil {
		return Execution{}, ErrNoPayload
	}
	handler := h.Execution.Handler
	rt.mu.Lock()
	if now := rt.registry.handlers[handler]; now != nil {
		handler = now.name // it may have been renamed
	}
	rt.mu.Unlock()
	_, executions, err := rt.store.Insert(ctx, &Insertion{
		Source: h.Event.Source, EventID: h.Event.ID,
		Executions: []NewExecution{{ID: rt.newID(), Handler: handler, OrderKey: h.OrderKey, ReplayOf: id}},
	})
	if err != nil {
		return Execution{}, err
	}
	if len(executions) != 1 {
		return Execution{}, fmt.Errorf("store made %d executions, want 1", len(executions))
	}
	return executions[0], nil
}

// ReplayEvent makes the executions of the handlers that have none for a stored
// event, such as a handler that was added later, and returns them without
// waiting. The handlers are those registered here and those that other
// processes have told the store of; the latter's executions take no place in
// an order. It returns ErrNoPayload if the event's payload was not kept.
func (rt *Runtime) ReplayEvent(ctx context.Context, source, eventID string) ([]Execution, error) {
	err := rt.audit(ctx, "replay-event", "", source+" "+eventID)
	var executions []Execution
	if err == nil {
		executions, err = rt.replayEvent(ctx, source, eventID)
	}
	if err != nil {
		return nil, fmt.Errorf("replay event %s from %s: %w", eventID, source, err)
	}
	for i := range executions {
		rt.pend(executions[i].Handler)
	}
	return executions, nil
}

func (rt *Runtime) replayEvent(ctx context.Context, source, eventID string) ([]Execution, error) {
	if checkIdentifier(source) != nil || checkIdentifier(eventID) != nil {
		return nil, ErrNotFound
	}
	stored, err := rt.store.Lookup(ctx, source, eventID, true)
	if err != nil {
		return nil, err
	}
	if stored.Event.sealed != nil {
		return nil, stored.Event.sealed
	}
	if stored.Event.Payload == nil {
		return nil, ErrNoPayload
	}
	have := make(map[string]bool)
	for i := range stored.Executions {
		have[stored.Executions[i].Handler] = true
	}
	covered := func(name string, was []string) bool {
		return have[name] || slices.ContainsFunc(was, func(old string) bool { return have[old] })
	}
	in := &Insertion{Source: source, EventID: eventID}
	rt.mu.Lock()
	local := rt.registry.subscribers(stored.Event.Type)
	rt.mu.Unlock()
	for _, h := range local {
		if !covered(h.name, h.detail.Was) {
			have[h.name] = true
			in.Executions = append(in.Executions, rt.newExecution(h, &stored.Event))
		}
	}
	if dir, ok := rt.raw.(Directory); ok {
		infos, err := dir.Handlers(ctx)
		if err != nil {
			return nil, err
		}
		renamed := make(map[string]bool)
		for _, info := range infos {
			for _, old := range info.Was {
				renamed[old] = true
			}
		}
		for _, info := range infos {
			if !renamed[info.Name] && !covered(info.Name, info.Was) && !rt.has(info.Name) && matchesAny(info.Events, stored.Event.Type) {
				in.Executions = append(in.Executions, NewExecution{ID: rt.newID(), Handler: info.Name})
			}
		}
	}
	if len(in.Executions) == 0 {
		return nil, nil
	}
	_, executions, err := rt.store.Insert(ctx, in)
	return executions, err
}

// Wait returns the execution when it is completed, cancelled or dead. The end
// of ctx ends the waiting only.
func (rt *Runtime) Wait(ctx context.Context, id string) (Execution, error) {
	e, err := rt.await(ctx, id, func(e *Execution) bool { return e.Final() })
	if err != nil {
		return e, fmt.Errorf("wait for execution %s: %w", id, err)
	}
	return e, nil
}

// change changes an execution, and lets the claim loop know.
func (rt *Runtime) change(ctx context.Context, id string, c Change) (Execution, bool, error) {
	if err := checkIdentifier(id); err != nil {
		return Execution{}, false, ErrNotFound
	}
	e, changed, err := rt.store.Change(ctx, id, c)
	if err != nil {
		return Execution{}, false, err
	}
	if changed && c.To == Pending {
		rt.leftOut.drop(id)
		rt.pend(e.Handler)
	}
	return *e, changed, nil
}

// afterAttempt returns the execution when attempt n has ended, if this process
// runs its handler; else as it is.
func (rt *Runtime) afterAttempt(ctx context.Context, e Execution, n int) (Execution, error) {
	rt.work.mu.Lock()
	active := rt.work.active
	rt.work.mu.Unlock()
	if !active || !rt.has(e.Handler) {
		return e, nil
	}
	last, err := rt.await(ctx, e.ID, func(e *Execution) bool {
		// A final one may have fewer attempts: one that never ran does not count.
		return e.Final() || e.Attempts > n || e.Attempts == n && e.Status != Running
	})
	if err != nil {
		return last, fmt.Errorf("wait for attempt %d of execution %s: %w", n, e.ID, err)
	}
	return last, nil
}

// await returns the execution when done says so. It looks when an attempt of
// the execution ends in this process, and every Config.Poll.
func (rt *Runtime) await(ctx context.Context, id string, done func(*Execution) bool) (Execution, error) {
	if checkIdentifier(id) != nil {
		return Execution{}, ErrNotFound
	}
	var last Execution
	for {
		ended, drop := rt.work.await(id)
		e, _, err := rt.store.Change(ctx, id, Change{})
		switch {
		case err == nil:
			last = *e
		case ctx.Err() != nil:
			drop()
			return last, ctx.Err()
		default:
			drop()
			return last, err
		}
		if done(e) {
			drop()
			return last, nil
		}
		poll := time.NewTimer(rt.cfg.Poll)
		select {
		case <-ended:
		case <-poll.C:
		case <-ctx.Done():
			err = ctx.Err()
		}
		poll.Stop()
		drop()
		if err != nil {
			return last, err
		}
	}
}

// List returns a page of executions, newest first.
func (rt *Runtime) List(ctx context.Context, f Filter) (Page, error) {
	l, ok := rt.raw.(Lister)
	if !ok {
		return Page{}, fmt.Errorf("list executions: %w", ErrUnsupported)
	}
	if err := f.normalize(); err != nil {
		return Page{}, fmt.Errorf("list executions: %w", err)
	}
	page, err := l.List(ctx, f)
	if err != nil {
		return Page{}, fmt.Errorf("list executions: %w", err)
	}
	return page, nil
}

// Prune deletes finished executions, oldest first, with their histories, and
// the payloads of events that have no execution left. One call deletes at most
// p.Limit; call it again until it deletes none.
func (rt *Runtime) Prune(ctx context.Context, p Prune) (Pruned, error) {
	pruner, ok := rt.raw.(Pruner)
	if !ok {
		return Pruned{}, fmt.Errorf("prune: %w", ErrUnsupported)
	}
	if err := p.normalize(); err != nil {
		return Pruned{}, fmt.Errorf("prune: %w", err)
	}
	if err := rt.audit(ctx, "prune", "", fmt.Sprintf("%s older than %v", strings.Join(p.Statuses, ","), p.OlderThan)); err != nil {
		return Pruned{}, fmt.Errorf("prune: %w", err)
	}
	pruned, err := pruner.Prune(ctx, p)
	if err != nil {
		return pruned, fmt.Errorf("prune: %w", err)
	}
	return pruned, nil
}

// normalize fills in the filter's defaults and refuses what no store can
// answer.
func (f *Filter) normalize() error {
	switch {
	case f.Limit < 0 || f.Limit > 1000:
		return fmt.Errorf("limit %d: want 1 to 1000", f.Limit)
	case f.Limit == 0:
		f.Limit = 50
	}
	for _, s := range f.Statuses {
		switch s {
		case string(Pending), string(Running), string(Sleeping), string(Completed), string(Failed), string(Cancelled), "dead", "retrying":
		default:
			return fmt.Errorf("status %q: want pending, running, sleeping, completed, failed, cancelled, dead or retrying", s)
		}
	}
	if f.Text != "" && f.Unhandled {
		return errors.New("text: events without executions have no error")
	}
	switch f.StoppedBy {
	case "", StoppedByAttempts, StoppedByPermanent, StoppedBySchema, StoppedByKey, StoppedByChangedInput:
	default:
		return fmt.Errorf("stopped by %q: want schema, key, changed-input, permanent or attempts", f.StoppedBy)
	}
	if f.EventType == "*" {
		f.EventType = ""
	}
	if f.EventType != "" {
		if err := checkPattern(f.EventType); err != nil {
			return fmt.Errorf("event type %q: %w", f.EventType, err)
		}
	}
	return nil
}

// String returns the fields that restrict, for a person: "handler=a status=dead".
func (f *Filter) String() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			add(name, t.UTC().Format(time.RFC3339))
		}
	}
	add("status", strings.Join(f.Statuses, ","))
	add("handler", f.Handler)
	add("type", f.EventType)
	add("provider", f.Provider)
	add("source", f.Source)
	add("event", f.EventID)
	add("text", f.Text)
	add("stopped-by", string(f.StoppedBy))
	at("since", f.Since)
	at("until", f.Until)
	if f.Unhandled {
		add("unhandled", "true")
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, " ")
}

func (p *Prune) normalize() error {
	switch {
	case p.OlderThan <= 0:
		return errors.New("older than: must be positive")
	case p.Limit < 0:
		return errors.New("limit: must not be negative")
	case p.Limit == 0:
		p.Limit = 1000
	}
	if len(p.Statuses) == 0 {
		p.Statuses = []string{string(Completed), string(Cancelled), "dead"}
	}
	for _, s := range p.Statuses {
		if s != string(Completed) && s != string(Cancelled) && s != "dead" {
			return fmt.Errorf("status %q: want completed, cancelled or dead", s)
		}
	}
	return nil
}
