// Package payments is the payment desk of a shop that sells through Stripe: it
// books charges, fulfils checkouts, chases unpaid invoices and answers disputes.
package payments

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/stripe"

	"example.com/payments/ledger"
)

//go:generate go tool restaqgen

// Desk handles what Stripe reports.
type Desk struct {
	books     *ledger.Books
	mail      Mailer
	tax       *TaxService
	warehouse *Warehouse
	log       *slog.Logger

	// graceDays is set once, when the desk is opened.
	graceDays int
}

// Currencies that the shop is paid in. The map is filled where it is declared
// and never written again.
var minorUnits = map[string]int{"eur": 2, "usd": 2, "gbp": 2, "jpy": 0, "kwd": 3}

// errUnknownCurrency says that a charge cannot be booked.
var errUnknownCurrency = errors.New("currency is not traded")

// handled are the dispute reasons that have a template.
const handled = "duplicate fraudulent product_not_received subscription_canceled"

// ChargeSucceeded books a charge and sends the customer a receipt.
//
//restaq:on stripe.charge.succeeded attempts=20 order=event.Data.Object.Customer.ID()
func (d *Desk) ChargeSucceeded(ctx context.Context, event stripe.ChargeSucceeded) error {
	started := time.Now() // for the log alone
	defer func() { restaq.Logger(ctx).Info("charge handled", "took", time.Since(started)) }()

	charge := event.Data.Object
	if _, ok := minorUnits[charge.Currency]; !ok {
		return restaq.Permanent(fmt.Errorf("charge %s in %s: %w", charge.ID, charge.Currency, errUnknownCurrency))
	}
	booking, err := d.bookChargeStep(ctx, ledgerEntry(charge))
	if err != nil {
		return fmt.Errorf("book charge %s: %w", charge.ID, err)
	}
	fee, err := d.bookFee(ctx, booking)
	if err != nil {
		return err
	}
	// A receipt that cannot be sent holds nothing up: the customer finds it in
	// the portal.
	d.sendReceiptStep(ctx, charge.Customer.ID(), booking, fee)
	return nil
}

// ledgerEntry turns a charge into what the books hold of it.
func ledgerEntry(charge stripe.Charge) ledger.Entry {
	entry := ledger.Entry{
		Reference: charge.ID,
		Amount:    ledger.Money{Units: charge.Amount, Currency: charge.Currency},
		Labels:    map[string]string{},
	}
	for name, value := range charge.Metadata { // into a map: the order is of no matter
		if after, ok := strings.CutPrefix(name, "book_"); ok {
			entry.Labels[after] = value
		}
	}
	return entry
}

// CheckoutCompleted fulfils an order, parcel by parcel.
//
//restaq:on stripe.checkout.session.completed stripe.checkout.session.async_payment_succeeded
func (d *Desk) CheckoutCompleted(ctx context.Context, event stripe.CheckoutEvent) error {
	session, ok := sessionOf(event)
	if !ok || session.PaymentStatus != "paid" {
		return nil // the second event comes when the money does
	}
	order, err := d.findOrderStep(ctx, session.ID, session.Metadata["order"])
	if err != nil {
		return err
	}
	quote, err := d.tax.Quote(ctx, order)
	if err != nil {
		return err
	}
	parcels := pack(order)
	shipped := make([]Shipment, 0, len(parcels))
	for _, depot := range slices.Sorted(maps.Keys(parcels)) {
		shipment, err := d.shipStep(ctx, order.ID, depot, parcels[depot])
		switch {
		case errors.Is(err, errOutOfStock):
			err := d.backorderStep(ctx, order.ID, depot)
			_ = err
			continue
		case err != nil:
			return fmt.Errorf("ship from %s: %w", depot, err)
		}
		shipped = append(shipped, shipment)
	}
	restaq.Logger(ctx).Info("shipped", "order", order.ID, "parcels", len(shipped), "tax", quote.Tax)
	return nil
}

// sessionOf returns the session of the two events that the handler takes.
func sessionOf(event stripe.CheckoutEvent) (stripe.CheckoutSession, bool) {
	switch e := event.(type) {
	case stripe.CheckoutSessionCompleted:
		return e.Data.Object, true
	case stripe.CheckoutSessionAsyncPaymentSucceeded:
		return e.Data.Object, true
	}
	return stripe.CheckoutSession{}, false
}

// pack groups an order's lines by the depot that has them.
func pack(order Order) map[string][]Line {
	parcels := map[string][]Line{}
	for _, line := range order.Lines {
		parcels[line.Depot] = append(parcels[line.Depot], line)
	}
	return parcels
}

// InvoicePaymentFailed reminds a customer, and gives up after the grace time.
//
//restaq:on stripe.invoice.payment_failed
func (d *Desk) InvoicePaymentFailed(ctx context.Context, event *stripe.InvoicePaymentFailed) error {
	invoice := event.Data.Object
	due := invoice.Created.Time().AddDate(0, 0, d.graceDays)
	overdue := time.Now().After(due)
	if !overdue {
		return d.remindStep(ctx, invoice.Customer.ID(), invoice.AmountRemaining)
	}
	if err := d.suspend(ctx, invoice.Customer.ID()); err != nil {
		return err
	}
	note, err := restaq.Do(ctx, "note-suspension", func(ctx context.Context) (string, error) {
		if err := d.remindStep(ctx, invoice.Customer.ID(), 0); err != nil {
			return "", err
		}
		return d.mail.Send(ctx, Mail{To: "accounts", Subject: "suspended " + invoice.Customer.ID(), Key: restaq.IdempotencyKey(ctx)})
	})
	if err != nil {
		return err
	}
	restaq.Logger(ctx).Info("customer suspended", "note", note)
	return nil
}

// suspend closes a customer's accounts. It is part of the handler: it runs the
// steps, and hands their errors on.
func (d *Desk) suspend(ctx context.Context, customer string) error {
	accounts, err := d.listAccountsStep(ctx, customer)
	if err != nil {
		return err
	}
	for _, account := range accounts.Items {
		if err := d.closeAccountStep(ctx, account); err != nil {
			return fmt.Errorf("close %s: %w", account, err)
		}
	}
	return nil
}

// DisputeCreated gathers evidence, and tells a person where there is no template.
//
//restaq:on stripe.charge.dispute.created
func (d *Desk) DisputeCreated(ctx context.Context, event stripe.ChargeDisputeCreated) (err error) {
	defer func() {
		if r := recover(); r != nil {
			restaq.Logger(ctx).Error("dispute stays open", "dispute", event.Data.Object.ID, "panic", r)
		}
	}()
	dispute := event.Data.Object
	if !slices.Contains(strings.Fields(handled), dispute.Reason) {
		return d.askPersonStep(ctx, dispute)
	}
	evidence, err := d.gatherStep(ctx, dispute.ID, dispute.Charge.ID())
	if err != nil {
		return err
	}
	return d.answerStep(ctx, dispute.ID, evidence)
}

// Journal notes what else happens.
//
//restaq:on stripe.*
func (d *Desk) Journal(ctx context.Context, event restaq.Event) error {
	return d.noteStep(ctx, event.Type, len(event.Payload))
}
