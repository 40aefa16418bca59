// Package conditions calls steps where they are easily missed.
package conditions

import "context"

type Order struct {
	ID   string
	Paid bool
}

//restaq:on shop.order.placed
func hidden(ctx context.Context, order Order) error {
	if order.Paid && shipStep(ctx, order.ID) == nil || refundStep(ctx, order.ID) == nil {
		order.Paid = false
	}
	switch {
	case notifyStep(ctx, "a") == nil:
		order.ID = "a"
	case notifyStep(ctx, "b") == nil:
		return shipStep(ctx, "b")
	}
	switch n, err := bookStep(ctx, order.ID); {
	case err != nil:
		return err
	case n > 1:
		return nil
	}
	items := []int{first(bookStep(ctx, "x")), first(bookStep(ctx, "y"))}
	m := map[string]error{"z": shipStep(ctx, "z")}
	m[text(notifyStep(ctx, "i"))] = shipStep(ctx, "v")
	c := make(chan error, 1)
	c <- shipStep(ctx, "sent")
	var n, err = bookStep(ctx, "declared")
	_, _, _ = items, n, err
	return nil
}

func first(n int, err error) int { return n }

func text(err error) string { return "" }

//restaq:step key=id
func book(ctx context.Context, id string) (int, error) { return 0, nil }

//restaq:step key=id
func ship(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func notify(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func refund(ctx context.Context, id string) error { return nil }
