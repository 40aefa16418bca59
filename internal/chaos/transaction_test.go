//go:build linux

package chaos

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

// pooledURL is an empty database behind PgBouncer in transaction mode.
func pooledURL(t *testing.T) string {
	t.Helper()
	return pgtest.Pooled(t, pgtest.URL(t)) + "&default_query_exec_mode=exec"
}

// A worker stops, or its network falls silent, when a step's transaction has
// locked its execution and is about to commit. The server ends the transaction
// before the lease runs out, so that another worker takes over as soon as it
// has.
func TestSilenceBeforeACommitHoldsNothingUp(t *testing.T) {
	t.Parallel()
	for _, database := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"postgres", func(t *testing.T) string { return pgtest.URL(t) }},
		{"pgbouncer", pooledURL},
	} {
		for _, silence := range []string{"stopped", "cut off"} {
			t.Run(database.name+" "+silence, func(t *testing.T) {
				t.Parallel()
				f := newFleetOn(t, "postgres", database.url(t))
				p := newProxy(t, f.target, sometimes(1, none))
				const lease, poll = 4 * time.Second, 100 * time.Millisecond
				silent := f.start(workerConfig{Name: "silent", Target: p.url, Lease: lease, Poll: poll})
				locked := make(chan time.Time, 1)
				fall := func() {
					if silence == "stopped" {
						silent.signal(syscall.SIGSTOP)
					} else {
						p.silent.Store(true)
					}
					locked <- time.Now()
				}
				p.commit.Store(&fall)
				s := newSendings()
				f.deliver(t.Context(), s, order{ID: "evt_locked"})
				start := <-locked
				f.start(workerConfig{Name: "other", Lease: lease, Poll: poll})
				f.settle()
				p.silent.Store(false)
				silent.signal(syscall.SIGCONT)
				f.saw("the silent worker is refused", func(e *entry) bool { return e.What == refused && e.Worker == "silent" })
				ev := f.verify(s, evidence{allowed: crashes})
				h := onlyHistory(t, ev)
				if len(h.Attempts) != 2 || h.Attempts[0].Outcome != restaq.AttemptLost {
					t.Fatalf("attempts %+v, want a lost one and a completed one", h.Attempts)
				}
				const slack = 5 * time.Second // of a busy machine
				if took := h.Attempts[1].StartedAt.Sub(start); took > lease+poll+slack {
					t.Errorf("taken over after %v, want %v", took, lease+poll)
				}
			})
		}
	}
}

// Three workers behind PgBouncer in transaction mode are killed at random, and
// so are the connections that the server has with it.
func TestBehindPgBouncer(t *testing.T) {
	t.Parallel()
	f := newFleetOn(t, "postgres", pooledURL(t))
	f.underLoad(3*time.Second, crashes, nil, func(ctx context.Context) {
		for pause(ctx, time.Duration(100+rand.N(400))*time.Millisecond) == nil {
			if rand.N(2) == 0 {
				victim := f.anyone()
				victim.kill()
				f.start(victim.cfg)
			} else {
				f.onDatabase(func(_ *sql.DB, conn *pgx.Conn) error {
					_, err := terminateOthers(t.Context(), conn)
					return err
				})
			}
		}
	})
}
