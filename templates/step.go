package templates

import (
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// descriptor emits what the runtime knows of a step; options that are not given
// are left out:
//
//	var sendReceiptDef = restaq.Step[*Billing, sendReceiptIn, restaq.None]{
//		Name:     "send-receipt",
//		Func:     "example.com/shop/billing.Billing.sendReceipt",
//		Attempts: 20,
//		Timeout:  10 * time.Second,
//		Key: func(in sendReceiptIn) string {
//			return in.customer
//		},
//		Call: func(ctx context.Context, b *Billing, in sendReceiptIn) (restaq.None, error) {
//			return restaq.None{}, b.sendReceipt(ctx, in.customer, in.amount)
//		},
//		Codec: sendReceiptCodec,
//	}
func (f *file) descriptor(s *model.Step) {
	receiver := jen.Struct()
	if s.Recv != nil {
		receiver = receiverType(s.Recv.Name(), s.RecvPointer)
	}
	elements := []jen.Code{
		element("Name", jen.Lit(s.Record)),
	}
	if len(s.Was) > 0 {
		elements = append(elements, element("Was", texts(s.Was)))
	}
	elements = append(elements, element("Func", jen.Lit(s.Qualified())))
	elements = append(elements, f.options(s.Attempts, s.Backoff, s.Timeout)...)
	if s.Pure {
		elements = append(elements, element("Pure", jen.True()))
	}
	if s.Key != nil {
		elements = append(elements, element("Key", f.key(s)))
	}
	elements = append(elements, f.calls(s, receiver)...)
	elements = append(elements, element("Codec", jen.Id(s.Stem+"Codec")))
	f.Var().Id(s.Stem + "Def").Op("=").Add(
		literal(f.runtime("Step").Types(receiver, f.inputType(s), f.outputType(s)), elements))
	f.Line()
}

// options are the options that steps and handlers share.
func (f *file) options(attempts int, backoff model.Backoff, timeout time.Duration) []jen.Code {
	var elements []jen.Code
	if attempts != 0 {
		elements = append(elements, element("Attempts", jen.Lit(attempts)))
	}
	if backoff != (model.Backoff{}) {
		elements = append(elements, element("Backoff", f.runtime("Backoff").Values(
			element("Min", f.duration(backoff.Min)), element("Max", f.duration(backoff.Max)))))
	}
	if timeout != 0 {
		elements = append(elements, element("Timeout", f.duration(timeout)))
	}
	return elements
}

// duration is a duration in its largest whole unit: time.Minute, 90 * time.Second.
func (f *file) duration(d time.Duration) *jen.Statement {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{
		{"Hour", time.Hour}, {"Minute", time.Minute}, {"Second", time.Second},
		{"Millisecond", time.Millisecond}, {"Microsecond", time.Microsecond},
	} {
		if d%unit.size == 0 {
			return f.units(int(d/unit.size), unit.name)
		}
	}
	return f.units(int(d), "Nanosecond")
}

func (f *file) units(n int, unit string) *jen.Statement {
	if n == 1 {
		return f.qual("time", "time", unit)
	}
	return jen.Lit(n).Op("*").Add(f.qual("time", "time", unit))
}
