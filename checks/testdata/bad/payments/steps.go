package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/stripe"

	"example.com/payments/ledger"
)

// errOutOfStock says that a depot does not have what was asked for.
var errOutOfStock = errors.New("out of stock")

// Order is what a customer bought.
type Order struct {
	ID      string         `json:"id"`
	Lines   []Line         `json:"lines"`
	Address *Address       `json:"address,omitempty"`
	Notes   map[string]any `json:"notes"`
	Total   ledger.Money   `json:"total"`
}

// Line is one product of an order.
type Line struct {
	SKU      string  `json:"sku"`
	Depot    string  `json:"depot"`
	Quantity int     `json:"quantity"`
	Weight   float64 `json:"weight"` // in kg
	Price    float64 `json:"price"`
	reserved bool
}

// Address is where an order goes.
type Address struct {
	Country string `json:"country"`
	City    string `json:"city"`
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Shipment is a parcel on its way.
type Shipment struct {
	Tracking string    `json:"tracking"`
	At       time.Time `json:"at"`
	Took     time.Duration
}

// Quote is a tax service's answer.
type Quote struct {
	Tax      ledger.Money    `json:"tax"`
	TaxRate  float64         `json:"taxRate"` // 0.19, say
	Provider json.RawMessage `json:"provider"`
}

// Evidence is what the shop knows of a disputed charge.
type Evidence struct {
	Files []string `json:"files"`
	Text  string   `json:"text"`
}

// bookCharge writes the entry in the store's own transaction, so that entry and
// record are there both or neither.
//
//restaq:step timeout=10s
func (d *Desk) bookCharge(ctx context.Context, tx pgx.Tx, entry ledger.Entry) (ledger.Booking, error) {
	var booking ledger.Booking
	row := tx.QueryRow(ctx, `INSERT INTO entry (reference, units, currency) VALUES ($1, $2, $3) RETURNING id, at`,
		entry.Reference, entry.Amount.Units, entry.Amount.Currency)
	if err := row.Scan(&booking.ID, &booking.At); err != nil {
		return ledger.Booking{}, fmt.Errorf("insert entry: %w", err)
	}
	booking.Entry = entry
	return booking, nil
}

//restaq:step
func (d *Desk) bookFee(ctx context.Context, booking ledger.Booking) (int64, error) {
	return d.books.Fee(ctx, booking)
}

//restaq:step attempts=5 backoff=1s..1m
func (d *Desk) sendReceipt(ctx context.Context, customer string, booking ledger.Booking, fee int64) error {
	_, err := d.mail.Send(ctx, Mail{To: customer, Subject: fmt.Sprintf("receipt %s (%d)", booking.ID, fee), Key: restaq.IdempotencyKey(ctx)})
	return err
}

//restaq:step
func (d *Desk) findOrder(ctx context.Context, session, order string) (Order, error) {
	return d.warehouse.Order(ctx, session, order)
}

// quoteTax asks over HTTP: a step may.
//
//restaq:step backoff=2s..5m
func (d *Desk) quoteTax(ctx context.Context, order Order) (*Quote, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return d.tax.Quote(ctx, order)
}

// ship may be called for several depots.
//
//restaq:step key=depot
func (d *Desk) ship(ctx context.Context, order, depot string, lines []Line) (Shipment, error) {
	begun := time.Now()
	d.warehouse.Audit(ctx, order)
	tracking, err := d.warehouse.Ship(ctx, order, depot, lines)
	if err != nil {
		return Shipment{}, err
	}
	return Shipment{Tracking: tracking, At: begun, Took: time.Since(begun)}, nil
}

//restaq:step key=depot
func (d *Desk) backorder(ctx context.Context, order, depot string) error {
	return d.warehouse.Backorder(ctx, order, depot)
}

//restaq:step
func (d *Desk) confirm(ctx context.Context, order Order, quote *Quote, shipped []Shipment) error {
	_, err := d.mail.Send(ctx, Mail{To: order.ID, Subject: fmt.Sprintf("%d parcels, tax %d", len(shipped), quote.Tax.Units), Key: restaq.IdempotencyKey(ctx)})
	return err
}

//restaq:step
func (d *Desk) remind(ctx context.Context, customer string, remaining int64) error {
	_, err := d.mail.Send(ctx, Mail{To: customer, Subject: fmt.Sprintf("%d unpaid", remaining)})
	return err
}

//restaq:step
func (d *Desk) listAccounts(ctx context.Context, customer string) (Page[string], error) {
	return d.warehouse.Accounts(ctx, customer)
}

//restaq:step key=account
func (d *Desk) closeAccount(ctx context.Context, account string) error {
	if err := d.warehouse.Close(ctx, account); err != nil {
		return err
	}
	return d.tell(ctx, account)
}

func (d *Desk) tell(ctx context.Context, account string) error {
	return d.noteStep(ctx, "account closed", len(account))
}

//restaq:step
func (d *Desk) askPerson(ctx context.Context, dispute stripe.Dispute) error {
	_, err := d.mail.Send(ctx, Mail{To: "disputes", Subject: dispute.Reason, Key: restaq.IdempotencyKey(ctx)})
	return err
}

// gather reads from three places at once and waits for all of them: goroutines
// within a step are the step's own.
//
//restaq:step timeout=1m
func (d *Desk) gather(ctx context.Context, dispute, charge string) (Evidence, error) {
	var wg sync.WaitGroup
	files, errs := make([]string, 3), make([]error, 3)
	for i, kind := range []string{"receipt", "tracking", "chat"} {
		wg.Go(func() { files[i], errs[i] = d.warehouse.File(ctx, charge, kind) })
	}
	if err := errors.Join(errs...); err != nil {
		return Evidence{}, err
	}
	return Evidence{Files: files, Text: os.Getenv("DISPUTE_TEXT") + dispute}, nil
}

//restaq:step
func (d *Desk) answer(ctx context.Context, dispute string, evidence Evidence) error {
	body, err := json.Marshal(evidence)
	if err != nil {
		return restaq.Permanent(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://disputes.example.com/"+dispute, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", restaq.IdempotencyKey(ctx))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return restaq.RetryAfter(errors.New("asked to wait"), time.Minute)
	case resp.StatusCode >= 300:
		return fmt.Errorf("answer %s: %s", dispute, resp.Status)
	}
	return nil
}

//restaq:step pure key=eventType
func (d *Desk) note(ctx context.Context, eventType string, bytes int) error {
	restaq.Logger(ctx).Info("event", "type", eventType, "bytes", bytes)
	return nil
}
