package main

import (
	"context"
	"sync/atomic"
)

// Ledger, Mailer and Warehouse stand for what a real shop would call. They
// count what reaches them.
type (
	// Ledger holds payments.
	Ledger struct{ payments, fees atomic.Int64 }

	// Mailer sends receipts. The first one hangs, as mailers do.
	Mailer struct{ tries, sent atomic.Int64 }

	// Warehouse ships what is paid.
	Warehouse struct{ shipped atomic.Int64 }
)

// Add enters a payment.
func (l *Ledger) Add(Payment) { l.payments.Add(1) }

// CountFee counts that a fee was worked out.
func (l *Ledger) CountFee() { l.fees.Add(1) }

// Send sends a receipt. The key lets a mail service drop a second copy.
func (m *Mailer) Send(ctx context.Context, customer string, amount int64, key string) error {
	if m.tries.Add(1) == 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	m.sent.Add(1)
	return nil
}

// Ship ships what a charge paid for.
func (w *Warehouse) Ship(chargeID string, netAmount int64) { w.shipped.Add(1) }
