// Package billing has steps that other packages call.
package billing

import "context"

type Ledger struct{}

//restaq:step
func (l *Ledger) Record(ctx context.Context, amount int64) (int64, error) { return amount, nil }

//restaq:step
func Announce(ctx context.Context, text string) error { return nil }
