// Events: every kind of event parameter.
package main

import (
	"context"

	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"
	"github.com/restaq/restaq/schemas/stripe"
)

// Shipped is the payload of an event type of the program's own.
//
//restaq:event acme.order.shipped
type Shipped struct {
	Order string `json:"order"`
}

// Any is decoded from several types' payloads.
type Any struct {
	Order string `json:"order"`
}

type Desk struct{}

//restaq:on stripe.charge.succeeded "order=event.Data.Object.ID"
func (d *Desk) Charge(ctx context.Context, event stripe.ChargeSucceeded) error {
	play.Say("charge", event.Data.Object.ID)
	return nil
}

//restaq:on stripe.charge.failed
func (d *Desk) Failed(ctx context.Context, event *stripe.ChargeFailed) error {
	play.Say("failed", event.Data.Object.ID)
	return nil
}

//restaq:on github.pull_request.opened github.pull_request.closed
func (d *Desk) PullRequest(ctx context.Context, event github.PullRequestEvent) error {
	if opened, ok := event.(github.PullRequestOpened); ok {
		play.Say("opened", opened.Number)
	}
	same, err := d.passStep(ctx, event, nil)
	if closed, ok := same.(github.PullRequestClosed); ok {
		play.Say("closed", closed.Number)
	}
	return err
}

// pass takes and returns an event of a family.
//
//restaq:step
func (d *Desk) pass(ctx context.Context, event, none github.PullRequestEvent) (github.PullRequestEvent, error) {
	play.Say("passing", none == nil)
	return event, nil
}

//restaq:on acme.order.shipped
func (d *Desk) Shipped(ctx context.Context, event Shipped) error {
	play.Say("shipped", event.Order)
	return nil
}

//restaq:on acme.order.shipped acme.order.returned
func (d *Desk) Any(ctx context.Context, event Any) error {
	play.Say("any", event.Order)
	return nil
}

//restaq:on acme.* github.push
func (d *Desk) Raw(ctx context.Context, event restaq.Event) error {
	play.Say("raw", event.Type, string(event.Payload))
	return nil
}

func main() {
	var desk Desk
	play.Run([]func(*restaq.Runtime) error{desk.RegisterHandlers},
		play.Event("stripe.charge.succeeded", `{"type":"charge.succeeded","data":{"object":{"id":"ch_1"}}}`),
		play.Event("stripe.charge.failed", `{"type":"charge.failed","data":{"object":{"id":"ch_2"}}}`),
		play.Event("github.pull_request.opened", `{"action":"opened","number":1}`),
		play.Event("github.pull_request.closed", `{"action":"closed","number":2}`),
		play.Event("acme.order.shipped", `{"order":"A1"}`),
		play.Event("acme.order.returned", `{"order":"A2"}`),
		play.Event("acme.order.paid.late", `{"order":"A3"}`),
	)
}
