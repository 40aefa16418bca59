package memory

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
)

// listener is one Listen under way. Notices that it cannot take at once are
// folded into the zero Notice.
type listener struct {
	notices chan restaq.Notice
	gap     chan struct{} // capacity 1
}

// Notify tells all that listen. It never waits for one.
func (s *Store) Notify(ctx context.Context, n restaq.Notice) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.listeners {
		select {
		case l.notices <- n:
		default:
			select {
			case l.gap <- struct{}{}:
			default:
			}
		}
	}
	return ctx.Err()
}

// Listen calls fn for each notice until ctx ends.
func (s *Store) Listen(ctx context.Context, fn func(n restaq.Notice)) {
	l := &listener{notices: make(chan restaq.Notice, 64), gap: make(chan struct{}, 1)}
	s.mu.Lock()
	s.listeners[l] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, l)
	}()
	for {
		select {
		case n := <-l.notices:
			fn(n)
		case <-l.gap:
			fn(restaq.Notice{})
		case <-ctx.Done():
			return
		}
	}
}
