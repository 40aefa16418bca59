package memory

import (
	"context"
	"fmt"
	"slices"

	restaq "github.com/restaq/restaq/runtime"
)

// Prune deletes finished executions, longest finished first.
func (s *Store) Prune(ctx context.Context, p restaq.Prune) (restaq.Pruned, error) {
	if err := ctx.Err(); err != nil {
		return restaq.Pruned{}, fmt.Errorf("prune executions: %w", err)
	}
	if p.OlderThan <= 0 {
		return restaq.Pruned{}, fmt.Errorf("prune executions: OlderThan must be positive, got %v", p.OlderThan)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cutoff := s.time().Add(-p.OlderThan)

	var old []*execution
	for _, e := range s.executions {
		// Finished executions are completed, cancelled or dead, and no others.
		if !e.FinishedAt.IsZero() && !e.FinishedAt.After(cutoff) && matchStatus(p.Statuses, &e.Execution) {
			old = append(old, e)
		}
	}
	slices.SortFunc(old, func(a, b *execution) int { return a.FinishedAt.Compare(b.FinishedAt) })
	limit := p.Limit
	if limit <= 0 {
		limit = 1000
	}
	var done restaq.Pruned
	for _, e := range old[:min(limit, len(old))] {
		delete(s.executions, e.ID)
		s.settle(e)
		done.Executions++
		ev := e.event
		ev.executions = slices.DeleteFunc(ev.executions, func(x *execution) bool { return x == e })
		if len(ev.executions) == 0 && (ev.Payload != nil || ev.Header != nil) {
			ev.Payload, ev.Header = nil, nil
			done.Payloads++
		}
	}
	return done, nil
}
