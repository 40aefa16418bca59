package good

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
)

type shipping struct{}

// The function has the name of one of another receiver: both stems say whose
// they are.
//
//restaq:step name=shipping-unnamed
func (s shipping) unnamed(ctx context.Context, id string) error { return nil }

//restaq:on acme.order.shipped
func (restaq *shipping) Shipped(ctx context.Context, time OrderShipped) error { return nil }

//restaq:on *
func All(_ context.Context, _ restaq.Event) error { return nil }

// The names that the step's parts would have are taken.
//
//restaq:step
func Notify(ctx context.Context, id string) error { return nil }

var notifyDef, notify2In int
