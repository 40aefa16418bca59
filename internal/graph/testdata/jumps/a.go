// Package jumps goes where it likes.
package jumps

import (
	"context"
	"log"
)

type Order struct {
	ID    string
	Tries int
}

//restaq:on shop.order.placed
func again(ctx context.Context, order Order) error {
	tries := 0
retry:
	if err := shipStep(ctx, order.ID); err != nil {
		if tries++; tries < order.Tries {
			goto retry
		}
		goto failed
	}
	return notifyStep(ctx, order.ID)
failed:
	return refundStep(ctx, order.ID)
}

//restaq:on shop.order.placed
func forward(ctx context.Context, order Order) error {
	if order.Tries == 0 {
		goto end
	}
	if err := shipStep(ctx, order.ID); err != nil {
		return err
	}
end:
	return notifyStep(ctx, order.ID)
}

//restaq:on shop.order.placed
func dead(ctx context.Context, order Order) error {
	if order.Tries > 3 {
		panic("cannot be: " + order.ID)
	}
	switch order.ID {
	case "":
		log.Fatalf("no id")
	default:
		return notifyStep(ctx, order.ID)
	}
	return refundStep(ctx, order.ID)
}

//restaq:step key=id
func book(ctx context.Context, id string) (int, error) { return 0, nil }

//restaq:step key=id
func ship(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func notify(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func refund(ctx context.Context, id string) error { return nil }
