package templates

import (
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// guards emits what stops compiling when the source has changed and nobody has
// generated again, or when the runtime is of another generation. The compiler
// names the line, and the line says what to do:
//
//	const _ = restaq.GeneratedCodeV1 // generated for another runtime: run go generate
//
//	var _ func(*Billing, context.Context, string, int64) error = (*Billing).sendReceipt // signature changed: run go generate
//
//	var _ struct {
//		ChargeID string `json:"charge_id"`
//		Amount   Cents
//	} = Payment{} // a field or tag changed: run go generate
//
//	var _ []Cents = Prices(nil) // the type changed: run go generate
//
//	var _ = (*int64)((*Cents)(nil)) // the type changed: run go generate
//
// The first of these would be caught nowhere else where a call converts
// silently, an int64 to an any, say. The user's aliases are written out, as an
// alias matches itself whatever it stands for.
func (f *file) guards(guarded []*types.Named, expands func(*types.Alias) bool) {
	f.expands = expands
	defer func() { f.expands = nil }()
	f.Const().Id("_").Op("=").Add(f.runtime("GeneratedCodeV1")).Comment("generated for another runtime: run go generate")
	f.Line()
	for _, h := range f.pkg.Handlers() {
		f.signatureGuard(&h.Func)
	}
	for _, s := range f.pkg.Steps() {
		f.signatureGuard(&s.Func)
		for _, c := range s.Converters {
			f.signatureGuard(&c.Func)
		}
	}
	for _, t := range guarded {
		f.typeGuard(t)
		f.Line()
	}
}

func (f *file) signatureGuard(fn *model.Func) {
	sig := fn.Obj.Signature()
	value := jen.Id(fn.Name)
	var params []*types.Var
	if recv := sig.Recv(); recv != nil {
		params = append(params, recv)
		value = jen.Id(fn.Recv.Name()).Dot(fn.Name)
		if fn.RecvPointer {
			value = jen.Parens(jen.Op("*").Id(fn.Recv.Name())).Dot(fn.Name)
		}
	}
	for p := range sig.Params().Variables() {
		params = append(params, p)
	}
	full := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), false)
	f.Var().Id("_").Add(f.goType(full)).Op("=").Add(value).Comment("signature changed: run go generate")
	f.Line()
}

func (f *file) typeGuard(t *types.Named) {
	under, remark := t.Underlying(), "the type changed: run go generate"
	if s, ok := under.(*types.Struct); ok {
		f.Var().Id("_").Add(f.structType(s)).Op("=").Add(f.goType(t)).Values().Comment("a field or tag changed: run go generate")
		return
	}
	switch under.(type) {
	case *types.Basic: // which no named type can be assigned to
		f.Var().Id("_").Op("=").Parens(jen.Op("*").Add(f.goType(under))).
			Call(jen.Parens(jen.Op("*").Add(f.goType(t))).Call(jen.Nil())).Comment(remark)
	case *types.Array:
		f.Var().Id("_").Add(f.goType(under)).Op("=").Add(f.goType(t)).Values().Comment(remark)
	default:
		f.Var().Id("_").Add(f.goType(under)).Op("=").Add(f.goType(t)).Call(jen.Nil()).Comment(remark)
	}
}
