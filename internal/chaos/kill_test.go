//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// crashes is how attempts may end where processes are killed.
var crashes = []restaq.AttemptOutcome{restaq.AttemptLost}

// A process dies before and after each of the store's calls between a delivery
// and its outcome. Another one finishes its work.
func TestKillAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"postgres", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			f := newFleet(t, kind)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			f.start(workerConfig{Name: "healthy", Concurrency: 4})
			s := newSendings()
			var sending sync.WaitGroup
			sending.Go(func() { f.load(ctx, s, 6, 40*time.Millisecond, 20) })
			var seen sightings
			sending.Go(func() { seen = f.watch(ctx, s) })

			var doomed []*process
			for _, method := range methods {
				for _, after := range []bool{false, true} {
					point := &failPoint{Method: method, After: after, Nth: 1 + rand.Int64N(3)}
					name := fmt.Sprintf("%s-%t", method, after)
					doomed = append(doomed, f.start(workerConfig{Name: name, Concurrency: 4, Lease: time.Second, Fail: point}))
				}
			}
			for _, p := range doomed {
				until(t, "worker dies "+p.cfg.Fail.String(), p.hasEnded)
			}
			stop()
			sending.Wait()
			f.settle()
			ev := f.verify(s, evidence{seen: seen, allowed: crashes})
			died := make(map[string]bool)
			for _, e := range ev.ledger {
				if e.What == dying {
					died[e.Worker] = true
				}
			}
			for _, p := range doomed {
				if !died[p.cfg.Name] {
					t.Errorf("worker %s ended, but not %s: %v\n%s", p.cfg.Name, p.cfg.Fail, p.cmd.ProcessState, p.lastLines())
				}
			}
			report(t, s, ev)
		})
	}
}

// report logs what a scenario went through.
func report(t *testing.T, s *sendings, ev *evidence) {
	t.Helper()
	outcomes := make(map[restaq.AttemptOutcome]int)
	steps := 0
	for _, h := range ev.histories {
		for _, a := range h.Attempts {
			outcomes[a.Outcome]++
		}
		steps += len(h.Steps)
	}
	sent, acked, failures := s.counts()
	t.Logf("%d events sent, %d acknowledged, %d deliveries failed; attempts %v, %d steps in history, %d lines in the ledger",
		sent, acked, failures, outcomes, steps, len(ev.ledger))
}

// Workers are killed and started again at random, while people restart, retry
// and cancel.
func TestKillAtRandom(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"postgres", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			f := newFleet(t, kind)
			for i := range 3 {
				f.start(workerConfig{Name: fmt.Sprint("worker-", i)})
			}
			ctx, stop := context.WithTimeout(t.Context(), span(t, 3*time.Second))
			defer stop()
			s := newSendings()
			var group sync.WaitGroup
			group.Go(func() { f.load(ctx, s, 4, 50*time.Millisecond, 5) })
			var seen sightings
			group.Go(func() { seen = f.watch(ctx, s) })
			var wishes evidence
			group.Go(func() { wishes = f.meddle(ctx, s) })
			kills := 0
			for ; pause(ctx, time.Duration(50+rand.N(400))*time.Millisecond) == nil; kills++ {
				victim := f.anyone()
				victim.kill()
				f.start(victim.cfg)
			}
			group.Wait()
			f.settle()
			wishes.seen, wishes.allowed = seen, crashes
			ev := f.verify(s, wishes)
			t.Logf("%d kills, %d restarts, %d cancellations", kills, len(wishes.restarted), len(wishes.cancelled))
			if kills == 0 {
				t.Error("no worker was killed")
			}
			report(t, s, ev)
		})
	}
}

// meddle restarts, retries and cancels executions at random until ctx ends,
// and says what was accepted.
func (f *fleet) meddle(ctx context.Context, s *sendings) evidence {
	did := evidence{cancelled: make(map[string]bool), restarted: make(map[string]bool)}
	for n := 0; pause(ctx, 30*time.Millisecond) == nil; n++ {
		id := s.acknowledged(10)
		if id == "" {
			continue
		}
		// A wish that is being made is made: whether it was taken must be known.
		wish, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		var err error
		switch n % 6 {
		case 0, 1, 2:
			if _, err = f.user.Restart(wish, id); err == nil {
				did.restarted[id] = true
			}
		case 3, 4:
			_, err = f.user.Retry(wish, id)
		case 5:
			if _, err = f.user.Cancel(wish, id); err == nil {
				did.cancelled[id] = true
			}
		}
		cancel()
		if err != nil && !errors.Is(err, restaq.ErrFinal) {
			f.t.Errorf("a person's wish: %v", err)
		}
	}
	return did
}
