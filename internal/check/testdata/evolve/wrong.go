package evolve

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
)

//restaq:step
//restaq:was own
func own(ctx context.Context) error { return nil }

//restaq:step
//restaq:was charge
func another(ctx context.Context) error { return nil }

//restaq:step
//restaq:was pay Upper
func third(ctx context.Context) error { return nil }

//restaq:on acme.paid order=event.ID
//restaq:was old.Ordered
func Ordered(ctx context.Context, event restaq.Event) error { return nil }

//restaq:on acme.paid
//restaq:was evolve.Charged
func Again(ctx context.Context, event restaq.Event) error { return nil }

//restaq:convert chrage
func toNothing(old PaymentV1) (Payment, error) { return Payment{}, nil }

//restaq:step
func plain(ctx context.Context) error { return nil }

//restaq:convert plain
func toNone(old PaymentV1) (Payment, error) { return Payment{}, nil }

//restaq:convert charge
func toOther(old PaymentV1) (PaymentV2, error) { return PaymentV2{}, nil }

//restaq:convert charge
func toSame(old Payment) (Payment, error) { return old, nil }

//restaq:convert charge
func twice(old PaymentV1) (Payment, error) { return Payment{}, nil }

//restaq:convert charge
func (Payment) method(old PaymentV1) (Payment, error) { return Payment{}, nil }

//restaq:convert charge
func many(ctx context.Context, old PaymentV1) (Payment, error) { return Payment{}, nil }

//restaq:convert charge
func noError(old PaymentV1) Payment { return Payment{} }

//restaq:convert charge
func channel(old chan int) (Payment, error) { return Payment{}, nil }

//restaq:convert charge
func generic[T any](old T) (Payment, error) { return Payment{}, nil }
