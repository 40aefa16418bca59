// Package workflow is what the runtime's rows run: a handler of four steps that
// do next to nothing, so that what is measured is the runtime and its store.
package workflow

//go:generate go tool restaqgen

import (
	"context"
	"fmt"
)

// Order is an order of a shop's.
//
//restaq:event bench.order.placed
type Order struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount"`
}

// Payment is the outcome of charging an order.
type Payment struct {
	Order  string `json:"order"`
	Amount int64  `json:"amount"`
	Fee    int64  `json:"fee"`
}

// Shop handles orders. Finished, if not nil, is called at the end of every
// handler's run.
type Shop struct {
	Finished func()
}

// OrderPlaced takes an order through its four steps.
//
//restaq:on bench.order.placed
func (s *Shop) OrderPlaced(ctx context.Context, order Order) error {
	if err := s.reserveStep(ctx, order.ID); err != nil {
		return err
	}
	payment, err := s.chargeStep(ctx, order)
	if err != nil {
		return err
	}
	label, err := s.packStep(ctx, payment)
	if err != nil {
		return err
	}
	if err := s.shipStep(ctx, label); err != nil {
		return err
	}
	if s.Finished != nil {
		s.Finished()
	}
	return nil
}

//restaq:step
func (s *Shop) reserve(_ context.Context, order string) error {
	if order == "" {
		return fmt.Errorf("reserve order: it has no id")
	}
	return nil
}

//restaq:step
func (s *Shop) charge(_ context.Context, order Order) (Payment, error) {
	return Payment{Order: order.ID, Amount: order.Amount, Fee: order.Amount/40 + 30}, nil
}

//restaq:step
func (s *Shop) pack(_ context.Context, payment Payment) (string, error) {
	return "label-" + payment.Order, nil
}

//restaq:step
func (s *Shop) ship(_ context.Context, label string) error {
	if label == "" {
		return fmt.Errorf("ship parcel: it has no label")
	}
	return nil
}
