package templates

import (
	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// constants declares the types of the package's own events:
//
//	// OrderShippedType is the event type whose payload is OrderShipped.
//	const OrderShippedType = "acme.order.shipped"
func (f *file) constants() {
	for _, e := range f.pkg.Events {
		f.Comment(e.Const + " is the event type whose payload is " + e.Obj.Name() + ".")
		f.Const().Id(e.Const).Op("=").Lit(e.Type)
		f.Line()
	}
}

// eventTypes is the list of event types that a handler subscribes to, by their
// constants where there are such:
//
//	[]string{stripe.ChargeSucceededType, "acme.*"}
func (f *file) eventTypes(events []model.EventType) *jen.Statement {
	var list []jen.Code
	for _, e := range events {
		if e.Const == "" {
			list = append(list, jen.Lit(e.Type))
		} else {
			list = append(list, f.qual(e.Package, "", e.Const))
		}
	}
	return jen.Index().String().Values(list...)
}
