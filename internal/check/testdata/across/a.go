// Package across takes events and types that another package declares.
package across

import (
	"context"

	"github.com/restaq/restaq/internal/check/testdata/across/orders"
)

//restaq:on acme.order.placed
func Placed(ctx context.Context, e *orders.Placed) error { return nil }

//restaq:on acme.order.cancelled
func Cancelled(ctx context.Context, e orders.Placed) error { return nil }

//restaq:step key=id
func note(ctx context.Context, id orders.ID, secret orders.Secret) (orders.Box[orders.ID], error) {
	return orders.Box[orders.ID]{}, nil
}
