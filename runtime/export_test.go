package restaq

import "runtime"

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
