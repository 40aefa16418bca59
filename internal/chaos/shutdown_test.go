//go:build linux

package chaos

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// A worker is asked to end in the middle of a step, with little patience. That
// uses no attempt, of which there is one only, and another worker goes on at
// once: long before the lease would have run out.
func TestTerminatedWorkerGivesItsWorkBack(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"postgres", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			f := newFleet(t, kind)
			s := newSendings()
			one := workerConfig{Attempts: 1, Lease: 10 * time.Minute, Shutdown: 200 * time.Millisecond}
			one.Name = "leaving"
			leaving := f.start(one)
			// The gate never opens: only the end of the context ends the step.
			f.deliver(t.Context(), s, order{ID: "evt_held", Hold: "leaving", Gate: filepath.Join(f.dir, "gate")})
			f.saw("the step began", func(e *entry) bool { return e.What == began && e.Step == "charge" })
			one.Name = "staying"
			f.start(one)
			leaving.signal(syscall.SIGTERM)
			until(t, "worker ends", leaving.hasEnded)
			if !leaving.cmd.ProcessState.Success() {
				t.Errorf("worker ended with %v\n%s", leaving.cmd.ProcessState, leaving.lastLines())
			}
			f.saw("Run returned nil", func(e *entry) bool { return e.What == drained && e.Worker == "leaving" })
			f.settle()
			ev := f.verify(s, evidence{allowed: []restaq.AttemptOutcome{restaq.AttemptInterrupted}})
			h := onlyHistory(t, ev)
			if len(h.Attempts) != 2 || h.Attempts[0].Outcome != restaq.AttemptInterrupted {
				t.Errorf("attempts %+v, want an interrupted one and a completed one", h.Attempts)
			}
			if gap := h.Attempts[1].StartedAt.Sub(h.Attempts[0].EndedAt); gap > time.Minute {
				t.Errorf("picked up after %v", gap)
			}
		})
	}
}

// Workers come and go under load, each asked to end. One that starts leaves
// alone what others have begun, and one that ends gives back what it has: no
// attempt is lost.
func TestWorkersComeAndGo(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"postgres", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			f := newFleet(t, kind)
			turns := 0
			f.underLoad(2*time.Second, []restaq.AttemptOutcome{restaq.AttemptInterrupted}, func(cfg *workerConfig) {
				cfg.Lease, cfg.Shutdown = time.Minute, time.Duration(1+rand.N(50))*time.Millisecond
			}, func(ctx context.Context) {
				for ; pause(ctx, time.Duration(rand.N(200))*time.Millisecond) == nil; turns++ {
					leaving := f.anyone()
					leaving.signal(syscall.SIGTERM)
					until(t, "worker ends", leaving.hasEnded)
					f.start(leaving.cfg)
				}
			})
			t.Logf("%d came and went", turns)
			if turns == 0 {
				t.Error("none came")
			}
		})
	}
}
