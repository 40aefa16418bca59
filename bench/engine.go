package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/restaq/restaq/bench/workflow"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
)

const orderType = workflow.OrderType

// payload is an event's.
func payload(id string) []byte { return []byte(`{"id":"order-` + id + `","amount":2000}`) }

// engine is this project on one of its stores.
type engine struct {
	rt    *restaq.Runtime
	ends  *ends
	stop  func() error
	drain func() error
}

// ends tells those who wait that an execution's outcome is durable. It looks
// at what the store returns, so that nothing is read to find out.
type ends struct {
	mu      sync.Mutex
	waiting map[string]chan struct{} // by event id
}

// await returns a channel that is closed when the event's execution has ended.
func (e *ends) await(event string) <-chan struct{} {
	ended := make(chan struct{})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[event] = ended
	return ended
}

func (e *ends) tell(x *restaq.Execution, err error) (*restaq.Execution, error) {
	if err == nil && x.Final() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if ended := e.waiting[x.Event.ID]; ended != nil {
			close(ended)
			delete(e.waiting, x.Event.ID)
		}
	}
	return x, err
}

type postgresStore struct {
	*postgres.Store
	ends *ends
}

func (s postgresStore) Finish(ctx context.Context, lease restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	return s.ends.tell(s.Store.Finish(ctx, lease, o))
}

type sqliteStore struct {
	*sqlite.Store
	ends *ends
}

func (s sqliteStore) Finish(ctx context.Context, lease restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	return s.ends.tell(s.Store.Finish(ctx, lease, o))
}

func openPostgres(ctx context.Context, url string) (subject, error) {
	store, err := postgres.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	e := &ends{waiting: make(map[string]chan struct{})}
	return openEngine(ctx, postgresStore{store, e}, e, store.Close)
}

func openSQLite(ctx context.Context, _ string) (subject, error) {
	dir, err := os.MkdirTemp("", "restaq-bench-")
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(filepath.Join(dir, "restaq.db"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	e := &ends{waiting: make(map[string]chan struct{})}
	return openEngine(ctx, sqliteStore{store, e}, e, func() error { return errors.Join(store.Close(), os.RemoveAll(dir)) })
}

// openEngine runs the workflow on a store.
func openEngine(ctx context.Context, store restaq.Store, e *ends, closeStore func() error) (subject, error) {
	rt, err := restaq.New(store, restaq.Config{Logger: slog.New(slog.DiscardHandler), Concurrency: 512})
	if err == nil {
		err = (&workflow.Shop{}).RegisterHandlers(rt)
	}
	if err != nil {
		return nil, errors.Join(err, closeStore())
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(working) }()
	return &engine{rt: rt, ends: e, stop: closeStore, drain: func() error {
		stop()
		return <-ended
	}}, nil
}

func (e *engine) deliver(ctx context.Context, id string) (restaq.Receipt, error) {
	return e.rt.Deliver(ctx, restaq.Event{Source: "bench", Provider: "bench", ID: id, Type: orderType, Payload: payload(id)})
}

func (e *engine) run(ctx context.Context, id string) error {
	ended := e.ends.await(id)
	if _, err := e.deliver(ctx, id); err != nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *engine) again(ctx context.Context, id string) error {
	receipt, err := e.deliver(ctx, id)
	if err == nil && !receipt.Duplicate {
		err = fmt.Errorf("event %s is new, want a duplicate", id)
	}
	return err
}

func (e *engine) close() error { return errors.Join(e.drain(), e.stop()) }
