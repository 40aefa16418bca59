package postgres

import (
	"errors"
	"testing"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

// Behind a pooler calls share a commit as elsewhere, and a shared commit waits
// for no lock either: what it sets for that ends with it.
func TestCallsShareACommitBehindAPooler(t *testing.T) {
	s, admin, leases := manyAt(t, pgtest.Pooled(t, pgtest.URL(t))+"&default_query_exec_mode=exec", 5)
	ctx := t.Context()
	takeOver(t, s, admin, leases[1])
	holder, err := admin.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(ctx, `SELECT FROM restaq.work WHERE execution = $1 FOR UPDATE`, leases[0].Execution); err != nil {
		t.Fatal(err)
	}
	completed := &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted}
	errs := make([]error, 5)
	var end *restaq.Execution
	var made bool
	done := make(chan struct{})
	together(t, s.writes,
		func() {
			// This row is held: the call goes on alone until it is free.
			go func() {
				defer close(done)
				_, errs[0] = s.Finish(ctx, leases[0], completed)
			}()
		},
		func() { errs[1] = s.Record(ctx, leases[1], progress(1)) },
		func() { errs[2] = s.Record(ctx, leases[2], progress(1)) },
		func() { end, errs[3] = s.Finish(ctx, leases[3], completed) },
		func() {
			made, _, errs[4] = s.Insert(ctx, &restaq.Insertion{
				Event:      &restaq.Event{Source: "s", Provider: "s", ID: "evt_new", Type: "s.paid"},
				Executions: []restaq.NewExecution{{ID: "01900000-0000-7000-8000-100000000000", Handler: "shop.Paid"}},
			})
		},
	)
	if !errors.Is(errs[1], restaq.ErrLeaseLost) {
		t.Errorf("without the lease: %v", errs[1])
	}
	if err := errors.Join(errs[2:]...); err != nil || !made || end == nil || end.Status != restaq.Completed {
		t.Errorf("errors %v, made %t, end %+v", err, made, end)
	}
	if err := holder.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if <-done; errs[0] != nil {
		t.Errorf("the call whose row was held: %v", errs[0])
	}
	if limit, err := one[string](ctx, admin, `SHOW lock_timeout`); err != nil || limit != "0" {
		t.Errorf("lock_timeout is %s in a session of the pooler's, %v", limit, err)
	}
}
