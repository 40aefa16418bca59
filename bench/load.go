package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// subject is one way to take an event through four steps.
type subject interface {
	// run takes the event of that id through its steps and returns when its
	// outcome is durable.
	run(ctx context.Context, id string) error

	// again delivers an event that has been handled.
	again(ctx context.Context, id string) error

	close() error
}

// ids numbers the events of all loads.
var ids atomic.Int64

func newID() string { return "evt_" + strconv.FormatInt(ids.Add(1), 10) }

// newUUID returns an execution's id, of version 7 as the runtime's are.
func newUUID() string {
	return uuid.Must(uuid.NewV7()).String()
}

// load is what a subject did in a window of time.
type load struct {
	elapsed   time.Duration
	processor time.Duration   // of this process
	latencies []time.Duration // sorted
}

// rate is how many a second.
func (l load) rate() float64 { return float64(len(l.latencies)) / l.elapsed.Seconds() }

// each is the processor's time of this process for one of them, in µs.
func (l load) each() float64 {
	return float64(l.processor) / float64(time.Microsecond) / float64(len(l.latencies))
}

// quantile is the latency that a part q of all stays below.
func (l load) quantile(q float64) time.Duration {
	return l.latencies[min(int(q*float64(len(l.latencies))), len(l.latencies)-1)]
}

// drive calls op from so many goroutines until the window has passed, then
// waits for those under way.
func drive(ctx context.Context, atOnce int, window time.Duration, op func(ctx context.Context) error) (load, error) {
	var (
		group  sync.WaitGroup
		failed = make([]error, atOnce)
		times  = make([][]time.Duration, atOnce)
		used   = processor()
		start  = time.Now()
	)
	for i := range atOnce {
		group.Go(func() {
			for begun := time.Now(); begun.Sub(start) < window && failed[i] == nil; {
				failed[i] = op(ctx)
				ended := time.Now()
				times[i] = append(times[i], ended.Sub(begun))
				begun = ended
			}
		})
	}
	group.Wait()
	l := load{elapsed: time.Since(start), processor: processor() - used, latencies: slices.Concat(times...)}
	slices.Sort(l.latencies)
	if err := errors.Join(failed...); err != nil {
		return l, fmt.Errorf("drive load of %d: %w", atOnce, err)
	}
	return l, nil
}

// processor is the time that this process has had of the processor so far.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // it has no other errors than a wrong argument's
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// execute drives executions of new events.
func execute(ctx context.Context, s subject, atOnce int, window time.Duration) (load, error) {
	return drive(ctx, atOnce, window, func(ctx context.Context) error { return s.run(ctx, newID()) })
}

// duplicate drives deliveries of one event after another of those given.
func duplicate(ctx context.Context, s subject, atOnce int, window time.Duration, handled []string) (load, error) {
	var next atomic.Int64
	return drive(ctx, atOnce, window, func(ctx context.Context) error {
		return s.again(ctx, handled[int(next.Add(1))%len(handled)])
	})
}
