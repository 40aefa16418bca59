// Package loops is full of them.
package loops

import "context"

type Order struct {
	ID    string
	Lines []string
	Rest  map[string][]string
}

//restaq:on shop.order.placed
func each(ctx context.Context, order Order) error {
	for _, line := range order.Lines {
		if line == "" {
			continue
		}
		if err := shipStep(ctx, line); err != nil {
			return err
		}
	}
	for _, line := range order.Lines {
		order.ID += line // no step: no loop of the graph
	}
	return notifyStep(ctx, order.ID)
}

//restaq:on shop.order.placed
func counted(ctx context.Context, order Order) error {
	for i := 0; i < len(order.Lines); i++ {
		if _, err := bookStep(ctx, order.Lines[i]); err != nil {
			break
		}
	}
	for range order.Lines {
		if err := notifyStep(ctx, order.ID); err != nil {
			return err
		}
	}
	for {
		n, err := bookStep(ctx, order.ID)
		if err != nil {
			return err
		}
		if n > 3 {
			return nil
		}
	}
}

//restaq:on shop.order.placed
func nested(ctx context.Context, order Order) error {
outer:
	for id, lines := range order.Rest {
		for _, line := range lines {
			if line == id {
				continue outer
			}
			if line == "end" {
				break outer
			}
			switch line {
			case "last":
				break
			case "next":
				continue
			default:
				if err := shipStep(ctx, line); err != nil {
					return err
				}
			}
		}
		if err := notifyStep(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

//restaq:on shop.order.placed
func polled(ctx context.Context, order Order) error {
	for n, err := bookStep(ctx, order.ID); n < 3 && shipStep(ctx, order.ID) == nil; n++ {
		if err != nil {
			return err
		}
	}
	for found(ctx, order) {
		order.ID = ""
	}
	return nil
}

func found(ctx context.Context, order Order) bool { return refundStep(ctx, order.ID) == nil }

//restaq:step key=id
func book(ctx context.Context, id string) (int, error) { return 0, nil }

//restaq:step key=id
func ship(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func notify(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func refund(ctx context.Context, id string) error { return nil }
