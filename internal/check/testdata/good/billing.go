// Package good has everything that is supported.
package good

import (
	"context"
	"database/sql"
	"time"

	"github.com/restaq/restaq/schemas/stripe"
)

type Billing struct{ db *sql.DB }

type Payment struct {
	ID     string
	Amount int64
}

type Page[T any] struct{ Items []T }

//restaq:event acme.order.shipped
type OrderShipped struct{ ID string }

//restaq:on stripe.charge.succeeded attempts=5 backoff=1s..10m timeout=1m name=billing.charge
func (b *Billing) ChargeSucceeded(ctx context.Context, event stripe.ChargeSucceeded) error {
	return nil
}

//restaq:step
func (b *Billing) recordPayment(ctx context.Context, charge stripe.Charge) (Payment, error) {
	return Payment{}, nil
}

//restaq:step attempts=20 backoff=1s..10m timeout=10s pure
func (b Billing) sendHTTPV2(c context.Context, customer string, amount int64) error { return nil }

//restaq:step generic-types
func (*Billing) pages(_ context.Context, in Page[Payment]) (*Page[map[string]time.Time], error) {
	return nil, nil
}

//restaq:step
func (b *Billing) unnamed(context.Context, string, int) error { return nil }

//restaq:step
func (b *Billing) blank(ctx context.Context, _ string, _ int, arg1 bool) error { return nil }

//restaq:step
func (sql *Billing) shadows(context context.Context, stripe string, err string, in int, unnamedIn bool) (string, error) {
	return "", nil
}
