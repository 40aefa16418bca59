package memory

import (
	"context"
	"fmt"
	"time"
)

// Forget deletes events of a provider that have no execution.
func (s *Store) Forget(ctx context.Context, provider string, olderThan time.Duration, limit int) (n int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("forget events: %w", err)
	}
	if olderThan <= 0 {
		return 0, fmt.Errorf("forget events: age must be positive, got %v", olderThan)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cutoff := s.time().Add(-olderThan)
	for key, ev := range s.events {
		if n < limit && len(ev.executions) == 0 && ev.Provider == provider && !ev.ReceivedAt.After(cutoff) {
			delete(s.events, key)
			n++
		}
	}
	return n, nil
}

// turn is who has a name, and until when.
type turn struct {
	owner string
	until time.Time
}

// TakeTurn gives a name to an owner, unless another has it.
func (s *Store) TakeTurn(ctx context.Context, name, owner string, d time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("take turn %s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.time()
	if t := s.turns[name]; t.owner != owner && t.until.After(now) {
		return false, nil
	}
	s.turns[name] = turn{owner, now.Add(d)}
	return true, nil
}
