//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
)

// methods are the store's methods between delivery and outcome. Function is
// the step's own, in the transaction that Transact begins and commits.
var methods = []string{"Lookup", "Insert", "Claim", "Record", "Transact", "Function", "Renew", "Finish"}

// failPoint is where a process kills itself: before or after the Nth call of
// a method that has something to write, so before or after its commit.
type failPoint struct {
	Method string
	After  bool
	Nth    int64 // from 1
}

func (p failPoint) String() string {
	side := "before"
	if p.After {
		side = "after"
	}
	return fmt.Sprintf("%s %s number %d", side, p.Method, p.Nth)
}

// failing is a store whose process dies at a point.
type failing struct {
	store restaq.Store
	point failPoint
	calls atomic.Int64
	die   func()
}

// kill ends this process as kill -9 does, and does not return.
func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// around makes a call, or dies before or after it. After it, only a call that
// did something counts.
func (f *failing) around(method string, did func() bool, call func()) {
	mine := method == f.point.Method
	if mine && !f.point.After && f.calls.Add(1) == f.point.Nth {
		f.die()
	}
	call()
	if mine && f.point.After && did() && f.calls.Add(1) == f.point.Nth {
		f.die()
	}
}

func (f *failing) Lookup(ctx context.Context, source, eventID string, payload bool) (e *restaq.StoredEvent, err error) {
	f.around("Lookup", func() bool { return err == nil || errors.Is(err, restaq.ErrNotFound) }, func() {
		e, err = f.store.Lookup(ctx, source, eventID, payload)
	})
	return e, err
}

func (f *failing) Insert(ctx context.Context, in *restaq.Insertion) (created bool, executions []restaq.Execution, err error) {
	f.around("Insert", func() bool { return created }, func() {
		created, executions, err = f.store.Insert(ctx, in)
	})
	return created, executions, err
}

func (f *failing) Claim(ctx context.Context, c restaq.Claim) (claimed []restaq.Claimed, err error) {
	f.around("Claim", func() bool { return len(claimed) > 0 }, func() {
		claimed, err = f.store.Claim(ctx, c)
	})
	return claimed, err
}

func (f *failing) Record(ctx context.Context, lease restaq.Lease, p *restaq.Progress) (err error) {
	f.around("Record", func() bool { return err == nil }, func() {
		err = f.store.Record(ctx, lease, p)
	})
	return err
}

func (f *failing) Transact(ctx context.Context, lease restaq.Lease, d time.Duration, fn func(ctx context.Context, tx any) (*restaq.Progress, error)) (err error) {
	f.around("Transact", func() bool { return err == nil }, func() {
		err = f.store.(restaq.Transactor).Transact(ctx, lease, d, func(ctx context.Context, tx any) (p *restaq.Progress, err error) {
			f.around("Function", func() bool { return err == nil }, func() { p, err = fn(ctx, tx) })
			return p, err
		})
	})
	return err
}

func (f *failing) Renew(ctx context.Context, renewals []restaq.Renewal, d time.Duration) (lost []string, err error) {
	f.around("Renew", func() bool { return err == nil && len(lost) < len(renewals) }, func() {
		lost, err = f.store.Renew(ctx, renewals, d)
	})
	return lost, err
}

func (f *failing) Finish(ctx context.Context, lease restaq.Lease, o *restaq.Outcome) (e *restaq.Execution, err error) {
	f.around("Finish", func() bool { return err == nil }, func() {
		e, err = f.store.Finish(ctx, lease, o)
	})
	return e, err
}

var (
	_ restaq.Transactor = failingPostgres{}
	_ restaq.Transactor = failingSQLite{}
)

// A store that fails keeps its optional abilities: they lie one level deeper
// than failing's methods, which hide those of the same name.
type (
	deepPostgres    struct{ *postgres.Store }
	failingPostgres struct {
		*failing
		deepPostgres
	}
	deepSQLite    struct{ *sqlite.Store }
	failingSQLite struct {
		*failing
		deepSQLite
	}
)
