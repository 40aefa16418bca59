// Package other calls steps of another package.
package other

import (
	"context"

	"github.com/restaq/restaq/internal/graph/testdata/other/desk"
)

type Order struct{ ID string }

var bells desk.Bell[string]

//restaq:on shop.order.placed
func (f *Front) opened(ctx context.Context, order Order) error {
	if err := desk.GreetStep(ctx, order.ID); err != nil {
		return err
	}
	if err := f.desk.RingStep(ctx); err != nil {
		return err
	}
	if err := bells.TollStep(ctx); err != nil {
		return err
	}
	return desk.Helper(ctx)
}

type Front struct{ desk *desk.Desk }
