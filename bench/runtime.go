package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/restaq/restaq/bench/workflow"
	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
)

// senders is how many deliveries are under way at a time.
const senders = 16

// runtimeRows measures each store: how many events a second are stored, and how
// many executions of four steps a second are worked off by one process. Both
// include waiting for the disk, where the store does.
func runtimeRows(ctx context.Context, out io.Writer, executions int) error {
	dir, err := os.MkdirTemp("", "restaq-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := pgtest.Start(ctx, pgtest.Config{Fsync: true})
	if err != nil {
		return err
	}
	defer server.Stop()

	fmt.Fprintf(out, "four steps, %d executions\tdelivered\texecuted\n", executions)
	for _, kind := range []struct {
		name string
		open func() (restaq.Store, func() error, error)
	}{
		{"memory", func() (restaq.Store, func() error, error) {
			return memory.New(), func() error { return nil }, nil
		}},
		{"sqlite", func() (restaq.Store, func() error, error) {
			store, err := sqlite.Open(filepath.Join(dir, "restaq.db"))
			return store, store.Close, err
		}},
		{"postgres", func() (restaq.Store, func() error, error) {
			store, err := postgres.Open(ctx, server.URL())
			return store, store.Close, err
		}},
	} {
		store, closeStore, err := kind.open()
		if err != nil {
			return err
		}
		delivered, executed, err := measureStore(ctx, store, executions)
		if err := errors.Join(err, closeStore()); err != nil {
			return fmt.Errorf("measure %s: %w", kind.name, err)
		}
		fmt.Fprintf(out, "%s\t%.0f/s\t%.0f/s\n", kind.name,
			float64(executions)/delivered.Seconds(), float64(executions)/executed.Seconds())
	}
	return nil
}

// measureStore returns how long it takes to deliver so many events, and then to
// work them off.
func measureStore(ctx context.Context, store restaq.Store, executions int) (delivered, executed time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	rt, err := restaq.New(store, restaq.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, 0, err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var finished atomic.Int64
	shop := &workflow.Shop{Finished: func() {
		if finished.Add(1) == int64(executions) {
			stop()
		}
	}}
	if err := shop.RegisterHandlers(rt); err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := deliver(ctx, rt, executions); err != nil {
		return 0, 0, err
	}
	delivered = time.Since(start)

	start = time.Now()
	if err := rt.Run(working); err != nil { // which drains, once stopped
		return 0, 0, err
	}
	return delivered, time.Since(start), ctx.Err()
}

// deliver delivers so many events, several at a time.
func deliver(ctx context.Context, rt *restaq.Runtime, events int) error {
	var next atomic.Int64
	failed := make([]error, senders)
	var group sync.WaitGroup
	for i := range senders {
		group.Go(func() {
			for n := next.Add(1); n <= int64(events) && failed[i] == nil; n = next.Add(1) {
				id := strconv.FormatInt(n, 10)
				_, failed[i] = rt.Deliver(ctx, restaq.Event{
					Source: "bench", Provider: "bench", ID: id, Type: workflow.OrderType,
					Payload: []byte(`{"id":"order-` + id + `","amount":2000}`),
				})
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}
