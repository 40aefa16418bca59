package otel

import (
	"context"
	"errors"
	"fmt"

	otelapi "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	restaq "github.com/restaq/restaq/runtime"
)

// scope is the name of the instrumentation.
const scope = "github.com/restaq/restaq/runtime/otel"

// Config says where traces and metrics go. Its zero value sends them to
// OpenTelemetry's global providers.
type Config struct {
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
}

// Observer is a restaq.Observer. It is safe for concurrent use, and by several
// runtimes.
type Observer struct {
	tracer trace.Tracer
	meters
}

var _ restaq.Observer = (*Observer)(nil)

// New returns an observer. Its error says which instrument the meter provider
// refused.
func New(cfg Config) (*Observer, error) {
	if cfg.TracerProvider == nil {
		cfg.TracerProvider = otelapi.GetTracerProvider()
	}
	if cfg.MeterProvider == nil {
		cfg.MeterProvider = otelapi.GetMeterProvider()
	}
	o := &Observer{tracer: cfg.TracerProvider.Tracer(scope)}
	if err := o.meters.make(cfg.MeterProvider.Meter(scope)); err != nil {
		return nil, fmt.Errorf("new observer: %w", err)
	}
	return o, nil
}

// meters are the instruments.
type meters struct {
	deliveries, refusals, executions, attempts, retries, takeovers           metric.Int64Counter
	deliveryDuration, attemptDuration, stepDuration, storeDuration, queueAge metric.Float64Histogram
	commitWrites                                                             metric.Int64Histogram
}

// Bounds of histograms, in seconds: of calls of a store, and of work, which may
// wait for the world.
var (
	storeBounds = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10}
	workBounds  = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 60, 120, 300, 600}
	queueBounds = []float64{.001, .01, .1, .5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 4 * 3600, 24 * 3600}
	writeBounds = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}
)

// make makes the instruments.
func (m *meters) make(meter metric.Meter) error {
	var errs []error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return c
	}
	duration := func(name, description string, bounds []float64) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(bounds...))
		errs = append(errs, err)
		return h
	}
	m.deliveries = counter("restaq.deliveries", "{event}", "Events delivered, by what became of them.")
	m.refusals = counter("restaq.refusals", "{request}", "Webhook requests refused.")
	m.executions = counter("restaq.executions", "{execution}", "Executions that ended: completed, or dead and waiting for a person.")
	m.attempts = counter("restaq.attempts", "{attempt}", "Attempts that ended.")
	m.retries = counter("restaq.retries", "{attempt}", "Failed attempts that another one follows.")
	m.takeovers = counter("restaq.takeovers", "{attempt}", "Attempts begun for one that was lost with its process.")
	m.deliveryDuration = duration("restaq.delivery.duration", "Time to store an event.", workBounds)
	m.attemptDuration = duration("restaq.attempt.duration", "Time from an attempt's begin to its recorded end.", workBounds)
	m.stepDuration = duration("restaq.step.duration", "Time of a step's call, its record included.", workBounds)
	m.storeDuration = duration("restaq.store.duration", "Time of a call of the store.", storeBounds)
	m.queueAge = duration("restaq.queue.age", "Time from an event's reception to the begin of its first attempt.", queueBounds)
	h, err := meter.Int64Histogram("restaq.commit.writes", metric.WithUnit("{write}"), metric.WithDescription("Writes that share a commit of the store."), metric.WithExplicitBucketBoundaries(writeBounds...))
	m.commitWrites = h
	return errors.Join(append(errs, err)...)
}

// Commit implements restaq.Observer.
func (o *Observer) Commit(writes int) { o.commitWrites.Record(context.Background(), int64(writes)) }
