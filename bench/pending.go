package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
)

// few is the number of pending executions that more are compared with.
const few = 1000

// closable is a store that has to be closed.
type closable interface {
	restaq.Store
	Close() error
}

// pendingRows compares the heap of a process that holds many pending
// executions back with that of one that holds few.
func pendingRows(ctx context.Context, out io.Writer, pending int) (err error) {
	fmt.Fprintf(out, "heap of a process whose slots are full\t%d pending\t%d pending\tof the first\tto reach\n", few, pending)
	server, err := pgtest.Start(ctx, pgtest.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	dir, err := os.MkdirTemp("", "restaq-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, s := range []struct {
		name string
		open func() (closable, error)
	}{
		{onPostgres, func() (closable, error) { return postgres.Open(ctx, server.URL()) }},
		{onSQLite, func() (closable, error) { return sqlite.Open(filepath.Join(dir, "restaq.db")) }},
	} {
		store, err := s.open()
		if err != nil {
			return fmt.Errorf("open %s: %w", s.name, err)
		}
		heaps, err := pendingHeaps(ctx, store, few, pending)
		if err = errors.Join(err, store.Close()); err != nil {
			return fmt.Errorf("measure heap of %s: %w", s.name, err)
		}
		fmt.Fprintf(out, "%s\t%.2f MB\t%.2f MB\t%.2f\t≤ 1.1\n", s.name, heaps[0]/1e6, heaps[1]/1e6, heaps[1]/heaps[0])
	}
	return nil
}

// pendingHeaps returns the bytes in use on the heap with so many executions
// pending, while as many as may run at once do not end.
func pendingHeaps(ctx context.Context, store restaq.Store, counts ...int) (heaps []float64, err error) {
	begun, held := make(chan struct{}, 64), make(chan struct{})
	rt, err := restaq.New(store, restaq.Config{Logger: slog.New(slog.DiscardHandler), Concurrency: 64})
	if err == nil {
		err = rt.Register(restaq.Handler[restaq.Event]{
			Name: "bench.Held", Events: []string{orderType},
			Func: func(context.Context, restaq.Event) error {
				begun <- struct{}{}
				<-held
				return nil
			},
		})
	}
	if err != nil {
		return nil, err
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(working) }()
	defer func() {
		stop()
		close(held)
		if e := <-ended; err == nil {
			err = e
		}
	}()
	if err := deliverBlank(ctx, rt, 64); err != nil {
		return nil, err
	}
	for range 64 {
		<-begun
	}
	pending := 0
	for _, n := range counts {
		if err := deliverBlank(ctx, rt, n-pending); err != nil {
			return nil, err
		}
		pending = n
		heaps = append(heaps, heap())
	}
	return heaps, nil
}

// deliverBlank delivers n events of a kilobyte, 64 at once.
func deliverBlank(ctx context.Context, rt *restaq.Runtime, n int) error {
	var (
		group  sync.WaitGroup
		left   atomic.Int64
		failed atomic.Pointer[error]
	)
	left.Store(int64(n))
	for range 64 {
		group.Go(func() {
			for left.Add(-1) >= 0 && failed.Load() == nil {
				if _, err := rt.Deliver(ctx, restaq.Event{
					Source: "bench", Provider: "bench", ID: newID(), Type: orderType, Payload: make([]byte, 1024),
				}); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// heap returns the bytes in use on the heap.
func heap() float64 {
	var m runtime.MemStats
	for range 3 { // pools are emptied by the second collection
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
