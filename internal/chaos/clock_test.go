//go:build linux

package chaos

import (
	"context"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Two workers have clocks ten minutes apart and live in different time zones.
// Neither takes what the other holds, retries are due for both, and what the
// database dates is dated in UTC by its own clock.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "postgres")
	start := time.Now()
	f.start(workerConfig{Name: "kathmandu", ClockAhead: 5 * time.Minute, Zone: "Asia/Kathmandu", Lease: time.Minute})
	f.start(workerConfig{Name: "los-angeles", ClockAhead: -5 * time.Minute, Zone: "America/Los_Angeles", Lease: time.Minute})
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	s := newSendings()
	var sending sync.WaitGroup
	sending.Go(func() { f.load(ctx, s, 4, 30*time.Millisecond, 5) })
	sending.Wait()
	f.settle()
	ev := f.verify(s, evidence{}) // no attempt was lost
	const minute = time.Minute
	check := func(what string, at time.Time) {
		if _, offset := at.Zone(); offset != 0 || at.Before(start.Add(-minute)) || at.After(time.Now().Add(minute)) {
			t.Errorf("%s is dated %v", what, at)
		}
	}
	workers := make(map[string]bool)
	for _, h := range ev.histories {
		check("an execution", h.Execution.CreatedAt)
		check("an event", h.Event.ReceivedAt)
		for _, a := range h.Attempts {
			check("an attempt", a.StartedAt)
			check("an attempt's end", a.EndedAt)
		}
	}
	runs := make(map[entry]int)
	for _, e := range ev.ledger {
		workers[e.Worker] = true
		if e.What == returned {
			runs[entry{Execution: e.Execution, Step: e.Step}]++
		}
	}
	for call, n := range runs {
		if n != 1 {
			t.Errorf("step %s of execution %s completed %d times", call.Step, call.Execution, n)
		}
	}
	if len(workers) != 2 {
		t.Errorf("workers %v did something, want both", workers)
	}
	report(t, s, ev)
}

// A retry that one worker put off is not due early for one whose clock is
// ahead.
func TestRetryIsDueByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "postgres")
	s := newSendings()
	backoff := restaq.Backoff{Min: 2 * time.Second, Max: 2 * time.Second}
	f.start(workerConfig{Name: "late", ClockAhead: -time.Hour, Backoff: backoff})
	f.start(workerConfig{Name: "early", ClockAhead: time.Hour, Backoff: backoff})
	for _, id := range []string{"evt_1", "evt_2", "evt_3", "evt_4"} {
		f.deliver(t.Context(), s, order{ID: id, FailOnce: "ship"})
	}
	failed := func() (rows []restaq.Execution) {
		page, err := f.store.List(t.Context(), restaq.Filter{Statuses: []string{"retrying"}})
		if err != nil {
			t.Fatal(err)
		}
		return page.Executions
	}
	due := make(map[string]time.Time)
	until(t, "all have failed once", func() bool {
		for _, e := range failed() {
			due[e.ID] = e.RetryAt
		}
		page, err := f.store.List(t.Context(), restaq.Filter{Statuses: []string{string(restaq.Completed)}})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Executions) == len(s.sent)
	})
	ev := f.verify(s, evidence{})
	for id, at := range due {
		if next := ev.histories[id].Attempts[1].StartedAt; next.Before(at) {
			t.Errorf("execution %s was due at %v and retried at %v", id, at, next)
		}
	}
	if len(due) == 0 {
		t.Error("no execution was seen waiting")
	}
}
