// Package money has types for the steps of package types.
package money

import "strconv"

// Cents is an amount.
type Cents int64

// Price is an amount of a currency.
type Price struct {
	Amount   Cents  `json:"amount"`
	Currency string `json:"currency,omitempty"`
}

// Text writes its own JSON.
type Text struct{ n int }

// NewText returns a Text.
func NewText(n int) Text { return Text{n} }

// MarshalText implements encoding.TextMarshaler.
func (t Text) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(t.n), 10), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Text) UnmarshalText(b []byte) (err error) {
	t.n, err = strconv.Atoi(string(b))
	return err
}
