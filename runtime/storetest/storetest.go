// Package storetest is what every restaq.Store must do, as one call.
//
// A store's own test says how to open it and how to let time pass, and Run
// does the rest:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, storetest.Backend{
//			Open: func(t *testing.T) restaq.Store {
//				s, err := mystore.Open(freshDatabase(t))
//				if err != nil {
//					t.Fatal(err)
//				}
//				t.Cleanup(func() { s.Close() })
//				return s
//			},
//			Advance: func(t *testing.T, s restaq.Store, d time.Duration) { … },
//		})
//	}
//
// The suite reads as the specification: a test a sentence. It never sleeps;
// leases run out and retries fall due because Advance says so. The optional
// abilities (restaq.Lister, Counter, Pruner, Forgetter, Turns, Directory, Keyed, Meter, Auditor,
// Transactor, Outbox) are tested where a store has them.
//
// Tests run in parallel, each on a store of its own.
package storetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Backend says how to get at a kind of store. Its functions are called from
// several tests at once; they end a test by t.Fatal if they fail, and clean up
// by t.Cleanup.
type Backend struct {
	// Open returns a new, empty store.
	Open func(t *testing.T) restaq.Store

	// Reopen returns another handle on the data of s, as another process would
	// have it, while s stays open. Nil for a store that lives in one process:
	// then s stands in for it.
	Reopen func(t *testing.T, s restaq.Store) restaq.Store

	// Advance makes d pass for the data of s and for every handle on it: due
	// times, leases and the ends of executions are nearer or longer ago by d.
	// Whether times of creation move as well is of no matter. An SQL store
	// subtracts d from its time columns, or moves the clock of its handles.
	//
	// It may be nil if the store is a restaq.Clocked: then the suite sets the
	// store's clock.
	Advance func(t *testing.T, s restaq.Store, d time.Duration)

	// Contend returns a function that opens a handle on one database that has
	// no schema yet, and that is called by several goroutines at once: each
	// call must succeed, and all handles must share their data. Nil if the
	// store has nothing to set up.
	Contend func(t *testing.T) func() (restaq.Store, error)

	// Tx says how to write in transactions. Nil for a store that is neither a
	// restaq.Transactor nor an Outbox.
	Tx *Tx
}

// Run tests a kind of store.
func Run(t *testing.T, b Backend) {
	groups := []struct {
		name  string
		tests []test
	}{
		{"Insert", insertTests},
		{"Claim", claimTests},
		{"Recover", recoverTests},
		{"Order", orderTests},
		{"Record", recordTests},
		{"Renew", renewTests},
		{"Finish", finishTests},
		{"Change", changeTests},
		{"History", historyTests},
		{"Bytes", bytesTests},
		{"List", listTests},
		{"Text", textTests},
		{"Count", countTests},
		{"Meter", meterTests},
		{"Audit", auditTests},
		{"Secrets", secretsTests},
		{"Prune", pruneTests},
		{"Forget", forgetTests},
		{"Turns", turnTests},
		{"Directory", directoryTests},
		{"Keyed", keyedTests},
		{"Transaction", transactionTests},
		{"Outbox", outboxTests},
		{"Context", contextTests},
		{"Contend", contendTests},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, test := range g.tests {
				t.Run(test.name, func(t *testing.T) {
					t.Parallel()
					test.run(newFixture(t, b))
				})
			}
		})
	}
}

// test is one sentence of the specification.
type test struct {
	name string
	run  func(f *fixture)
}

// fixture is a fresh store in its test. Its methods end the test when a call
// fails that must not.
type fixture struct {
	*testing.T
	ctx     context.Context
	backend Backend
	store   restaq.Store
	clock   *clock // nil unless the suite sets the store's clock
}

func newFixture(t *testing.T, b Backend) *fixture {
	f := &fixture{T: t, ctx: t.Context(), backend: b, store: b.Open(t)}
	if b.Advance == nil {
		clocked, ok := f.store.(restaq.Clocked)
		if !ok {
			t.Fatal("storetest: a store that is no restaq.Clocked needs Backend.Advance")
		}
		f.clock = &clock{}
		f.clock.now.Store(time.Date(2026, 2, 3, 4, 5, 6, 789_012_345, time.UTC).UnixNano())
		clocked.SetClock(f.clock.Now)
	}
	return f
}

// clock is the time of a Clocked store. A reading takes a microsecond, so that
// times of different calls differ.
type clock struct{ now atomic.Int64 }

// Now returns the time, in a zone that no store may hand on.
func (c *clock) Now() time.Time {
	return time.Unix(0, c.now.Add(int64(time.Microsecond))).In(time.FixedZone("away", 5*3600))
}

// advance lets d pass.
func (f *fixture) advance(d time.Duration) {
	f.Helper()
	if f.clock != nil {
		f.clock.now.Add(int64(d))
		return
	}
	f.backend.Advance(f.T, f.store, d)
}

// another returns a second handle on the data.
func (f *fixture) another() restaq.Store {
	f.Helper()
	if f.backend.Reopen == nil {
		return f.store
	}
	return f.backend.Reopen(f.T, f.store)
}
