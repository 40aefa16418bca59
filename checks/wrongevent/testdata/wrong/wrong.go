// Package wrong has handlers that restaqgen refuses.
package wrong

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"
	"github.com/restaq/restaq/schemas/stripe"
)

//restaq:event acme.order.shipped
type OrderShipped struct{ ID string }

type Hooks struct{}

type Alias = stripe.ChargeSucceeded

//restaq:on stripe.charge.failed
func (Hooks) other(ctx context.Context, e stripe.ChargeSucceeded) error { return nil } // want `handler wrong.Hooks.other: takes stripe.ChargeSucceeded, which is the event stripe.charge.succeeded and not stripe.charge.failed \(wrongevent\)\n\thint: stripe.ChargeFailed fits stripe.charge.failed`

//restaq:on stripe.charge.failed
func alias(ctx context.Context, e *Alias) error { return nil } // want `handler wrong.alias: takes stripe.ChargeSucceeded, which is the event stripe.charge.succeeded and not stripe.charge.failed`

//restaq:on stripe.charge.succeeded stripe.charge.failed
func (*Hooks) two(ctx context.Context, e stripe.ChargeSucceeded) error { return nil } // want `which is the event stripe.charge.succeeded alone, and subscribes to 2 .*\n\thint: stripe.ChargeEvent fits these event types`

//restaq:on acme.order.shipped
func own(ctx context.Context, e stripe.ChargeSucceeded) error { return nil } // want `and not acme.order.shipped \(wrongevent\)\n\thint: OrderShipped fits acme.order.shipped`

//restaq:on github.pull_request.opened github.push
func family(ctx context.Context, e github.PullRequestEvent) error { return nil } // want `takes github.PullRequestEvent, to which github.push does not belong`

//restaq:on github.push
func text(ctx context.Context, e string) error { return nil } // want `takes string, which is no event`

//restaq:on github.push
func raw(ctx context.Context, e *restaq.Event) error { return nil } // want `takes a pointer to the raw event \(wrongevent\)\n\thint: take restaq.Event`

//restaq:on github.push
func three(ctx context.Context, e github.PushEvent, more int) error { return nil } // another matter

// In order.

//restaq:on github.push
func push(ctx context.Context, e github.PushEvent) error { return nil }

//restaq:on github.* stripe.*
func any2(ctx context.Context, e restaq.Event) error { return nil }

//restaq:on stripe.charge.succeeded stripe.charge.failed
func mine(ctx context.Context, e struct{ ID string }) error { return nil }

//restaq:on acme.order.shipped
func shipped(ctx context.Context, e *OrderShipped) error { return nil }

//restaq:on stripe.charge.failed
func silenced(ctx context.Context, e stripe.ChargeSucceeded) error { //restaq:ignore wrongevent both have the members that it reads
	return nil
}
