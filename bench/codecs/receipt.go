package codecs

import "time"

// Receipt is a step's output of some 200 bytes.
type Receipt struct {
	ChargeID string    `json:"charge_id"`
	Customer string    `json:"customer"`
	Amount   int64     `json:"amount"`
	Fee      int64     `json:"fee"`
	Currency string    `json:"currency"`
	Paid     bool      `json:"paid"`
	Lines    []Line    `json:"lines"`
	Note     string    `json:"note,omitempty"`
	At       time.Time `json:"at"`
}

// Line is a line of a receipt.
type Line struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity"`
}
