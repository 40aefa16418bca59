// Package calls has steps in functions of all kinds.
package calls

import (
	"context"
	"slices"
	"sync"

	restaq "github.com/restaq/restaq/runtime"
)

type Order struct{ ID string }

// Shop has steps that are methods.
type Shop[T any] struct{ log func(string) }

//restaq:on shop.order.placed
func helpers(ctx context.Context, order Order) error {
	if err := fulfil(ctx, order.ID); err != nil {
		return err
	}
	if ok(order) {
		return nil
	}
	return tree(ctx, order.ID)
}

func fulfil(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	if err := shipStep(ctx, id); err != nil {
		return err
	}
	return notifyStep(ctx, id)
}

func ok(order Order) bool {
	if order.ID == "" {
		return false
	}
	return true
}

func tree(ctx context.Context, id string) error {
	if _, err := bookStep(ctx, id); err != nil {
		return err
	}
	return tree(ctx, id[1:])
}

//restaq:on shop.order.placed
func literals(ctx context.Context, order Order) error {
	send := func(id string) error { return shipStep(ctx, id) }
	if order.ID == "" {
		send = func(id string) error { return refundStep(ctx, id) }
	}
	if err := send(order.ID); err != nil {
		return err
	}
	if err := func() error {
		_, err := bookStep(ctx, order.ID)
		return err
	}(); err != nil {
		return err
	}
	var once sync.Once
	once.Do(func() { _ = notifyStep(ctx, order.ID) })
	sorted := slices.SortedFunc(slices.Values([]string{"b", "a"}), func(a, b string) int {
		_ = shipStep(ctx, a)
		return 0
	})
	return packageLevel(ctx, sorted[0])
}

var packageLevel = func(ctx context.Context, id string) error { return notifyStep(ctx, id) }

//restaq:on shop.order.placed
func values(ctx context.Context, order Order) error {
	step := shipStep
	if err := step(ctx, order.ID); err != nil {
		return err
	}
	if err := twice(ctx, order.ID, refundStep); err != nil {
		return err
	}
	if err := twice(ctx, order.ID, func(ctx context.Context, id string) error {
		return notifyStep(ctx, id)
	}); err != nil {
		return err
	}
	registry["later"] = shipStep
	return generic[string](ctx, order.ID)
}

var registry = map[string]func(context.Context, string) error{}

func twice(ctx context.Context, id string, f func(context.Context, string) error) error {
	if err := f(ctx, id); err != nil {
		return err
	}
	return f(ctx, id+"!")
}

func generic[T ~string](ctx context.Context, id T) error { return shipStep(ctx, string(id)) }

//restaq:on shop.order.placed
func (s *Plain) method(ctx context.Context, order Order) error {
	f := s.packStep
	if err := f(ctx, order.ID); err != nil {
		return err
	}
	if err := s.inner.helper(ctx, order.ID); err != nil {
		return err
	}
	_, err := restaq.Do(ctx, "thank-"+"you", func(ctx context.Context) (int, error) { return 1, nil })
	if err != nil {
		return err
	}
	_, err = restaq.Do(ctx, "for-"+order.ID, func(ctx context.Context) (int, error) { return 1, nil })
	return err
}

type Plain struct{ inner Inner }

type Inner struct{}

func (i Inner) helper(ctx context.Context, id string) error {
	return (&Plain{inner: i}).packStep(ctx, id)
}

//restaq:step parcel key=id attempts=20 backoff=1s..10m timeout=90s
func (s *Plain) pack(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func book(ctx context.Context, id string) (int, error) { return 0, nil }

//restaq:step key=id
func ship(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func notify(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func refund(ctx context.Context, id string) error { return nil }
