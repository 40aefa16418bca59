// Package billing is a library: a handler with its steps, in a package of its
// own.
package billing

import (
	"context"

	"github.com/restaq/restaq/internal/generate/testdata/golden/play"

	"github.com/restaq/restaq/schemas/stripe"
)

// Billing books payments.
type Billing struct{ Currency string }

// Payment is a charge as billing sees it.
type Payment struct {
	ChargeID string `json:"charge_id"`
	Amount   int64  `json:"amount"`
}

// ChargeSucceeded books a charge.
//
//restaq:on stripe.charge.succeeded
func (b *Billing) ChargeSucceeded(ctx context.Context, event stripe.ChargeSucceeded) error {
	payment, err := b.recordPaymentStep(ctx, event.Data.Object)
	if err != nil {
		return err
	}
	return b.sendReceiptStep(ctx, payment.ChargeID, payment.Amount)
}

//restaq:step
func (b *Billing) recordPayment(ctx context.Context, charge stripe.Charge) (Payment, error) {
	play.Say("record", charge.ID, charge.Amount, b.Currency)
	return Payment{ChargeID: charge.ID, Amount: charge.Amount}, nil
}

//restaq:step attempts=20 backoff=1s..10m timeout=10s
func (b *Billing) sendReceipt(ctx context.Context, charge string, amount int64) error {
	play.Say("receipt", charge, amount)
	return nil
}
