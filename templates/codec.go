package templates

import (
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// codec emits how a step's inputs and output are encoded; what concerns the
// output is left out for a step without one:
//
//	var recordPaymentCodec = restaq.Codec[recordPaymentIn, Payment]{
//		AppendIn: func(dst []byte, in *recordPaymentIn) ([]byte, error) {
//			return codec.AppendTuple(dst, &in.charge)
//		},
//		DecodeIn: func(data []byte, in *recordPaymentIn) error {
//			return codec.DecodeTuple(data, &in.charge)
//		},
//		AppendOut: codec.Append[Payment],
//		DecodeOut: codec.Decode[Payment],
//		Shape:     "3a6d3582d49544a1",
//	}
func (f *file) codec(s *model.Step, shape OutputShape) {
	in := "in"
	if len(s.Inputs) == 0 {
		in = "_"
	}
	var pointers []jen.Code
	for _, input := range s.Inputs {
		pointers = append(pointers, f.encodable(jen.Op("&").Id(in).Dot(input.Name), input.Type))
	}
	tuple := func(fn, bytes string) *jen.Statement {
		return f.qual(codecPath, "codec", fn).Call(append([]jen.Code{jen.Id(bytes)}, pointers...)...)
	}
	elements := []jen.Code{
		element("AppendIn", jen.Func().Params(
			jen.Id("dst").Index().Byte(), jen.Id(in).Op("*").Add(f.inputType(s)),
		).Params(jen.Index().Byte(), jen.Error()).Block(jen.Return(tuple("AppendTuple", "dst")))),
		element("DecodeIn", jen.Func().Params(
			jen.Id("data").Index().Byte(), jen.Id(in).Op("*").Add(f.inputType(s)),
		).Error().Block(jen.Return(tuple("DecodeTuple", "data")))),
	}
	if s.Output != nil {
		elements = append(elements, f.outputCodec(s.Output)...)
		elements = append(elements, element("Shape", jen.Lit(shape.Fingerprint)))
	}
	if len(shape.Earlier) > 0 {
		var earlier []jen.Code
		for _, print := range shape.Earlier {
			earlier = append(earlier, jen.Lit(print))
		}
		elements = append(elements, element("Reads", jen.Index().String().Values(earlier...)))
	}
	f.Var().Id(s.Stem + "Codec").Op("=").Add(
		literal(f.runtime("Codec").Types(f.inputType(s), f.outputType(s)), elements))
	f.Line()
}

// outputCodec is how an output is encoded. An event of a family needs its type
// beside it.
func (f *file) outputCodec(t types.Type) []jen.Code {
	if family(t) == nil {
		return []jen.Code{
			element("AppendOut", f.qual(codecPath, "codec", "Append").Types(f.goType(t))),
			element("DecodeOut", f.qual(codecPath, "codec", "Decode").Types(f.goType(t))),
		}
	}
	out := func() *jen.Statement { return jen.Id("out").Op("*").Add(f.goType(t)) }
	call := func(fn, bytes string) *jen.Statement {
		return jen.Return(f.qual(codecPath, "codec", fn).Call(jen.Id(bytes), f.encodable(jen.Id("out"), t)))
	}
	return []jen.Code{
		element("AppendOut", jen.Func().Params(jen.Id("dst").Index().Byte(), out()).
			Params(jen.Index().Byte(), jen.Error()).Block(call("Append", "dst"))),
		element("DecodeOut", jen.Func().Params(jen.Id("data").Index().Byte(), out()).
			Error().Block(call("Decode", "data"))),
	}
}
