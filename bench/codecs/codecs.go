// Package codecs is what the codecs' rows measure: generated codecs of two
// provider events and of a step's output.
package codecs

//go:generate go tool restaqgen -fuzz
//go:generate go run ./twingen -o twin/twin_gen.go

import (
	"context"
	"time"

	"github.com/restaq/restaq/bench/codecs/twin"
	"github.com/restaq/restaq/schemas/github"
	"github.com/restaq/restaq/schemas/stripe"
)

// Receipt is a step's output of some 200 bytes.
type Receipt struct {
	ChargeID string    `json:"charge_id"`
	Customer string    `json:"customer"`
	Amount   int64     `json:"amount"`
	Fee      int64     `json:"fee"`
	Currency string    `json:"currency"`
	Paid     bool      `json:"paid"`
	Lines    []Line    `json:"lines"`
	Note     string    `json:"note,omitempty"`
	At       time.Time `json:"at"`
}

// Line is a line of a receipt.
type Line struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity"`
}

//restaq:step
func receipt(context.Context, github.PullRequestOpened, stripe.ChargeSucceeded) (Receipt, error) {
	return Receipt{}, nil
}

//restaq:step
func twins(context.Context, twin.PullRequestOpened, twin.StripeChargeSucceeded) error { return nil }
