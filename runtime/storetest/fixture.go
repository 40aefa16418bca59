package storetest

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// The names that tests use unless they are about names.
const (
	handler = "shop.Shop.Paid"
	owner   = "owner-1"
	lease   = time.Minute
)

var ids atomic.Uint64

// newID returns a UUID of version 7. Later ones sort after earlier ones.
func newID() string {
	var u [16]byte
	binary.BigEndian.PutUint64(u[:], uint64(time.Now().UnixMilli())<<16)
	rand.Read(u[10:])
	binary.BigEndian.PutUint32(u[8:], uint32(ids.Add(1)))
	// The counter keeps the order within a millisecond; the clock may not step
	// back between two ids, which tests tolerate by not depending on it.
	u[6], u[8] = 0x70, 0x80|u[8]&0x3f
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

func newEvent(id string) *restaq.Event {
	return &restaq.Event{
		Source: "stripe", Provider: "stripe", ID: id, Type: "stripe.charge.succeeded",
		Payload: []byte(`{"id":"` + id + `"}`),
		Header:  http.Header{"Content-Type": {"application/json"}, "X-Two": {"a", "b"}},
	}
}

func newExecution(handler string) restaq.NewExecution {
	return restaq.NewExecution{ID: newID(), Handler: handler}
}

// insert stores a new event with executions.
func (f *fixture) insert(ev *restaq.Event, executions ...restaq.NewExecution) []restaq.Execution {
	f.Helper()
	created, made, err := f.store.Insert(f.ctx, &restaq.Insertion{Event: ev, Executions: executions, Owner: owner, Lease: lease})
	if err != nil || !created {
		f.Fatalf("Insert(%s) = %v, %v; want created", ev.ID, created, err)
	}
	if len(made) != len(executions) {
		f.Fatalf("Insert(%s) made %d executions, want %d", ev.ID, len(made), len(executions))
	}
	return made
}

// add stores executions of a stored event.
func (f *fixture) add(ev *restaq.Event, executions ...restaq.NewExecution) (bool, []restaq.Execution) {
	f.Helper()
	created, made, err := f.store.Insert(f.ctx, &restaq.Insertion{
		Source: ev.Source, EventID: ev.ID, Executions: executions, Owner: owner, Lease: lease,
	})
	if err != nil {
		f.Fatalf("Insert for %s: %v", ev.ID, err)
	}
	return created, made
}

// pending stores an event with one execution and returns its id.
func (f *fixture) pending(eventID string) string {
	f.Helper()
	return f.insert(newEvent(eventID), newExecution(handler))[0].ID
}

// begun stores an event with one execution that runs from the start.
func (f *fixture) begun(eventID string) restaq.Lease {
	f.Helper()
	n := newExecution(handler)
	n.Begin = true
	f.insert(newEvent(eventID), n)
	return restaq.Lease{Execution: n.ID, Attempt: 1, Token: 1}
}

// claimAll claims up to 100 executions.
func (f *fixture) claimAll(handlers ...string) []restaq.Claimed {
	f.Helper()
	return f.claimSome(100, handlers...)
}

// claimSome claims up to limit executions.
func (f *fixture) claimSome(limit int, handlers ...string) []restaq.Claimed {
	f.Helper()
	claimed, err := f.store.Claim(f.ctx, restaq.Claim{Owner: owner, Lease: lease, Handlers: handlers, Limit: limit})
	if err != nil {
		f.Fatalf("Claim: %v", err)
	}
	return claimed
}

// claim claims the one execution that is due, which must be id.
func (f *fixture) claim(id string) restaq.Claimed {
	f.Helper()
	claimed := f.claimAll(handler)
	if len(claimed) != 1 || claimed[0].Execution.ID != id {
		f.Fatalf("Claim took %v, want %s alone", claimedIDs(claimed), id)
	}
	return claimed[0]
}

// claimNone checks that nothing is due.
func (f *fixture) claimNone() {
	f.Helper()
	if claimed := f.claimAll(handler); len(claimed) != 0 {
		f.Fatalf("Claim took %v, want nothing", claimedIDs(claimed))
	}
}

func claimedIDs(claimed []restaq.Claimed) []string {
	var ids []string
	for _, c := range claimed {
		ids = append(ids, c.Execution.ID)
	}
	return ids
}

func (f *fixture) record(l restaq.Lease, p *restaq.Progress) {
	f.Helper()
	if err := f.store.Record(f.ctx, l, p); err != nil {
		f.Fatalf("Record: %v", err)
	}
}

func (f *fixture) finish(l restaq.Lease, o restaq.Outcome) *restaq.Execution {
	f.Helper()
	e, err := f.store.Finish(f.ctx, l, &o)
	if err != nil {
		f.Fatalf("Finish: %v", err)
	}
	return e
}

// change makes a change that must happen.
func (f *fixture) change(id string, c restaq.Change) *restaq.Execution {
	f.Helper()
	e, changed, err := f.store.Change(f.ctx, id, c)
	if err != nil || !changed {
		f.Fatalf("Change to %s = %v, %v; want changed", c.To, changed, err)
	}
	return e
}

// read returns an execution as it is.
func (f *fixture) read(id string) restaq.Execution {
	f.Helper()
	e, changed, err := f.store.Change(f.ctx, id, restaq.Change{})
	if err != nil || changed {
		f.Fatalf("Change without From = %v, %v; want a plain read", changed, err)
	}
	return *e
}

func (f *fixture) history(id string) *restaq.StoredExecution {
	f.Helper()
	h, err := f.store.History(f.ctx, id)
	if err != nil {
		f.Fatalf("History: %v", err)
	}
	return h
}

// Outcomes that tests use.
var (
	completed   = restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted}
	died        = restaq.Outcome{Status: restaq.Failed, Attempt: restaq.AttemptFailed, Error: "boom", Step: "charge"}
	retryInHour = restaq.Outcome{Status: restaq.Failed, Attempt: restaq.AttemptFailed, Retry: true, RetryIn: time.Hour, Error: "boom", Step: "charge"}
	interrupted = restaq.Outcome{Status: restaq.Pending, Attempt: restaq.AttemptInterrupted}
	released    = restaq.Outcome{Status: restaq.Pending, Attempt: restaq.AttemptReleased, RetryIn: time.Hour, Error: "newer", Step: "charge"}
)

// steps returns n rows of an attempt from seq on.
func steps(attempt, seq, n int) []restaq.StepRow {
	var rows []restaq.StepRow
	for i := seq; i < seq+n; i++ {
		at := time.Date(2026, 1, 2, 3, 4, 5, i*1000, time.UTC)
		rows = append(rows, restaq.StepRow{
			Attempt: attempt, Seq: i, Name: fmt.Sprintf("step-%d[key]", i), Func: "example.com/shop.Shop.step",
			Status: restaq.StepCompleted, Output: fmt.Appendf(nil, `{"n":%d}`, i), Inputs: []byte{1, 0, 255},
			Shape: "s1", Detail: []byte("d"), StartedAt: at, EndedAt: at.Add(time.Millisecond),
		})
	}
	return rows
}

// The states that an execution can be in, and how to get one there.
var states = map[string]func(f *fixture, eventID string) restaq.Lease{
	"pending": func(f *fixture, eventID string) restaq.Lease {
		return restaq.Lease{Execution: f.pending(eventID)}
	},
	"running": func(f *fixture, eventID string) restaq.Lease { return f.begun(eventID) },
	"retrying": func(f *fixture, eventID string) restaq.Lease {
		l := f.begun(eventID)
		f.finish(l, retryInHour)
		return l
	},
	"dead": func(f *fixture, eventID string) restaq.Lease {
		l := f.begun(eventID)
		f.finish(l, died)
		return l
	},
	"completed": func(f *fixture, eventID string) restaq.Lease {
		l := f.begun(eventID)
		f.finish(l, completed)
		return l
	},
	"cancelled": func(f *fixture, eventID string) restaq.Lease {
		l := restaq.Lease{Execution: f.pending(eventID)}
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Cancelled})
		return l
	},
}

// statusOf maps the names of states to statuses.
func statusOf(state string) restaq.Status {
	if state == "retrying" || state == "dead" {
		return restaq.Failed
	}
	return restaq.Status(state)
}

// equal compares deeply; a nil slice is not an empty one.
func (f *fixture) equal(what string, got, want any) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		f.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// is checks an error.
func (f *fixture) is(what string, err, target error) {
	f.Helper()
	if !errors.Is(err, target) {
		f.Fatalf("%s: got error %v, want %v", what, err, target)
	}
}

// stamped checks that a time is set, in UTC and to the microsecond.
func (f *fixture) stamped(what string, at time.Time) {
	f.Helper()
	switch {
	case at.IsZero():
		f.Errorf("%s is zero", what)
	case at.Location() != time.UTC:
		f.Errorf("%s is in %v, want UTC", what, at.Location())
	case at.Nanosecond()%1000 != 0:
		f.Errorf("%s is finer than a microsecond: %v", what, at)
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// together runs fn n times at once and waits.
func together(n int, fn func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}
