package restaq

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// A Meter keeps counts by the minute, so that what happened over time can be
// drawn without reading executions. It is an optional ability of a [Store].
type Meter interface {
	// AddCounts adds to the counts of their minutes, and deletes counts of
	// minutes longer ago than keep, by the store's clock. Counts of one key
	// add up, whichever process sends them. They are for charts: a call that
	// is repeated because its answer was lost counts twice.
	AddCounts(ctx context.Context, counts []Count, keep time.Duration) error

	// Counts returns the counts of minutes from since on, before until, added
	// up over spans of step: whole minutes, counted from 1970 in UTC. Minute
	// is then the beginning of a span. They come by minute, kind, name,
	// result and bucket.
	Counts(ctx context.Context, since, until time.Time, step time.Duration) ([]Count, error)
}

// CountKind says what was counted.
type CountKind string

// What is counted.
const (
	// CountDelivery counts events that Webhook or Deliver took. Name is the
	// source, Result "accepted", "duplicate", "unhandled" or "failed".
	CountDelivery CountKind = "delivery"

	// CountRefusal counts requests that Webhook refused; nothing else is
	// written of them. Name is the source, Result the reason.
	CountRefusal CountKind = "refusal"

	// CountAttempt counts ended attempts. Name is the handler, Result
	// "completed", "retrying", "dead", "interrupted" or "released".
	CountAttempt CountKind = "attempt"
)

// Count says how often something happened in a minute.
type Count struct {
	Minute time.Time `json:"minute"` // its beginning, UTC, by the process's clock
	Kind   CountKind `json:"kind"`
	Name   string    `json:"name"`
	Result string    `json:"result"`

	// Bucket is how long each took: less than [LatencyBound] of it, and no
	// less than that of the bucket before. 0 where that is not measured.
	Bucket int   `json:"bucket"`
	N      int64 `json:"n"`
}

// lastBucket is that of all that takes longer.
const lastBucket = 48

// latencyBucket returns the bucket of a duration: 1 is below 1 ms, and two
// buckets make a factor of 2.
func latencyBucket(d time.Duration) int {
	if d < time.Millisecond {
		return 1
	}
	return min(2+int(2*math.Log2(float64(d)/float64(time.Millisecond))), lastBucket)
}

// LatencyBound returns the duration that everything counted in a bucket was
// shorter than; the last bucket, 48, has none and returns the largest
// duration. Bucket 1 ends at 1 ms, and each further one about 1.41 times later.
func LatencyBound(bucket int) time.Duration {
	if bucket >= lastBucket {
		return math.MaxInt64
	}
	return time.Duration(float64(time.Millisecond) * math.Pow(2, float64(bucket-1)/2))
}

// keepCounts is how long counts are kept.
const keepCounts = 31 * 24 * time.Hour

// maxResults bounds the results that a process counts apart for one name in a
// minute, as reasons of refusals may hold anything. Others are "other".
const maxResults = 20

// meter counts what happens in this process until it is written: once a minute,
// and when Run ends.
type meter struct {
	mu      sync.Mutex
	minute  time.Time
	counts  map[countKey]int64
	results map[resultsOf]int // results counted apart
}

type countKey struct {
	kind         CountKind
	name, result string
	bucket       int
}

type resultsOf struct {
	kind CountKind
	name string
}

// count counts one more. It writes the counts of an earlier minute in the
// background.
func (rt *Runtime) count(kind CountKind, name, result string, bucket int) {
	if rt.meterStore == nil {
		return
	}
	now := rt.cfg.Now().UTC().Truncate(time.Minute)
	m := &rt.meter
	m.mu.Lock()
	var old []Count
	if !now.Equal(m.minute) {
		old = m.take()
		m.minute = now
	}
	if m.counts == nil {
		m.counts, m.results = make(map[countKey]int64), make(map[resultsOf]int)
	}
	key := countKey{kind, name, result, bucket}
	if _, known := m.counts[key]; !known && kind == CountRefusal {
		of := resultsOf{kind, name}
		if m.results[of] >= maxResults {
			key.result = "other"
		} else {
			m.results[of]++
		}
	}
	m.counts[key]++
	m.mu.Unlock()
	if len(old) > 0 {
		go rt.writeCounts(context.Background(), old)
	}
}

// take empties the meter. The caller holds mu.
func (m *meter) take() []Count {
	counts := make([]Count, 0, len(m.counts))
	for k, n := range m.counts {
		counts = append(counts, Count{Minute: m.minute, Kind: k.kind, Name: k.name, Result: k.result, Bucket: k.bucket, N: n})
	}
	m.counts, m.results = nil, nil
	return counts
}

// flushCounts writes what was counted, once a minute until ctx ends.
func (rt *Runtime) flushCounts(ctx context.Context) {
	if rt.meterStore == nil {
		return
	}
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			rt.flush(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// flush writes what was counted.
func (rt *Runtime) flush(ctx context.Context) {
	rt.meter.mu.Lock()
	counts := rt.meter.take()
	rt.meter.mu.Unlock()
	if len(counts) > 0 {
		rt.writeCounts(ctx, counts)
	}
}

// countsTimeout bounds the writing of a minute's counts.
const countsTimeout = 10 * time.Second

// writeCounts writes counts. They are lost if that fails: charts are not worth
// a queue beside a store that has trouble.
func (rt *Runtime) writeCounts(ctx context.Context, counts []Count) {
	ctx, cancel := context.WithTimeout(ctx, countsTimeout)
	defer cancel()
	if err := rt.meterStore.AddCounts(ctx, counts, keepCounts); err != nil {
		rt.cfg.Logger.Warn("restaq: a minute's counts are lost", "error", firstLine(errorText(err), 200))
	}
}

// Counts returns what the processes on this store have counted in the minutes
// from since on and before until, added up over spans of step, which is a whole
// number of minutes; 0 means one. Each process writes its counts once a minute,
// and they are kept for 31 days.
func (rt *Runtime) Counts(ctx context.Context, since, until time.Time, step time.Duration) ([]Count, error) {
	if step == 0 {
		step = time.Minute
	}
	switch {
	case rt.meterStore == nil:
		return nil, fmt.Errorf("read counts: %w", ErrUnsupported)
	case step < time.Minute || step%time.Minute != 0:
		return nil, fmt.Errorf("read counts: step %v: want whole minutes", step)
	}
	counts, err := rt.meterStore.Counts(ctx, since, until, step)
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	return counts, nil
}
