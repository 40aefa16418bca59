//go:build linux

package chaos

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// One event is posted to two workers at the same instant, a thousand times.
// Each time both answer with success and name the same execution.
func TestTwinDeliveries(t *testing.T) {
	t.Parallel()
	const events = 1000
	f := newFleet(t, "postgres")
	var workers []*process
	for _, name := range []string{"one", "two"} { // patient: a slow answer is no wrong one
		workers = append(workers, f.start(workerConfig{Name: name, Deliver: patience, Lease: time.Minute}))
	}
	s := newSendings()
	var posting sync.WaitGroup
	next := make(chan int)
	for range 4 {
		posting.Go(func() {
			for n := range next {
				f.postTwins(s, workers, fmt.Sprint("evt_twin_", n))
			}
		})
	}
	for n := range events {
		next <- n
	}
	close(next)
	posting.Wait()
	f.settle()
	ev := f.verify(s, evidence{})
	if len(ev.histories) != events {
		t.Errorf("%d executions, want %d", len(ev.histories), events)
	}
	conn, err := pgx.Connect(t.Context(), f.target)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var deadlocks int
	err = conn.QueryRow(t.Context(), `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&deadlocks)
	if err != nil || deadlocks != 0 {
		t.Errorf("%d deadlocks, %v", deadlocks, err)
	}
	report(t, s, ev)
}

// postTwins posts one event to all workers at once.
func (f *fleet) postTwins(s *sendings, workers []*process, id string) {
	start := make(chan struct{})
	answers := make([]*answer, len(workers))
	var both sync.WaitGroup
	for i, p := range workers {
		both.Go(func() {
			<-start
			ctx, cancel := context.WithTimeout(f.t.Context(), patience)
			defer cancel()
			a, err := post(ctx, p, order{ID: id})
			if err != nil {
				f.t.Errorf("event %s to worker %s: %v", id, p.cfg.Name, err)
				return
			}
			answers[i] = a
		})
	}
	close(start)
	both.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[id] = true
	var said []string
	for _, a := range answers {
		if a != nil {
			said = append(said, a.Status)
			s.acked[id] = append(s.acked[id], a.Executions...)
		}
	}
	slices.Sort(said)
	if !slices.Equal(said, []string{"accepted", "duplicate"}) {
		f.t.Errorf("event %s was answered %q, want one accepted and one duplicate", id, said)
	}
}
