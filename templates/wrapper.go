package templates

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// wrapper emits the function by which a handler calls a step:
//
//	// recordPaymentStep runs recordPayment as step "record-payment".
//	func (b *Billing) recordPaymentStep(ctx context.Context, charge stripe.Charge) (Payment, error) {
//		return recordPaymentDef.Run(ctx, b, recordPaymentIn{charge})
//	}
//
// and for a step without output:
//
//	// sendReceiptStep runs sendReceipt as step "send-receipt".
//	func (b *Billing) sendReceiptStep(ctx context.Context, customer string, amount int64) error {
//		_, err := sendReceiptDef.Run(ctx, b, sendReceiptIn{customer, amount})
//		return err
//	}
func (f *file) wrapper(s *model.Step) {
	var values []jen.Code
	for _, in := range s.Inputs {
		values = append(values, jen.Id(in.Name))
	}
	receiver := jen.Struct().Values()
	fn := f.Comment("// " + s.Wrapper + " runs " + s.Name + " as step " + strconv.Quote(s.Record) + ".").Line().Func()
	if s.Recv != nil {
		receiver = jen.Id(s.RecvParam)
		fn.Params(jen.Id(s.RecvParam).Add(receiverType(s.Recv.Name(), s.RecvPointer)))
	}
	run := jen.Id(s.Stem+"Def").Dot("Run").Call(jen.Id(s.Ctx), receiver, f.inputType(s).Values(values...))
	fn.Id(s.Wrapper).Params(f.wrapperParams(s)...)
	if s.Output != nil {
		fn.Params(f.goType(s.Output), jen.Error()).Block(jen.Return(run))
	} else {
		fn.Error().Block(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(run), jen.Return(jen.Err()))
	}
	f.Line()
}

// wrapperParams are a wrapper's parameters. Neighbours of one type share it, as
// in "customer, region string".
func (f *file) wrapperParams(s *model.Step) []jen.Code {
	params := []jen.Code{jen.Id(s.Ctx).Add(f.context())}
	var names []jen.Code
	for i, in := range s.Inputs {
		names = append(names, jen.Id(in.Name))
		if i+1 < len(s.Inputs) && in.Type == s.Inputs[i+1].Type {
			continue
		}
		params = append(params, jen.List(names...).Add(f.goType(in.Type)))
		names = nil
	}
	return params
}

// inputs emits the struct of a step's inputs, if it has any:
//
//	// sendReceiptIn are the inputs of sendReceipt.
//	type sendReceiptIn struct {
//		customer string
//		amount   int64
//	}
func (f *file) inputs(s *model.Step) {
	if len(s.Inputs) == 0 {
		return
	}
	var fields []jen.Code
	for _, in := range s.Inputs {
		fields = append(fields, jen.Id(in.Name).Add(f.goType(in.Type)))
	}
	f.Comment("// " + s.Stem + "In are the inputs of " + s.Name + ".")
	f.Type().Id(s.Stem + "In").Struct(fields...)
	f.Line()
}

// inputType is the type of a step's inputs.
func (f *file) inputType(s *model.Step) *jen.Statement {
	if len(s.Inputs) == 0 {
		return jen.Struct()
	}
	return jen.Id(s.Stem + "In")
}

// outputType is the type of a step's output: restaq.None if it has none.
func (f *file) outputType(s *model.Step) *jen.Statement {
	if s.Output == nil {
		return f.runtime("None")
	}
	return f.goType(s.Output)
}
