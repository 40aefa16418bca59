package restaq

import (
	"context"
	"runtime"
	"time"
)

// WaitActive returns when Run takes work.
func (rt *Runtime) WaitActive() {
	for {
		rt.work.mu.Lock()
		active := rt.work.active
		rt.work.mu.Unlock()
		if active {
			return
		}
		runtime.Gosched()
	}
}

// Held returns how many executions the runtime holds in memory.
func (rt *Runtime) Held() int { return len(rt.running()) }

// WaitIdle returns when no slot is taken and no older work may wait: the next
// delivery begins its executions itself.
func (rt *Runtime) WaitIdle() {
	for {
		rt.work.mu.Lock()
		idle := rt.work.active && !rt.work.backlog && rt.work.free == rt.work.slots
		rt.work.mu.Unlock()
		if idle {
			return
		}
		runtime.Gosched()
	}
}

// Flush returns when all that there is to tell has been told.
func (rt *Runtime) Flush() { rt.notices.flush() }

// PruneOld deletes what Config.Retention does not keep, if it is this process's
// turn.
func (rt *Runtime) PruneOld(ctx context.Context) error { return rt.pruneOld(ctx) }

// CountRefusal counts a refused request.
func (rt *Runtime) CountRefusal(source, reason string) { rt.count(CountRefusal, source, reason, 0) }

// LatencyBucket returns the bucket of a duration.
func LatencyBucket(d time.Duration) int { return latencyBucket(d) }
