//go:build linux

package chaos

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// A worker is stopped in the middle of a step for longer than its lease. The
// other one takes over and finishes. When the first wakes up, the result that
// it comes with is refused, and it starts no further step.
func TestStoppedWorkerIsRefusedWhenItWakesUp(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"postgres", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			f := newFleet(t, kind)
			s := newSendings()
			sleeper := f.start(workerConfig{Name: "sleeper", Lease: time.Second})
			o := order{ID: "evt_held", Hold: "sleeper", Gate: filepath.Join(f.dir, "gate")}
			f.deliver(t.Context(), s, o)
			f.saw("the sleeper's step began", func(e *entry) bool { return e.What == began && e.Step == "charge" })
			f.stop(sleeper)
			f.start(workerConfig{Name: "waker", Lease: time.Second})
			f.settle()
			if err := os.WriteFile(o.Gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			sleeper.signal(syscall.SIGCONT)
			no := f.saw("the sleeper is refused", func(e *entry) bool { return e.What == refused && e.Worker == "sleeper" })
			if no.Attempt != 1 || no.Step != "charge" || no.Text != restaq.ErrLeaseLost.Error() {
				t.Errorf("refused: %+v, want step charge of attempt 1 with %q", no, restaq.ErrLeaseLost)
			}
			ev := f.verify(s, evidence{allowed: crashes})
			for _, e := range ev.ledger {
				if e.Worker == "sleeper" && (e.Attempt > 1 || e.Step == "ship" || e.Step == "notify") {
					t.Errorf("the sleeper went on: %+v", e)
				}
				if e.What == recorded && e.Step == "charge" && e.Worker != "waker" {
					t.Errorf("recorded for the sleeper: %+v", e)
				}
			}
			h := onlyHistory(t, ev)
			if len(h.Attempts) != 2 || h.Attempts[0].Outcome != restaq.AttemptLost {
				t.Errorf("attempts %+v, want a lost one and a completed one", h.Attempts)
			}
		})
	}
}

// A worker is stopped in a step's transaction on an SQLite file, which is the
// only one that can write then. Deliveries are refused for now, until somebody
// ends the stopped process; then all goes on at once.
func TestStoppedWriterOfAFileIsInEverybodysWay(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "sqlite")
	s := newSendings()
	writer := f.start(workerConfig{Name: "writer", Lease: time.Minute})
	f.deliver(t.Context(), s, order{ID: "evt_held", Hold: "writer", HoldIn: booking, Gate: filepath.Join(f.dir, "gate")})
	const limit = 500 * time.Millisecond
	other := f.start(workerConfig{Name: "other", ReceiveOnly: true, Deliver: limit})
	f.saw("the transaction has written", func(e *entry) bool { return e.What == began && e.Step == booking })
	until(t, "stopped while it writes", func() bool {
		writer.signal(syscall.SIGSTOP)
		if !f.writable() {
			return true
		}
		writer.signal(syscall.SIGCONT)
		return false
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	start := time.Now()
	a, err := post(ctx, other, order{ID: "evt_new"})
	if err == nil || a == nil || a.status != http.StatusServiceUnavailable || a.again == "" {
		t.Errorf("a delivery meanwhile was answered %+v, %v; want 503 with Retry-After", a, err)
	}
	if took := time.Since(start); took > limit+5*time.Second {
		t.Errorf("the answer took %v, want %v", took, limit)
	}
	writer.kill()
	f.deliver(ctx, s, order{ID: "evt_new"})
	f.start(workerConfig{Name: "third"})
	f.settle()
	f.verify(s, evidence{allowed: crashes})
	if took := time.Since(start); took > 50*time.Second {
		t.Errorf("all was done after %v, want without waiting for a lease of a minute", took)
	}
}

// stop stops a worker, but not while it writes to an SQLite file: its lock
// would keep everybody out for as long as it is stopped.
func (f *fleet) stop(p *process) {
	f.t.Helper()
	until(f.t, "stopped while it does not write", func() bool {
		p.signal(syscall.SIGSTOP)
		if f.kind != "sqlite" || f.writable() {
			return true
		}
		p.signal(syscall.SIGCONT)
		return false
	})
}

// writable reports whether nobody holds the lock of an SQLite file for long.
func (f *fleet) writable() bool {
	f.t.Helper()
	db, err := sql.Open("sqlite", "file:"+f.target+"?_pragma=busy_timeout(1000)&_txlock=immediate")
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(f.t.Context(), nil)
	if err != nil {
		return false // busy
	}
	return tx.Rollback() == nil
}

// onlyHistory returns the history of the only execution.
func onlyHistory(t *testing.T, ev *evidence) *restaq.StoredExecution {
	t.Helper()
	for _, h := range ev.histories {
		if len(ev.histories) == 1 {
			return h
		}
	}
	t.Fatalf("%d executions, want 1", len(ev.histories))
	return nil
}

// Workers are stopped at random, for longer than their leases, and go on.
func TestWorkersStopAtRandom(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "postgres")
	stops := 0
	f.underLoad(4*time.Second, crashes, func(cfg *workerConfig) { cfg.Lease = 500 * time.Millisecond }, func(ctx context.Context) {
		var waking sync.WaitGroup
		defer waking.Wait()
		for ; pause(ctx, time.Duration(100+rand.N(400))*time.Millisecond) == nil; stops++ {
			p := f.anyone()
			p.signal(syscall.SIGSTOP)
			waking.Go(func() {
				_ = pause(ctx, time.Duration(400+rand.N(800))*time.Millisecond)
				p.signal(syscall.SIGCONT)
			})
		}
	})
	t.Logf("%d stops", stops)
	if stops == 0 {
		t.Error("no worker was stopped")
	}
}
