// Package work keeps what it is given, or does not.
package work

import "context"

var last context.Context

// Queue keeps jobs.
type Queue struct {
	ctx  context.Context
	jobs chan func()
	seen []context.Context
}

// Keep stores the context in the queue.
func (q *Queue) Keep(ctx context.Context) { q.ctx = ctx } // want Keep:"Queue.Keep is stored in q.ctx, which outlives it"

// Add hands the job to others.
func (q *Queue) Add(job func()) { q.jobs <- job } // want Add:"Queue.Add is sent on the channel q.jobs"

// Remember stores the context through another function.
func Remember(ctx context.Context) { remember(context.WithValue(ctx, 1, 2)) } // want Remember:"Remember → remember is stored in last, which outlives it"

func remember(ctx context.Context) { last = ctx } // want remember:"remember is stored in last"

// With returns a queue with the context.
func With(ctx context.Context) *Queue { return &Queue{ctx: ctx} } // want With:"With is stored in"

// Do uses the context while it runs.
func Do(ctx context.Context, f func(context.Context) error) error { return f(ctx) }

// Params are what a client's call takes.
type Params struct{ Context context.Context }

// Set stores the context in the parameters.
func (p *Params) Set(ctx context.Context) { p.Context = ctx } // want Set:"Params.Set is stored in p.Context"

// Call uses the parameters while it runs.
func Call(p *Params) error { return p.Context.Err() }
