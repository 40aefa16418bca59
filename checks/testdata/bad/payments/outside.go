package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5"

	"example.com/payments/ledger"
)

// Open returns a desk that is set up by the environment.
func Open(conn *pgx.Conn, mail Mailer, log *slog.Logger) (*Desk, error) {
	days, err := strconv.Atoi(os.Getenv("GRACE_DAYS"))
	if err != nil {
		return nil, fmt.Errorf("read GRACE_DAYS: %w", err)
	}
	return &Desk{
		books: ledger.New(conn), mail: mail, log: log, graceDays: days,
		tax:       &TaxService{client: &http.Client{}, url: os.Getenv("TAX_URL")},
		warehouse: &Warehouse{stock: map[string]int{}},
	}, nil
}

// Mail is a message to send.
type Mail struct{ To, Subject, Key string }

// A Mailer sends mail and returns the message's id.
type Mailer interface {
	Send(ctx context.Context, mail Mail) (string, error)
}

// TaxService works out taxes.
type TaxService struct {
	client *http.Client
	url    string
}

// Quote asks the service.
func (t *TaxService) Quote(ctx context.Context, order Order) (*Quote, error) {
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(order); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, &body)
	if err != nil {
		return nil, err
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var quote Quote
	if err := json.NewDecoder(resp.Body).Decode(&quote); err != nil {
		return nil, fmt.Errorf("read quote: %w", err)
	}
	return &quote, nil
}

// Warehouse is where the goods are.
type Warehouse struct {
	mu    sync.Mutex
	stock map[string]int
	audit context.Context
}

// Audit remembers who ships.
func (w *Warehouse) Audit(ctx context.Context, order string) {
	w.audit = context.WithValue(ctx, auditKey{}, order)
}

type auditKey struct{}

// Order returns an order.
func (w *Warehouse) Order(ctx context.Context, session, order string) (Order, error) {
	return Order{ID: order, Notes: map[string]any{"session": session}}, ctx.Err()
}

// Ship sends lines off and returns the tracking number.
func (w *Warehouse) Ship(ctx context.Context, order, depot string, lines []Line) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range lines {
		if w.stock[line.SKU] < line.Quantity {
			return "", fmt.Errorf("%s: %w", line.SKU, errOutOfStock)
		}
		w.stock[line.SKU] -= line.Quantity
	}
	return depot + "-" + order, nil
}

// Backorder notes that a parcel goes out later.
func (w *Warehouse) Backorder(ctx context.Context, order, depot string) error { return ctx.Err() }

// Accounts lists a customer's accounts.
func (w *Warehouse) Accounts(ctx context.Context, customer string) (Page[string], error) {
	return Page[string]{Items: []string{customer}}, ctx.Err()
}

// Close closes an account.
func (w *Warehouse) Close(ctx context.Context, account string) error { return ctx.Err() }

// File returns the name of a file about a charge.
func (w *Warehouse) File(ctx context.Context, charge, kind string) (string, error) {
	return charge + "." + kind, ctx.Err()
}
