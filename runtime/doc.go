// Package restaq runs typed webhook workflows. Each event is handled once, each
// finished step is never run again, and everything that happened can be read
// afterwards.
//
// Handlers and steps are plain functions marked with //restaq:on and
// //restaq:step; the command restaqgen, run by go generate, writes the wrappers
// that speak to this package. A program opens a store, registers its handlers,
// mounts a webhook endpoint and runs:
//
//	store, err := sqlite.Open("restaq.db") // or postgres.Open, or memory.New
//	rt, err := restaq.New(store, restaq.Config{})
//	err = billing.RegisterHandlers(rt) // generated
//	mux.Handle("POST /webhooks/stripe", rt.Webhook(webhook.Stripe(secret)))
//	err = rt.Run(ctx)
//
// # Deliveries
//
// A delivered event is looked up by source and id; if it is new, one atomic
// insert stores it with an execution for each subscribed handler. The insert
// decides every race, within a process and between processes.
//
// # Attempts and steps
//
// An execution is worked on in attempts, one at a time. A handler calls its
// steps through their wrappers. What a step returned is recorded before its
// wrapper returns; later attempts get the record and skip the step. A failed
// step ends its attempt, unless the handler goes on without it, and runs again
// in the next attempt. See Status for the states of an execution.
//
// # Failures
//
//   - A handler's error fails its attempt; another follows after a backoff,
//     until the budget of attempts is used up or the error is Permanent. Then
//     the execution is dead and waits for a person: Retry, Restart, Replay or
//     Cancel.
//   - A panic is a failed step or attempt with its stack recorded.
//   - A process that stops finishes its attempts or gives them back: they cost
//     no budget. One that crashes loses its leases when they run out; any
//     process then takes the executions over, and the lost attempts count.
//   - A store out of reach costs no work: a finished step's record is written
//     once the store is back, if nobody has taken the execution over. What the
//     lease's fencing token refuses is never written.
//   - A crash between a side effect and its record repeats that one step: hand
//     IdempotencyKey to the outside system.
package restaq
