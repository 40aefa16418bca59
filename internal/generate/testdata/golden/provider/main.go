// Provider: a provider of one's own, from a folder of schemas.
package main

//go:generate go run github.com/restaq/restaq/cmd/restaqgen events -provider acme -in schemas -out acme

import (
	"context"

	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
	"github.com/restaq/restaq/internal/generate/testdata/golden/provider/acme"
	restaq "github.com/restaq/restaq/runtime"
)

//restaq:on acme.order.created order=event.ID
func created(ctx context.Context, event acme.OrderCreated) error {
	payment, err := settleStep(ctx, event.Payment)
	if err != nil {
		return err
	}
	if !event.State.Known() {
		play.Say("a state that came later:", event.State)
	}
	play.Say(event.ID, event.Amount, event.Customer.ID(), payment, event.Labels.Extra)
	if err := event.Validate(); err != nil {
		play.Say(err)
	}
	return nil
}

// settle tells how an order is paid.
//
//restaq:step
func settle(ctx context.Context, payment acme.OrderCreatedPayment) (string, error) {
	switch p := payment.Value.(type) {
	case acme.Card:
		return "card " + *p.Last4, nil
	case acme.OrderCreatedPaymentTransfer:
		return "transfer from " + *p.IBAN, nil
	case acme.OrderCreatedPaymentUnknown:
		return string(p.Raw()), nil
	}
	return "nothing", nil
}

//restaq:on acme.order.*
func every(ctx context.Context, event acme.OrderEvent) error {
	if e, ok := event.(acme.OrderCancelled); ok {
		play.Say("cancelled", e.ID, e.Reason.Or("for no reason"), e.Was.State)
	}
	return nil
}

func main() {
	play.Run([]func(*restaq.Runtime) error{RegisterHandlers},
		play.Event("acme.order.created", `{"id":"o1","amount":1200.0,"state":"open","customer":{"id":"c1","referred_by":{"id":"c0"}},"payment":{"kind":"card","last4":"4242"},"labels":{"channel":"web","shelf":7}}`),
		play.Event("acme.order.cancelled", `{"id":"o1","was":{"state":"paid"},"later":[]}`),
	)
	play.Run([]func(*restaq.Runtime) error{RegisterHandlers},
		play.Event("acme.order.created", `{"id":"o2","state":"lost","customer":"c2","payment":{"kind":"barter","goods":["hen"]},"labels":{}}`),
	)
}
