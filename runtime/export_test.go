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
