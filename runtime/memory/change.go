package memory

import (
	"context"
	"fmt"
	"slices"

	restaq "github.com/restaq/restaq/runtime"
)

// Change moves an execution from one of c.From to c.To.
func (s *Store) Change(ctx context.Context, id string, c restaq.Change) (*restaq.Execution, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, fmt.Errorf("change execution: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.executions[id]
	if e == nil {
		return nil, false, fmt.Errorf("execution %s: %w", id, restaq.ErrNotFound)
	}
	if !slices.Contains(c.From, e.Status) {
		x := e.out()
		return &x, false, nil
	}
	running := e.Status == restaq.Running
	now := s.time()
	switch {
	case c.To == restaq.Pending && !running:
		e.wish = max(e.wish, c.Kind)
		e.setPending(now)
	case c.To == restaq.Running && running:
		e.wish = max(e.wish, c.Kind)
	case c.To == restaq.Cancelled:
		if running {
			e.close(restaq.AttemptCancelled, now)
		}
		e.setFinished(restaq.Cancelled, now)
	default:
		return nil, false, fmt.Errorf("change execution %s: no way from %s to %s", id, e.Status, c.To)
	}
	s.settle(e)
	x := e.out()
	return &x, true, nil
}
