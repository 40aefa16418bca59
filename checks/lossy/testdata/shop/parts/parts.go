// Package parts has types that other packages' steps use.
package parts

import "sync"

// Part has a cache that JSON does not see.
type Part struct {
	Name  string
	cache map[string]int
}

// Cached uses the cache.
func (p Part) Cached(name string) int { return p.cache[name] }

// Guarded has nothing to lose: a lock is no value.
type Guarded struct {
	mu   sync.Mutex
	_    [0]func()
	none struct{}

	Name string
}

// Lock locks g.
func (g *Guarded) Lock() { g.mu.Lock(); _ = g.none }
