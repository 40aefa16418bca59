// Package subject is what the generator's peers generate for: one small type
// each, in a package that imports what a webhook handler's package imports.
package subject

import (
	"context"
	"net/http"
)

// Status is stringer's.
type Status int

// Statuses of a payment.
const (
	Open Status = iota
	Paid
	Refunded
)

// Mailer is moq's.
type Mailer interface {
	Send(ctx context.Context, customer string, amount int64) error
	Fetch(ctx context.Context, request *http.Request) (Status, error)
}
