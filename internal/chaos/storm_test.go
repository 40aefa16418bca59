//go:build linux

package chaos

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// downstream is a service that is down until a time, and for some for ever. It
// asks its callers to come back later.
type downstream struct {
	*httptest.Server
	until time.Time
	after time.Duration // whole seconds

	mu    sync.Mutex
	calls map[string][]time.Time // by execution: when each was answered
	now   int                    // calls under way
	most  int                    // at once
}

func newDownstream(t *testing.T, outage, after time.Duration) *downstream {
	d := &downstream{until: time.Now().Add(outage), after: after, calls: make(map[string][]time.Time)}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

// ServeHTTP answers a call of /…/EXECUTION; /never/EXECUTION is always down.
func (d *downstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dir, execution := path.Split(r.URL.Path)
	d.mu.Lock()
	d.now++
	d.most = max(d.most, d.now)
	d.mu.Unlock()
	_ = pause(r.Context(), 2*time.Millisecond)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now--
	d.calls[execution] = append(d.calls[execution], time.Now())
	if dir == "/never/" || time.Now().Before(d.until) {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.after.Seconds())))
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// Thousands of executions (hundreds, but in a soak) call a service that is down
// and says when to come back. Nobody comes earlier, every call is an attempt
// that is counted, those that use up their attempts are dead, and neither the
// service nor the database is overrun.
func TestRetryStorm(t *testing.T) {
	t.Parallel()
	events, outage, after, attempts := 400, 3*time.Second, time.Second, 8 // more than an outage takes
	if os.Getenv(soakEnv) != "" {
		events, outage, after, attempts = 5000, 2*time.Minute, time.Minute, 5
	}
	const (
		concurrency = 16
		processes   = 3
	)
	f := newFleet(t, "postgres")
	for i := range processes {
		f.start(workerConfig{
			Name: fmt.Sprint("worker-", i), Attempts: attempts, Concurrency: concurrency, Lease: time.Minute, Deliver: patience,
		})
	}
	begin, before := time.Now(), f.transactions()
	d := newDownstream(t, outage, after)
	s := newSendings()
	var sending sync.WaitGroup
	next := make(chan int)
	for range 8 {
		sending.Go(func() {
			for n := range next {
				target := d.URL + "/back"
				if n%40 == 7 {
					target = d.URL + "/never"
				}
				f.deliver(t.Context(), s, order{ID: fmt.Sprint("evt_", n), Downstream: target})
			}
		})
	}
	for n := range events {
		next <- n
	}
	close(next)
	sending.Wait()
	f.settleWithin(patience + 10*outage)
	took, transactions := time.Since(begin), f.transactions()-before

	dead := make(map[string]bool)
	for n := 7; n < events; n += 40 {
		dead[s.acked[fmt.Sprint("evt_", n)][0]] = true
	}
	ev := f.verify(s, evidence{dead: dead})
	total := d.check(t, ev, attempts)
	if d.most > processes*concurrency {
		t.Errorf("%d calls at once, want at most %d", d.most, processes*concurrency)
	}
	// An attempt is a claim, its history, at most four records and an outcome;
	// a delivery a lookup and an insert. The rest is polls, ten a second each,
	// and what follows a claim that found as many as it asked for.
	limit := 7*total + 2*events + processes*int(40*took.Seconds()+100)
	if transactions > limit {
		t.Errorf("%d transactions, want at most %d", transactions, limit)
	}
	t.Logf("%d calls, at most %d at once, %d transactions in %v", total, d.most, transactions, took.Round(time.Millisecond))
	report(t, s, ev)
}

// check checks that each attempt is one call, none earlier than was asked for,
// and returns how many calls there were.
func (d *downstream) check(t *testing.T, ev *evidence, attempts int) int {
	t.Helper()
	total := 0
	for id, h := range ev.histories {
		calls := d.calls[id]
		total += len(calls)
		if len(calls) != h.Execution.Attempts || ev.dead[id] && len(calls) != attempts {
			t.Errorf("execution %s: %d calls in %d attempts of %d", id, len(calls), h.Execution.Attempts, attempts)
		}
		for i := 1; i < len(calls); i++ {
			if gap := calls[i].Sub(calls[i-1]); gap < d.after {
				t.Errorf("execution %s called again after %v, want %v", id, gap, d.after)
			}
		}
	}
	return total
}

// transactions returns how many transactions the database has committed.
func (f *fleet) transactions() int {
	f.t.Helper()
	ctx := context.WithoutCancel(f.t.Context())
	conn, err := pgx.Connect(ctx, f.target)
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close(ctx)
	var n int
	err = conn.QueryRow(ctx, `SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}
