// Package marks has markers that stand wrong, or in the wrong file.
package marks

import "context"

//restaq:step atempts=3 timeout=10 RecordPayment
func recordPayment(ctx context.Context) error { return nil }

//restaq:stpe
func typo(ctx context.Context) error { return nil }

// restaq:step
func space(ctx context.Context) error { return nil }

//restaq:was old-name
//restaq:step
func later(ctx context.Context) error { return nil }

//restaq:step

func apart(ctx context.Context) error { return nil }

//restaq:step
type T struct{}

//restaq:event a.b
func notAType() {}

//restaq:event stripe
type E struct{}

func body() {
	//restaq:step
}

//restaq:step
//restaq:on a.b
func both(ctx context.Context) error { return nil }
