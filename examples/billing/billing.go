package main

import (
	"context"
	"math"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/stripe"
)

//go:generate go tool restaqgen

// Billing handles the payments of a shop.
type Billing struct {
	ledger    *Ledger
	mailer    *Mailer
	warehouse *Warehouse
}

// Payment is what the ledger holds of a charge.
type Payment struct {
	ChargeID string `json:"chargeId"`
	Amount   int64  `json:"amount"` // in the currency's smallest unit
	Currency string `json:"currency"`
}

// Fee is what the provider keeps of a payment, and what is left of it.
type Fee struct {
	FeeAmount int64 `json:"feeAmount"`
	NetAmount int64 `json:"netAmount"`
}

// ChargeSucceeded enters a payment into the ledger, works out the fee, sends a
// receipt and lets the warehouse know.
//
//restaq:on stripe.charge.succeeded
func (b *Billing) ChargeSucceeded(ctx context.Context, event stripe.ChargeSucceeded) error {
	charge := event.Data.Object

	payment, err := b.recordPaymentStep(ctx, charge)
	if err != nil {
		return err
	}
	fee, err := b.calculateFeeStep(ctx, payment)
	if err != nil {
		return err
	}
	if err := b.sendReceiptStep(ctx, charge.Customer.ID(), payment.Amount); err != nil {
		return err
	}
	if err := b.notifyFulfillmentStep(ctx, payment.ChargeID, fee.NetAmount); err != nil {
		return err
	}
	restaq.Logger(ctx).Info("all steps completed", "charge", payment.ChargeID)
	return nil
}

//restaq:step
func (b *Billing) recordPayment(ctx context.Context, charge stripe.Charge) (Payment, error) {
	payment := Payment{ChargeID: charge.ID, Amount: charge.Amount, Currency: charge.Currency}
	b.ledger.Add(payment)
	return payment, nil
}

//restaq:step
func (b *Billing) calculateFee(ctx context.Context, payment Payment) (Fee, error) {
	b.ledger.CountFee()
	fee := int64(math.Round(float64(payment.Amount)*0.029 + 30))
	return Fee{FeeAmount: fee, NetAmount: payment.Amount - fee}, nil
}

//restaq:step attempts=20 backoff=100ms..1s timeout=250ms
func (b *Billing) sendReceipt(ctx context.Context, customer string, amount int64) error {
	return b.mailer.Send(ctx, customer, amount, restaq.IdempotencyKey(ctx))
}

//restaq:step
func (b *Billing) notifyFulfillment(ctx context.Context, chargeID string, netAmount int64) error {
	b.warehouse.Ship(chargeID, netAmount)
	return nil
}
