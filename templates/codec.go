package templates

import (
	"go/types"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/coding"
	"github.com/restaq/restaq/internal/model"
)

// codec emits how a step's inputs and output are encoded; what concerns the
// output is left out for a step without one:
//
//	var recordPaymentCodec = restaq.Codec[recordPaymentIn, Payment]{
//		AppendIn:  codec.Appender(encodeRecordPaymentIn),
//		DecodeIn:  codec.Reader(decodeRecordPaymentIn),
//		AppendOut: codec.Appender(encodePayment),
//		DecodeOut: codec.Reader(decodePayment),
//		Shape:     "3a6d3582d49544a1",
//	}
//
// and for a step whose output had other shapes before, one of which a converter
// takes:
//
//	Reads:   []string{"9c1185a5c5e9fc54"},
//	ReadBy:  []string{"9c1185a5c5e9fc54"},
//	Earlier: []string{"0f4b1d7c2a3e5968"},
//	Converters: []restaq.Converter[Payment]{
//		restaq.ConvertFrom("0f4b1d7c2a3e5968", codec.Reader(decodePaymentV1), paymentFromV1),
//	},
func (f *file) codec(s *model.Step, shape OutputShape) {
	encode, decode := f.codecName("EncodeNone"), f.codecName("DecodeNone")
	if len(s.Inputs) > 0 {
		encode, decode = jen.Id("encode"+inName(s)), jen.Id("decode"+inName(s))
	}
	elements := f.codecElements("In", encode, decode)
	if s.Output != nil {
		c := f.plan.Of(s.Output)
		elements = append(elements, f.codecElements("Out", f.instance(c, f.encoder(c)), f.instance(c, f.decoder(c)))...)
		elements = append(elements, element("Shape", jen.Lit(shape.Fingerprint)))
	}
	for _, list := range []struct {
		name   string
		prints []string
	}{{"Reads", shape.Reads}, {"ReadBy", shape.ReadBy}, {"Earlier", shape.Earlier}} {
		if len(list.prints) > 0 {
			elements = append(elements, element(list.name, texts(list.prints)))
		}
	}
	if len(s.Converters) > 0 {
		elements = append(elements, element("Converters", f.converters(s, shape.Converted)))
	}
	f.Var().Id(s.Stem + "Codec").Op("=").Add(
		literal(f.runtime("Codec").Types(f.inputType(s), f.outputType(s)), elements))
	f.Line()
}

// texts is a list of them: []string{"3a6d3582d49544a1"}.
func texts(list []string) *jen.Statement {
	var literals []jen.Code
	for _, text := range list {
		literals = append(literals, jen.Lit(text))
	}
	return jen.Index().String().Values(literals...)
}

// converters are what reads the records of earlier shapes by a step's
// converters, in their order.
func (f *file) converters(s *model.Step, shapes []string) *jen.Statement {
	var all []jen.Code
	for i, from := range s.Converters {
		c := f.plan.Of(from.From)
		reader := f.codecName("Reader").Call(f.instance(c, f.decoder(c)))
		all = append(all, f.runtime("ConvertFrom").Call(jen.Lit(shapes[i]), reader, jen.Id(from.Name)))
	}
	return jen.Index().Add(f.runtime("Converter").Types(f.outputType(s))).
		Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, all...)
}

func (f *file) codecElements(of string, encode, decode jen.Code) []jen.Code {
	return []jen.Code{
		element("Append"+of, f.codecName("Appender").Call(encode)),
		element("Decode"+of, f.codecName("Reader").Call(decode)),
	}
}

// instance is a function of c's as a value by itself, from whose use its type
// arguments cannot be inferred.
func (f *file) instance(c *coding.Coder, function *jen.Statement) *jen.Statement {
	if c.Name != "" || c.Kind == coding.Time || c.Kind == coding.Any || c.Kind == coding.Number {
		return function
	}
	return function.Types(f.goType(c.Type))
}

// inName is what the functions for a step's inputs are named after.
func inName(s *model.Step) string { return upperFirst(s.Stem) + "In" }

func upperFirst(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}

// inputCoders emits the functions for a step's inputs, an array of them in
// order:
//
//	func encodeRecordPaymentIn(e *codec.Encoder, key string, in *recordPaymentIn) {
//		start := e.Open(key)
//		encodeStripeCharge(e, ",", &in.charge)
//		e.CloseArray(start)
//	}
//
//	func decodeRecordPaymentIn(d *codec.Decoder, in *recordPaymentIn) {
//		d.Token('[')
//		decodeStripeCharge(d, &in.charge)
//		d.Token(']')
//	}
func (f *file) inputCoders(s *model.Step) {
	if len(s.Inputs) == 0 {
		return
	}
	encode := []jen.Code{jen.Id("start").Op(":=").Id("e").Dot("Open").Call(jen.Id("key"))}
	var decode []jen.Code
	before := '['
	for _, input := range s.Inputs {
		field := func() *jen.Statement { return jen.Id("in").Dot(input.Name) }
		decode = append(decode, punctuation(before))
		before = ','
		c := f.plan.Of(input.Type)
		encode = append(encode, f.encodeCall(c, jen.Lit(","), variable(field)))
		decode = append(decode, f.decodeCall(c, variable(field)))
	}
	encode = append(encode, jen.Id("e").Dot("CloseArray").Call(jen.Id("start")))
	decode = append(decode, punctuation(']'))
	f.encodeFunc(inName(s), "in", f.inputType(s), encode...)
	f.decodeFunc(inName(s), "in", f.inputType(s), decode...)
}

func punctuation(c rune) jen.Code { return jen.Id("d").Dot("Token").Call(jen.LitRune(c)) }

// NewPlan returns the plan for all types that a package's file needs: those of
// steps' inputs and outputs, to encode and to decode, and those of handlers'
// events and of what converters take, to decode.
func NewPlan(p *model.Package) *coding.Plan {
	taken := avoided(p)
	for _, s := range p.Steps() {
		taken["encode"+inName(s)], taken["decode"+inName(s)] = true, true
	}
	plan := coding.New(p.Types, func(name string) bool { return taken[name] || p.Taken[name] })
	add := func(t types.Type, encodes bool) {
		if named := family(t); named != nil {
			plan.AddFamily(named, membersOf(p, named), encodes, true)
		} else {
			plan.Add(t, encodes, true)
		}
	}
	for _, s := range p.Steps() {
		for _, in := range s.Inputs {
			add(in.Type, true)
		}
		if s.Output != nil {
			add(s.Output, true)
		}
		for _, c := range s.Converters {
			add(c.From, false)
		}
	}
	for _, h := range p.Handlers() {
		if h.Kind != model.RawEvent {
			add(h.Event, false)
		}
	}
	plan.Finish()
	return plan
}
