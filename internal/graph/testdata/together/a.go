// Package together runs steps concurrently, and at the end.
package together

import (
	"context"
	"sync"
	"time"
)

type Order struct{ ID string }

// Group is like that of errgroup.
type Group struct {
	wait sync.WaitGroup
	err  error
}

func (g *Group) Go(f func() error) {
	g.wait.Add(1)
	go func() {
		defer g.wait.Done()
		if err := f(); err != nil {
			g.err = err
		}
	}()
}

func (g *Group) Wait() error { return g.err }

//restaq:on shop.order.placed
func group(ctx context.Context, order Order) error {
	var wait sync.WaitGroup
	wait.Go(func() { _ = notifyStep(ctx, "wait") })
	var g Group
	g.Go(func() error { return shipStep(ctx, order.ID) })
	g.Go(func() error {
		if _, err := bookStep(ctx, order.ID); err != nil {
			return err
		}
		return refundStep(ctx, order.ID)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return notifyStep(ctx, order.ID)
}

//restaq:on shop.order.placed
func deferred(ctx context.Context, order Order) (err error) {
	defer func() {
		if err != nil {
			_ = refundStep(ctx, order.ID)
		}
	}()
	defer notifyStep(ctx, order.ID)
	go shipStep(ctx, order.ID)
	time.AfterFunc(time.Second, func() { _ = shipStep(ctx, order.ID) })
	if order.ID == "" {
		return nil
	}
	_, err = bookStep(ctx, order.ID)
	return err
}

//restaq:step key=id
func book(ctx context.Context, id string) (int, error) { return 0, nil }

//restaq:step key=id
func ship(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func notify(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func refund(ctx context.Context, id string) error { return nil }
