// Package evolve has been renamed and changed, rightly and wrongly.
package evolve

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
)

type (
	PaymentV1 struct{ Amount int }
	PaymentV2 struct{ Total int }
	Payment   struct{ Cents int }
)

//restaq:step
//restaq:was pay
//restaq:was take-payment
func charge(ctx context.Context) (Payment, error) { return Payment{}, nil }

//restaq:convert charge
func paymentFromV1(old PaymentV1) (Payment, error) { return Payment{old.Amount * 100}, nil }

//restaq:convert charge
func paymentFromV2(old PaymentV2) (Payment, error) { return Payment{old.Total}, nil }

//restaq:on acme.paid
//restaq:was shop.Paid pay
func Charged(ctx context.Context, event restaq.Event) error { return nil }
