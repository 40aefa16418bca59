package templates

import (
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
//		Shape:     "92d7d414b100537a",
//	}
func (f *file) codec(s *model.Step, shape OutputShape) {
	in := "in"
	if len(s.Inputs) == 0 {
		in = "_"
	}
	var pointers []jen.Code
	for _, input := range s.Inputs {
		pointers = append(pointers, jen.Op("&").Id(in).Dot(input.Name))
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
		elements = append(elements,
			element("AppendOut", f.qual(codecPath, "codec", "Append").Types(f.goType(s.Output))),
			element("DecodeOut", f.qual(codecPath, "codec", "Decode").Types(f.goType(s.Output))),
			element("Shape", jen.Lit(shape.Fingerprint)),
		)
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
