// Package codecs is what the codecs' rows measure: generated codecs of two
// provider events and of a step's output.
package codecs

//go:generate go run ./twingen -o twin/twin_gen.go
//go:generate go tool restaqgen -fuzz

import (
	"context"

	"github.com/restaq/restaq/bench/codecs/twin"
	"github.com/restaq/restaq/schemas/github"
	"github.com/restaq/restaq/schemas/stripe"
)

//restaq:step
func receipt(context.Context, github.PullRequestOpened, stripe.ChargeSucceeded) (Receipt, error) {
	return Receipt{}, nil
}

//restaq:step
func twins(context.Context, twin.PullRequestOpened, twin.StripeChargeSucceeded) error { return nil }
