// Library: the handlers are in a package of their own.
package main

import (
	"github.com/restaq/restaq/internal/generate/testdata/golden/library/billing"
	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
	restaq "github.com/restaq/restaq/runtime"
)

func main() {
	b := &billing.Billing{Currency: "eur"}
	play.Run([]func(*restaq.Runtime) error{b.RegisterHandlers},
		play.Event("stripe.charge.succeeded", `{"type":"charge.succeeded","data":{"object":{"id":"ch_1","amount":2000}}}`))
}
