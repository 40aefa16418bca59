package otel

import (
	"context"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	restaq "github.com/restaq/restaq/runtime"
)

// wire is the form in which a span's context is stored.
var wire propagation.TraceContext

// Delivery implements restaq.Observer. The span's context goes into the
// event's header.
func (o *Observer) Delivery(ctx context.Context, e *restaq.Event) (context.Context, func(*restaq.Receipt, error)) {
	begun := time.Now()
	parent := ctx
	if !trace.SpanContextFromContext(ctx).IsValid() { // nobody has read the request's yet
		parent = wire.Extract(ctx, propagation.HeaderCarrier(e.Header))
	}
	inner, span := o.tracer.Start(parent, "deliver "+e.Type, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(eventAttributes(e)...))
	if span.SpanContext().IsValid() {
		header := e.Header.Clone()
		if header == nil {
			header = http.Header{}
		}
		wire.Inject(inner, propagation.HeaderCarrier(header))
		e.Header = header
	}
	return inner, func(r *restaq.Receipt, err error) {
		result := "accepted"
		switch {
		case err != nil:
			result = "failed"
			fail(span, err.Error())
		case r.Duplicate:
			result = "duplicate"
		case len(r.Executions) == 0:
			result = "unhandled"
		}
		span.SetAttributes(attribute.String("restaq.result", result))
		span.End()
		of := metric.WithAttributes(attribute.String("restaq.source", e.Source), attribute.String("restaq.provider", e.Provider), attribute.String("restaq.result", result))
		o.deliveries.Add(ctx, 1, of)
		o.deliveryDuration.Record(ctx, time.Since(begun).Seconds(), of)
	}
}

// Refused implements restaq.Observer.
func (o *Observer) Refused(ctx context.Context, r *restaq.Refusal) {
	o.refusals.Add(ctx, 1, metric.WithAttributes(
		attribute.String("restaq.source", r.Source), attribute.String("restaq.provider", r.Provider), attribute.Int("restaq.status", r.Status)))
}

// Attempt implements restaq.Observer. The trace that it returns is the span's
// context in the form of the header traceparent.
func (o *Observer) Attempt(ctx context.Context, a *restaq.AttemptStart) (context.Context, string, func(*restaq.AttemptEnd)) {
	parent := wire.Extract(ctx, propagation.HeaderCarrier(a.Event.Header))
	links := linksTo(a.Traces)
	inner, span := o.tracer.Start(parent, "attempt "+a.Handler, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithLinks(links...),
		trace.WithAttributes(append(eventAttributes(a.Event),
			attribute.String("restaq.execution", a.Execution), attribute.String("restaq.handler", a.Handler),
			attribute.Int("restaq.attempt", a.Attempt), attribute.String("restaq.kind", a.Kind.String()), attribute.Bool("restaq.takeover", a.TookOver))...))
	handler := attribute.String("restaq.handler", a.Handler)
	if a.Attempt == 1 && !a.Event.ReceivedAt.IsZero() {
		o.queueAge.Record(ctx, max(0, time.Since(a.Event.ReceivedAt).Seconds()), metric.WithAttributes(handler))
	}
	if a.TookOver {
		o.takeovers.Add(ctx, 1, metric.WithAttributes(handler))
	}
	return inner, traceOf(inner), func(e *restaq.AttemptEnd) { o.attemptEnded(parent, inner, span, links, e) }
}

// attemptEnded ends the span of an attempt and, if it was the last, makes that
// of the execution.
func (o *Observer) attemptEnded(parent, inner context.Context, span trace.Span, earlier []trace.Link, e *restaq.AttemptEnd) {
	outcome := string(e.Outcome)
	switch {
	case e.Err != nil:
		outcome = "unrecorded"
		fail(span, e.Err.Error())
	case e.Error != "":
		fail(span, e.Error)
	}
	span.SetAttributes(attribute.String("restaq.outcome", outcome), attribute.String("restaq.step", e.Step))
	span.End()
	handler := attribute.String("restaq.handler", e.Handler)
	of := metric.WithAttributes(handler, attribute.String("restaq.outcome", outcome))
	o.attempts.Add(inner, 1, of)
	o.attemptDuration.Record(inner, e.Took.Seconds(), of)
	switch {
	case e.RetryIn > 0:
		o.retries.Add(inner, 1, metric.WithAttributes(handler))
	case e.Dead:
		o.executionEnded(parent, span, earlier, e, "dead")
	case e.Status == restaq.Completed && e.Outcome == restaq.AttemptCompleted:
		o.executionEnded(parent, span, earlier, e, "completed")
	}
}

func (o *Observer) executionEnded(parent context.Context, last trace.Span, earlier []trace.Link, e *restaq.AttemptEnd, outcome string) {
	handler, result := attribute.String("restaq.handler", e.Handler), attribute.String("restaq.outcome", outcome)
	o.executions.Add(parent, 1, metric.WithAttributes(handler, result))
	links := append(earlier[:len(earlier):len(earlier)], trace.Link{SpanContext: last.SpanContext()})
	options := []trace.SpanStartOption{trace.WithLinks(links...), trace.WithAttributes(append(eventAttributes(e.Event),
		attribute.String("restaq.execution", e.Execution), handler, result, attribute.Int("restaq.attempts", e.Attempt))...)}
	if !e.Event.ReceivedAt.IsZero() {
		options = append(options, trace.WithTimestamp(e.Event.ReceivedAt))
	}
	_, span := o.tracer.Start(parent, "execution "+e.Handler, options...)
	if outcome == "dead" {
		fail(span, e.Error)
	}
	span.End()
}

// Step implements restaq.Observer.
func (o *Observer) Step(ctx context.Context, s *restaq.StepStart) (context.Context, func(*restaq.StepEnd)) {
	attempt := trace.SpanFromContext(ctx)
	inner, span := ctx, trace.Span(nil)
	if !s.Recorded {
		inner, span = o.tracer.Start(ctx, "step "+s.Step, trace.WithAttributes(
			attribute.String("restaq.execution", s.Execution), attribute.String("restaq.handler", s.Handler),
			attribute.Int("restaq.attempt", s.Attempt), attribute.String("restaq.step", s.Step), attribute.String("code.function.name", s.Func)))
	}
	return inner, func(e *restaq.StepEnd) {
		status := string(e.Status)
		if status == "" {
			status = "unrecorded"
		}
		if span == nil {
			attempt.AddEvent("step "+s.Step, trace.WithAttributes(attribute.String("restaq.status", status)))
		} else {
			if e.Err != nil {
				fail(span, e.Err.Error())
			}
			span.SetAttributes(attribute.String("restaq.status", status))
			span.End()
		}
		o.stepDuration.Record(inner, e.Took.Seconds(), metric.WithAttributes(
			attribute.String("restaq.handler", s.Handler), attribute.String("restaq.step", s.Step), attribute.String("restaq.status", status)))
	}
}

// Store implements restaq.Observer.
func (o *Observer) Store(ctx context.Context, method string) func(error) {
	begun := time.Now()
	return func(err error) {
		o.storeDuration.Record(ctx, time.Since(begun).Seconds(), metric.WithAttributes(
			attribute.String("restaq.method", method), attribute.Bool("restaq.error", err != nil)))
	}
}

func eventAttributes(e *restaq.Event) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("restaq.event.id", e.ID), attribute.String("restaq.event.type", e.Type),
		attribute.String("restaq.source", e.Source), attribute.String("restaq.provider", e.Provider),
	}
}

// fail marks a span as failed, with the first line of the error.
func fail(span trace.Span, text string) {
	line, _, _ := strings.Cut(text, "\n")
	span.SetStatus(codes.Error, strings.ToValidUTF8(line, "\uFFFD"))
}

// traceOf returns the context of ctx's span as text, "" if it has none.
func traceOf(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	wire.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// linksTo returns links to spans by their contexts' text.
func linksTo(traces []string) []trace.Link {
	var links []trace.Link
	for _, text := range traces {
		ctx := wire.Extract(context.Background(), propagation.MapCarrier{"traceparent": text})
		if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
			links = append(links, trace.Link{SpanContext: sc})
		}
	}
	return links
}
