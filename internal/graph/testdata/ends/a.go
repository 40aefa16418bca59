// Package ends returns early, with and without errors.
package ends

import (
	"context"
	"errors"
	"fmt"

	restaq "github.com/restaq/restaq/runtime"
)

type Order struct {
	ID   string
	Sum  int
	Free bool
}

var ErrFrozen = errors.New("frozen")

//restaq:on shop.order.placed shop.order.changed order=order.ID attempts=5 backoff=1s..2h timeout=1m30s
func early(ctx context.Context, order Order) error {
	if order.Free {
		return nil
	}
	if order.Sum < 0 {
		return restaq.Permanent(errors.New("a negative sum"))
	}
	if err := check(order); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	n, err := bookStep(ctx, order.ID)
	if errors.Is(err, ErrFrozen) {
		return nil
	}
	if err != nil {
		return restaq.Permanent(fmt.Errorf("book: %w", err))
	}
	if n == 0 {
		return ErrFrozen
	}
	if err := shipStep(ctx, order.ID); err != nil {
		if err := refundStep(ctx, order.ID); err != nil {
			return err
		}
		return err
	}
	_ = notifyStep(ctx, order.ID)
	return nil
}

func check(order Order) error { return nil }

//restaq:on shop.order.placed
func joined(ctx context.Context, order Order) error {
	_, err := bookStep(ctx, order.ID)
	if order.Free {
		err = shipStep(ctx, order.ID)
	}
	if err != nil {
		return err
	}
	var errs []error
	errs = append(errs, notifyStep(ctx, order.ID), refundStep(ctx, order.ID))
	return errors.Join(errs...)
}

//restaq:on shop.order.placed
func nothing(ctx context.Context, order Order) error { return nil }

//restaq:on shop.order.placed
func both(ctx context.Context, order Order) error {
	if order.Free {
		return notifyStep(ctx, order.ID)
	} else {
		return shipStep(ctx, order.ID)
	}
}

//restaq:step pure
func book(ctx context.Context, id string) (int, error) { return 0, nil }

//restaq:step
func ship(ctx context.Context, id string) error { return nil }

//restaq:step
func notify(ctx context.Context, id string) error { return nil }

//restaq:step
func refund(ctx context.Context, id string) error { return nil }
