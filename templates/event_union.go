package templates

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// emitUnion writes a value that is one of several objects.
//
//	// Source is what the field Source of Charge holds.
//	//
//	// It is one of several objects, which their member "object" tells apart.
//	type Source struct {
//		Value SourceValue // nil if the provider sent null
//	}
//
//	// SourceValue is a [BankAccount], a [Card], or a [SourceUnknown].
//	type SourceValue interface {
//		isSource()
//	}
//
//	// SourceUnknown is an object of a kind that the schema does not know.
//	type SourceUnknown struct {
//		payload.Unknown
//	}
//
//	func (SourceUnknown) isSource() {}
//
//	// MarshalJSON encodes the value.
//	func (v Source) MarshalJSON() ([]byte, error) {
//		return payload.EncodeVariant(v.Value)
//	}
//
//	// UnmarshalJSON decodes the value into the type that its member "object" names.
//	func (v *Source) UnmarshalJSON(data []byte) error {
//		switch payload.Kind(data, "object") {
//		case "bank_account":
//			return payload.DecodeVariant[BankAccount](data, &v.Value)
//		case "card":
//			return payload.DecodeVariant[Card](data, &v.Value)
//		}
//		return payload.DecodeVariant[SourceUnknown](data, &v.Value)
//	}
func emitUnion(f *jen.File, u *EventUnion) {
	doc := append(u.Doc[:len(u.Doc):len(u.Doc)], "It is one of several objects, which their member "+quoted(u.Tag)+" tells apart.")
	emitDoc(f, doc, u.Text, u.Deprecated)
	f.Type().Id(u.Name).Struct(
		jen.Id("Value").Id(u.Value).Comment("nil if the provider sent null"),
	)
	f.Line()

	var links strings.Builder
	for _, v := range u.Variants {
		links.WriteString("a [" + v.Struct + "], ")
	}
	emitDoc(f, []string{u.Value + " is " + links.String() + "or a [" + u.Unknown + "]."}, "", false)
	f.Type().Id(u.Value).Interface(jen.Id(u.Marker).Params())
	f.Line()
	emitDoc(f, []string{u.Unknown + " is a " + u.Name + " of a kind that the schema does not know, as it came."}, "", false)
	f.Type().Id(u.Unknown).Struct(jen.Qual(payloadPath, "Unknown"))
	f.Line()
	f.Func().Params(jen.Id(u.Unknown)).Id(u.Marker).Params().Block()
	f.Line()

	decode := func(name string) jen.Code {
		return jen.Return(jen.Qual(payloadPath, "DecodeVariant").Types(jen.Id(name)).Call(jen.Id("data"), jen.Op("&").Id("v").Dot("Value")))
	}
	var cases []jen.Code
	for _, v := range u.Variants {
		var kinds []jen.Code
		for _, k := range v.Kinds {
			kinds = append(kinds, jen.Lit(k))
		}
		cases = append(cases, jen.Case(kinds...).Block(decode(v.Struct)))
	}
	emitDoc(f, []string{"MarshalJSON encodes the value."}, "", false)
	f.Func().Params(jen.Id("v").Id(u.Name)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Return(jen.Qual(payloadPath, "EncodeVariant").Call(jen.Id("v").Dot("Value"))),
	)
	f.Line()
	emitDoc(f, []string{"UnmarshalJSON decodes the value into the type that its member " + quoted(u.Tag) + " names."}, "", false)
	f.Func().Params(jen.Id("v").Op("*").Id(u.Name)).Id("UnmarshalJSON").Params(jen.Id("data").Index().Byte()).Error().Block(
		jen.Switch(jen.Qual(payloadPath, "Kind").Call(jen.Id("data"), jen.Lit(u.Tag))).Block(cases...),
		decode(u.Unknown),
	)
	f.Line()
}

// quoted is foreign text in a doc comment of our own.
func quoted(s string) string { return `"` + s + `"` }

// emitExtra writes the methods of an object that may have members beyond its
// fields.
//
//	// MarshalJSON encodes the fields, and the members of Extra beside them.
//	func (v Labels) MarshalJSON() ([]byte, error) {
//		type plain Labels
//		return payload.EncodeExtra(plain(v), v.Extra)
//	}
//
//	// UnmarshalJSON decodes members without a field of their own into Extra.
//	func (v *Labels) UnmarshalJSON(data []byte) error {
//		type plain Labels
//		return payload.DecodeExtra(data, (*plain)(v), &v.Extra)
//	}
func emitExtra(f *jen.File, s *EventStruct) {
	extra := func() *jen.Statement { return jen.Id("v").Dot(s.Extra.Name) }
	emitDoc(f, []string{"MarshalJSON encodes the fields, and the members of " + s.Extra.Name + " beside them."}, "", false)
	f.Func().Params(jen.Id("v").Id(s.Name)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Type().Id("plain").Id(s.Name),
		jen.Return(jen.Qual(payloadPath, "EncodeExtra").Call(jen.Id("plain").Call(jen.Id("v")), extra())),
	)
	f.Line()
	emitDoc(f, []string{"UnmarshalJSON decodes members without a field of their own into " + s.Extra.Name + "."}, "", false)
	f.Func().Params(jen.Id("v").Op("*").Id(s.Name)).Id("UnmarshalJSON").Params(jen.Id("data").Index().Byte()).Error().Block(
		jen.Type().Id("plain").Id(s.Name),
		jen.Return(jen.Qual(payloadPath, "DecodeExtra").Call(jen.Id("data"), jen.Parens(jen.Op("*").Id("plain")).Call(jen.Id("v")), jen.Op("&").Add(extra()))),
	)
	f.Line()
}
