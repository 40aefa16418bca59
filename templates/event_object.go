package templates

import "github.com/dave/jennifer/jen"

// emitObjectMethods writes the methods of a struct that encoding/json can't do
// alone: one with members beyond its fields, with members of odd names, or one
// that is an array in JSON.
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
func emitObjectMethods(f *jen.File, s *EventStruct) {
	if s.Tuple {
		emitTupleMethods(f, s)
		return
	}
	encode, decode := jen.Qual(payloadPath, "EncodeOdd"), jen.Qual(payloadPath, "DecodeOdd")
	encoded := []jen.Code{jen.Id("plain").Call(jen.Id("v"))}
	decoded := []jen.Code{jen.Id("data"), jen.Parens(jen.Op("*").Id("plain")).Call(jen.Id("v"))}
	marshal, unmarshal := "MarshalJSON encodes the members under their own names.", "UnmarshalJSON decodes the members by their own names."
	if s.Extra != nil {
		encode, decode = jen.Qual(payloadPath, "EncodeExtra"), jen.Qual(payloadPath, "DecodeExtra")
		encoded = append(encoded, jen.Id("v").Dot(s.Extra.Name))
		decoded = append(decoded, jen.Op("&").Id("v").Dot(s.Extra.Name))
		marshal = "MarshalJSON encodes the fields, and the members of " + s.Extra.Name + " beside them."
		unmarshal = "UnmarshalJSON decodes members without a field of their own into " + s.Extra.Name + "."
	}
	for _, field := range s.Fields {
		if field.Stand != "" {
			odd := jen.Qual(payloadPath, "Odd").Values(jen.Id("Tag").Op(":").Lit(field.Stand), jen.Id("Name").Op(":").Lit(field.Member))
			encoded, decoded = append(encoded, odd), append(decoded, odd)
		}
	}
	plain := jen.Type().Id("plain").Id(s.Name)
	emitMarshal(f, s.Name, marshal, plain, jen.Return(encode.Call(encoded...)))
	emitUnmarshal(f, s.Name, unmarshal, plain, jen.Return(decode.Call(decoded...)))
}

// emitTupleMethods writes the methods of an array whose items differ in type.
//
//	// MarshalJSON encodes the items as an array.
//	func (v Pair) MarshalJSON() ([]byte, error) {
//		return payload.EncodeTuple(1, v.Rest, v.Item1, v.Item2)
//	}
//
//	// UnmarshalJSON decodes an array.
//	func (v *Pair) UnmarshalJSON(data []byte) error {
//		return payload.DecodeTuple(data, &v.Rest, &v.Item1, &v.Item2)
//	}
func emitTupleMethods(f *jen.File, s *EventStruct) {
	encoded, decoded := []jen.Code{jen.Lit(s.Least), jen.Nil()}, []jen.Code{jen.Id("data"), jen.Nil()}
	if s.Extra != nil {
		encoded[1], decoded[1] = jen.Id("v").Dot(s.Extra.Name), jen.Op("&").Id("v").Dot(s.Extra.Name)
	}
	for _, field := range s.Fields {
		encoded = append(encoded, jen.Id("v").Dot(field.Name))
		decoded = append(decoded, jen.Op("&").Id("v").Dot(field.Name))
	}
	emitMarshal(f, s.Name, "MarshalJSON encodes the items as an array.", jen.Return(jen.Qual(payloadPath, "EncodeTuple").Call(encoded...)))
	emitUnmarshal(f, s.Name, "UnmarshalJSON decodes an array.", jen.Return(jen.Qual(payloadPath, "DecodeTuple").Call(decoded...)))
}

func emitMarshal(f *jen.File, name, doc string, body ...jen.Code) {
	emitDoc(f, []string{doc}, "", false)
	f.Func().Params(jen.Id("v").Id(name)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).Block(body...)
	f.Line()
}

func emitUnmarshal(f *jen.File, name, doc string, body ...jen.Code) {
	emitDoc(f, []string{doc}, "", false)
	f.Func().Params(jen.Id("v").Op("*").Id(name)).Id("UnmarshalJSON").Params(jen.Id("data").Index().Byte()).Error().Block(body...)
	f.Line()
}
