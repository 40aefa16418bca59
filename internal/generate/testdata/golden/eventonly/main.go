// Eventonly: the event types are in a package of their own.
package main

import (
	"context"

	"github.com/restaq/restaq/internal/generate/testdata/golden/eventonly/acme"
	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
	restaq "github.com/restaq/restaq/runtime"
)

//restaq:on acme.order.shipped
func shipped(ctx context.Context, event *acme.Shipped) error {
	play.Say("shipped", event.Order)
	return nil
}

func main() {
	play.Run([]func(*restaq.Runtime) error{RegisterHandlers}, play.Event("acme.order.shipped", `{"order":"A1"}`))
}
