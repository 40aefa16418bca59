// Package branches is full of them.
package branches

import "context"

type Order struct {
	ID      string
	Paid    bool
	Country string
	Payload any
}

//restaq:on shop.order.placed
func simple(ctx context.Context, order Order) error {
	if order.Paid {
		if err := shipStep(ctx, order.ID); err != nil {
			return err
		}
	}
	return notifyStep(ctx, order.ID)
}

//restaq:on shop.order.placed
func chain(ctx context.Context, order Order) error {
	if order.Paid {
		if err := shipStep(ctx, order.ID); err != nil {
			return err
		}
	} else if order.Country == "AQ" {
		order.Country = "nothing to see here"
	} else if total, err := bookStep(ctx, order.ID); err != nil {
		return err
	} else if total > 1000 {
		if err := refundStep(ctx, order.ID); err != nil {
			return err
		}
	}
	return notifyStep(ctx, order.ID)
}

//restaq:on shop.order.placed
func switches(ctx context.Context, order Order) error {
	switch order.Country {
	case "DE", "FR":
		if err := shipStep(ctx, order.ID); err != nil {
			return err
		}
		fallthrough
	case "GB":
		if order.Paid {
			break
		}
		if err := notifyStep(ctx, order.ID); err != nil {
			return err
		}
	case "XX":
		return nil
	}
	switch payload := order.Payload.(type) {
	case string:
		_, err := bookStep(ctx, payload)
		return err
	case nil:
		return nil
	default:
		return refundStep(ctx, order.ID)
	}
}

//restaq:on shop.order.placed
func selects(ctx context.Context, order Order) error {
	c := make(chan string)
	select {
	case id := <-c:
		if err := shipStep(ctx, id); err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case order.Paid: // nothing that matters
		order.Paid = false
	default:
		order.Paid = true
	}
	return notifyStep(ctx, order.ID)
}

//restaq:step key=id
func book(ctx context.Context, id string) (int, error) { return 0, nil }

//restaq:step key=id
func ship(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func notify(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func refund(ctx context.Context, id string) error { return nil }
