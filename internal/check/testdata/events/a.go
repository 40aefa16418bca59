// Package events has handlers whose parameter does not fit their event types,
// and some whose does.
package events

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"
	"github.com/restaq/restaq/schemas/stripe"
)

type Own struct{ ID string }

//restaq:event acme.order.shipped
type OrderShipped struct{ ID string }

//restaq:event acme.order.placed
type OrderPlaced struct{ Notify chan int }

//restaq:event acme.order.returned
type NoStruct string

//restaq:event acme.order.returned
type Generic[P any] struct{ V P }

//restaq:event acme.order.returned
type Alias = Own

//restaq:event acme.order.shipped
type Second struct{ ID string }

type Hooks struct{}

//restaq:on stripe.charge.failed
func (Hooks) otherEvent(ctx context.Context, e stripe.ChargeSucceeded) error { return nil }

//restaq:on stripe.charge.succeeded stripe.charge.failed
func (Hooks) twoForOne(ctx context.Context, e stripe.ChargeSucceeded) error { return nil }

//restaq:on stripe.*
func (Hooks) wildcardForOne(ctx context.Context, e stripe.ChargeSucceeded) error { return nil }

//restaq:on stripe.charge.succeeded
func (Hooks) partOfEvent(ctx context.Context, e *stripe.Charge) error { return nil }

//restaq:on stripe.charge.suceeded
func (Hooks) misspelt(ctx context.Context, e stripe.ChargeSucceeded) error { return nil }

//restaq:on acme.order.shipped
func (Hooks) ownPackage(ctx context.Context, e stripe.ChargeSucceeded) error { return nil }

//restaq:on github.pull_request.opened github.push
func (Hooks) notInFamily(ctx context.Context, e github.PullRequestEvent) error { return nil }

//restaq:on github.*
func (Hooks) wildcardBeyondFamily(ctx context.Context, e github.PullRequestEvent) error { return nil }

//restaq:on github.pull_request.opend
func (Hooks) unknownInFamily(ctx context.Context, e github.PullRequestEvent) error { return nil }

//restaq:on github.pull_request.opened github.pull_request.closed
func (Hooks) familyNeeded(ctx context.Context, e github.PullRequestOpened) error { return nil }

//restaq:on github.pull_request.*
func (Hooks) familyNeededForWildcard(ctx context.Context, e github.PullRequestOpened) error {
	return nil
}

//restaq:on github.push
func (Hooks) anything(ctx context.Context, e any) error { return nil }

//restaq:on github.push
func (Hooks) text(ctx context.Context, e string) error { return nil }

//restaq:on github.push
func (Hooks) table(ctx context.Context, e map[string]any) error { return nil }

//restaq:on github.push
func (Hooks) pointerToRaw(ctx context.Context, e *restaq.Event) error { return nil }

//restaq:on github.pull_request.*
func (Hooks) pointerToFamily(ctx context.Context, e *github.PullRequestEvent) error { return nil }

//restaq:on a.b
func (Hooks) ownWithChannel(ctx context.Context, e struct{ C chan int }) error { return nil }

// These are all in order.

//restaq:on stripe.charge.succeeded
func (Hooks) One(ctx context.Context, e stripe.ChargeSucceeded) error { return nil }

//restaq:on stripe.charge.succeeded
func (Hooks) Pointer(ctx context.Context, e *stripe.ChargeSucceeded) error { return nil }

//restaq:on github.pull_request.opened github.pull_request.closed
func (Hooks) Family(ctx context.Context, e github.PullRequestEvent) error { return nil }

//restaq:on github.pull_request.*
func (Hooks) FamilyWildcard(ctx context.Context, e github.PullRequestEvent) error { return nil }

//restaq:on *
func (Hooks) Everything(ctx context.Context, e restaq.Event) error { return nil }

//restaq:on github.pull_request.closed stripe.*
func (Hooks) OwnStruct(ctx context.Context, e Own) error { return nil }

//restaq:on a.b
func (Hooks) OwnPointer(ctx context.Context, e *Own) error { return nil }

//restaq:on a.b
func (Hooks) Unnamed(ctx context.Context, e struct{ ID string }) error { return nil }

//restaq:on acme.order.shipped
func (Hooks) OwnEvent(ctx context.Context, e OrderShipped) error { return nil }
