package shop

import (
	"context"
	"database/sql"

	"example.com/billing"
	restaq "github.com/restaq/restaq/runtime"
)

type Shop struct {
	ledger *billing.Ledger
	Embedded
}

type Embedded struct{}

//restaq:on acme.order.paid
func (s *Shop) Paid(ctx context.Context, event restaq.Event) error {
	if err := s.pay(ctx, 1); err != nil { // want `^handler shop.Shop.Paid: calls the function of step pay, so that nothing is recorded \(directcall\)\n\thint: its wrapper is payStep$`
		return err
	}
	if err := s.payStep(ctx, 1); err != nil {
		return err
	}
	if err := (s.greet)(ctx); err != nil { // want `handler shop.Shop.Paid: calls the function of step hello`
		return err
	}
	if err := s.book(ctx, nil, 2); err != nil { // want `step book, .*\n.*bookStep$`
		return err
	}
	if _, err := s.ledger.Record(ctx, 2); err != nil { // want `calls the function of step record,`
		return err
	}
	if err := billing.Announce(ctx, "hi"); err != nil { // want `calls the function of step announce,`
		return err
	}
	if err := twice(ctx, s.pay); err != nil { // want `hands on the function of step pay,`
		return err
	}
	func() {
		_ = s.pay(ctx, 3) // want `calls the function of step pay`
	}()
	if _, err := restaq.Do(ctx, "pay-all", func(ctx context.Context) (int, error) {
		return 0, s.pay(ctx, 4) // within a step
	}); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	//restaq:ignore directcall it is harmless, and need not be recorded
	return s.pay(ctx, 5)
}

// settle is part of the handler.
func (s *Shop) settle(ctx context.Context) error {
	return s.shared(ctx)
}

func (s *Shop) shared(ctx context.Context) error {
	return s.pay(ctx, 6) // want `handler shop.Shop.Paid: calls the function of step pay, so that nothing is recorded: Shop.Paid → Shop.settle → Shop.shared → pay \(`
}

//restaq:step
func (s *Shop) pay(ctx context.Context, amount int64) error { return nil }

//restaq:step
func (s *Shop) payAll(ctx context.Context) error {
	if err := s.shared(ctx); err != nil {
		return err
	}
	return s.pay(ctx, 1)
}

//restaq:step hello
func (e Embedded) greet(ctx context.Context) error { return nil }

//restaq:step
func (s *Shop) book(ctx context.Context, tx *sql.Tx, amount int64) error { return nil }

func twice(ctx context.Context, f func(context.Context, int64) error) error { return f(ctx, 1) }

// Nobody's handler.
func (s *Shop) migrate(ctx context.Context) error { return s.pay(ctx, 1) }
