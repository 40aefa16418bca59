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
		links.WriteString(article(v.Struct) + " [" + v.Struct + "], ")
	}
	emitDoc(f, []string{u.Value + " is " + links.String() + "or " + article(u.Unknown) + " [" + u.Unknown + "]."}, "", false)
	f.Type().Id(u.Value).Interface(jen.Id(u.Marker).Params())
	f.Line()
	emitDoc(f, []string{u.Unknown + " is " + article(u.Name) + " " + u.Name + " of a kind that the schema does not know, as it came."}, "", false)
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
	emitMarshal(f, u.Name, "MarshalJSON encodes the value.", jen.Return(jen.Qual(payloadPath, "EncodeVariant").Call(jen.Id("v").Dot("Value"))))
	emitUnmarshal(f, u.Name, "UnmarshalJSON decodes the value into the type that its member "+quoted(u.Tag)+" names.",
		jen.Switch(jen.Qual(payloadPath, "Kind").Call(jen.Id("data"), jen.Lit(u.Tag))).Block(cases...),
		decode(u.Unknown),
	)
}

// article returns the word that stands before a name.
func article(name string) string {
	if strings.ContainsRune("AEIO", rune(name[0])) {
		return "an"
	}
	return "a"
}

// quoted is foreign text in a doc comment of our own.
func quoted(s string) string { return `"` + s + `"` }
