package main

import (
	"context"
	"errors"

	"github.com/restaq/restaq/runtime"
)

//go:generate go tool restaqgen

// chargeSucceeded books a charge.
//
//restaq:on stripe.charge.succeeded
func chargeSucceeded(ctx context.Context, event restaq.Event) error {
	return bookStep(ctx, event.ID)
}

// book puts a charge into the books, which refuse the event "evt_bad".
//
//restaq:step attempts=1
func book(_ context.Context, eventID string) error {
	if eventID == "evt_bad" {
		return restaq.Permanent(errBooks)
	}
	return nil
}

var errBooks = errors.New("the books are closed")
