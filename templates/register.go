package templates

import (
	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// register emits the registration of one receiver, or of the package's
// functions:
//
//	// RegisterHandlers adds b's handlers and steps to rt.
//	func (b *Billing) RegisterHandlers(rt *restaq.Runtime) error {
//		return rt.Register(
//			restaq.Handler[stripe.ChargeSucceeded]{ … },
//			sendReceiptDef.Bind(b),
//		)
//	}
func (f *file) register(g *model.Group) {
	var parts []jen.Code
	rt := "rt"
	for _, h := range g.Handlers {
		parts = append(parts, f.handler(g, h))
		if h.Recv == nil {
			rt = free(rt, h.Name)
		}
	}
	for _, s := range g.Steps {
		parts = append(parts, jen.Id(s.Stem+"Def").Dot("Bind").Call(boundReceiver(g, s)))
	}

	f.Comment("RegisterHandlers adds " + registered(g) + " to " + rt + ".")
	fn := f.Func()
	if g.Type != nil {
		fn.Params(jen.Id(g.Param).Add(receiverType(g.Type.Name(), g.Pointer)))
	}
	fn.Id("RegisterHandlers").Params(jen.Id(rt).Op("*").Add(f.runtime("Runtime"))).Error().Block(
		jen.Return(jen.Id(rt).Dot("Register").Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}, parts...)),
	)
	f.Line()
}

// registered says what a group registers.
func registered(g *model.Group) string {
	owner := "the package's "
	if g.Type != nil {
		owner = g.Param + "'s "
	}
	switch {
	case len(g.Steps) == 0:
		return owner + "handlers"
	case len(g.Handlers) == 0:
		return owner + "steps"
	}
	return owner + "handlers and steps"
}

func receiverType(name string, pointer bool) *jen.Statement {
	if pointer {
		return jen.Op("*").Id(name)
	}
	return jen.Id(name)
}

// boundReceiver is the receiver that a step is bound to.
func boundReceiver(g *model.Group, s *model.Step) *jen.Statement {
	switch {
	case g.Type == nil:
		return jen.Struct().Values()
	case g.Pointer && !s.RecvPointer:
		return jen.Op("*").Id(g.Param)
	}
	return jen.Id(g.Param)
}

// handler is what Register is told of a handler; options that are not given
// are left out:
//
//	restaq.Handler[stripe.ChargeSucceeded]{
//		Name:     "billing.Billing.ChargeSucceeded",
//		Events:   []string{stripe.ChargeSucceededType},
//		Attempts: 20,
//		Func:     b.ChargeSucceeded,
//		Decode:   codec.EventReader(decodeStripeChargeSucceeded),
//		Graph:    restaqGraph,
//	}
func (f *file) handler(g *model.Group, h *model.Handler) *jen.Statement {
	elements := []jen.Code{
		element("Name", jen.Lit(h.FullName)),
	}
	if len(h.Was) > 0 {
		elements = append(elements, element("Was", texts(h.Was)))
	}
	elements = append(elements, element("Events", f.eventTypes(h.Events)))
	elements = append(elements, f.options(h.Attempts, h.Backoff, h.Timeout)...)
	fn := jen.Id(h.Name)
	if g.Type != nil {
		fn = jen.Id(g.Param).Dot(h.Name)
	}
	elements = append(elements, element("Func", fn))
	switch h.Kind {
	case model.RawEvent:
	case model.FamilyEvent:
		elements = append(elements, element("Decode", f.familyReader(h)))
	default:
		elements = append(elements, element("Decode", f.eventReader(h)))
	}
	if h.Order != nil {
		elements = append(elements, element("Order", f.order(h)))
	}
	elements = append(elements, element("Graph", jen.Id(f.graph)))
	return literal(f.runtime("Handler").Types(f.goType(h.Event)), elements)
}

// eventReader is the function that decodes a handler's event.
func (f *file) eventReader(h *model.Handler) *jen.Statement {
	c := f.plan.Of(h.Event)
	return f.codecName("EventReader").Call(f.instance(c, f.decoder(c)))
}
