// Package otel makes OpenTelemetry traces and metrics of what a restaq runtime
// does. It stands on OpenTelemetry's API alone: which SDK and exporters are
// behind it is the program's choice.
//
//	observer, err := otel.New(otel.Config{})
//	rt, err := restaq.New(store, restaq.Config{Observer: observer})
//
// # Traces
//
// A delivery's span continues the trace of the request, and its context is
// stored with the event, in the header Traceparent. What the event causes, in
// whatever process and however much later, belongs to that trace:
//
//	deliver stripe.charge.succeeded            producer
//	├── attempt billing.Billing.ChargeSucceeded    consumer; links to earlier attempts
//	│   ├── step record-payment                    internal
//	│   └── step send-receipt
//	├── attempt billing.Billing.ChargeSucceeded
//	│   └── …
//	└── execution billing.Billing.ChargeSucceeded  internal; links to its attempts
//
// The span of an execution is made when it ends, by the process that ends it,
// and begins when the event was received. Steps that are answered from a record
// are events of the attempt's span. A function's own spans are children of its
// step.
//
// # Metrics
//
// Durations are in seconds. Names and attributes are stable.
//
//	restaq.deliveries          counter    source, provider, result: accepted, duplicate, unhandled, failed
//	restaq.refusals            counter    source, provider, status
//	restaq.delivery.duration   histogram  source, provider, result
//	restaq.executions          counter    handler, outcome: completed, dead
//	restaq.attempts            counter    handler, outcome: completed, failed, interrupted, released, unrecorded
//	restaq.attempt.duration    histogram  handler, outcome
//	restaq.retries             counter    handler: attempts that another one follows
//	restaq.takeovers           counter    handler: attempts begun for one that was lost with its process
//	restaq.queue.age           histogram  handler: from reception to the begin of the first attempt
//	restaq.step.duration       histogram  handler, step, status: completed, failed, permanent, skipped, unrecorded
//	restaq.commit.writes       histogram  writes that share a commit of the store
//	restaq.store.duration      histogram  method, error: true or false
//
// Attributes bear the prefix "restaq.". An execution that is cancelled is in no
// count: nobody runs it then.
//
// Errors, event ids and execution ids are on spans; payloads, inputs and
// outputs are nowhere.
package otel
