package templates

import (
	"encoding/json"
	"fmt"
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/coding"
)

// leaves are the functions of package codec for kinds that need nothing else,
// without the words Encode and Decode.
var leaves = map[coding.Kind]string{
	coding.Bool: "Bool", coding.Int: "Int", coding.Uint: "Uint", coding.Float32: "Float32", coding.Float64: "Float64",
	coding.String: "String", coding.Bytes: "Bytes", coding.Time: "Time", coding.Raw: "Raw", coding.Any: "Any",
	coding.Number: "Number", coding.Methods: "Methods", coding.Text: "Text", coding.JSON: "JSON",
}

// direct are the encoder's own methods, and the type of their value.
var direct = map[coding.Kind]struct{ name, of string }{
	coding.Bool: {"Bool", "bool"}, coding.Int: {"Int", "int64"}, coding.Uint: {"Uint", "uint64"}, coding.String: {"String", "string"},
	coding.Float32: {"Float32", "float32"}, coding.Float64: {"Float64", "float64"},
}

// nodes are those for kinds that need the function of their elements.
var nodes = map[coding.Kind]string{
	coding.Pointer: "Pointer", coding.Slice: "Slice", coding.Array: "Array",
	coding.Map: "Map", coding.IntMap: "IntMap", coding.UintMap: "UintMap", coding.TextMap: "TextMap",
}

// quotedKinds are those with functions of their own under the tag option string.
var quotedKinds = map[coding.Kind]string{coding.Int: "Int", coding.Uint: "Uint"}

func (f *file) codecName(name string) *jen.Statement { return f.qual(codecPath, "codec", name) }

// encoder is the function that encodes c's type, decoder the one that decodes
// it.
func (f *file) encoder(c *coding.Coder) *jen.Statement { return f.function("encode", "Encode", c) }

func (f *file) decoder(c *coding.Coder) *jen.Statement { return f.function("decode", "Decode", c) }

func (f *file) function(own, shared string, c *coding.Coder) *jen.Statement {
	if c.Name != "" {
		return jen.Id(own + c.Name)
	}
	if c.Kind == coding.Own {
		return f.qual(payloadPath, "payload", shared+"Value")
	}
	return f.codecName(shared + leaves[c.Kind])
}

// An operand is a value that a statement encodes or decodes: itself, a pointer
// to it, if it is an array a slice of it, and what its methods are selected from.
type operand struct{ value, pointer, elements, selected jen.Code }

// variable is the operand for the variable x.
func variable(x func() *jen.Statement) operand {
	return operand{x(), jen.Op("&").Add(x()), x().Index(jen.Op(":")), x()}
}

// pointed is the operand for what the parameter v points to.
func pointed() operand {
	return operand{jen.Op("*").Id("v"), jen.Id("v"), jen.Id("v").Index(jen.Op(":")), jen.Id("v")}
}

// target is the operand for what the pointer x points to.
func (x operand) target() operand {
	value := jen.Op("*").Add(x.value)
	return operand{value: value, pointer: x.value, selected: value}
}

// whole is what the function for c's kind takes.
func (x operand) whole(c *coding.Coder) jen.Code {
	if c.Kind == coding.Array {
		return x.elements
	}
	return x.pointer
}

// encodeCall is the statement that encodes x, of c's type:
//
//	e.String(`,"id":`, v.ID)
//	e.Int(`,"amount":`, int64(v.Amount))
//	encodeAddress(e, `,"address":`, &v.Address)
//	codec.EncodeSlice(e, `,"items":`, &v.Items, encodeItem)
//	codec.EncodeString(e, `,"note":`, v.Note)
func (f *file) encodeCall(c *coding.Coder, key jen.Code, x operand) *jen.Statement {
	if c.Kind == coding.Own {
		return jen.Add(x.selected).Dot("EncodeJSON").Call(jen.Id("e"), key)
	}
	if method := direct[c.Kind]; method.of != "" {
		value := jen.Add(x.selected)
		if types.TypeString(c.Type, nil) != method.of {
			value = jen.Id(method.of).Parens(value)
		}
		return jen.Id("e").Dot(method.name).Call(key, value)
	}
	if c.Name != "" || leaves[c.Kind] != "" {
		return f.encoder(c).Call(jen.Id("e"), key, x.pointer)
	}
	return f.encodeNode(c, key, x)
}

// encodeNode is encodeCall for a kind with elements.
func (f *file) encodeNode(c *coding.Coder, key jen.Code, x operand) *jen.Statement {
	switch {
	case c.Kind == coding.Pointer && takesNil(c.Elem):
		return f.encoder(c.Elem).Call(jen.Id("e"), key, x.value)
	case c.Kind == coding.Nullable:
		return f.qual(payloadPath, "payload", "EncodeNullable").Call(jen.Id("e"), key, x.pointer, f.encoder(c.Elem))
	}
	return f.codecName("Encode"+nodes[c.Kind]).Call(jen.Id("e"), key, x.whole(c), f.encoder(c.Elem))
}

// takesNil reports whether the function for c's kind encodes nil as null.
func takesNil(c *coding.Coder) bool { return c.Kind == coding.Struct || direct[c.Kind].of != "" }

// decodeCall is the statement that decodes into x, of c's type:
//
//	codec.DecodeString(d, &v.ID)
//	decodeAddress(d, &v.Address)
//	codec.DecodeSlice(d, &v.Items, decodeItem)
func (f *file) decodeCall(c *coding.Coder, x operand) *jen.Statement {
	if c.Kind == coding.Own {
		return jen.Add(x.selected).Dot("DecodeJSON").Call(jen.Id("d"))
	}
	if c.Name != "" || leaves[c.Kind] != "" {
		return f.decoder(c).Call(jen.Id("d"), x.pointer)
	}
	return f.decodeNode(c, x)
}

// decodeNode is decodeCall for a kind with elements.
func (f *file) decodeNode(c *coding.Coder, x operand) *jen.Statement {
	if c.Kind == coding.Nullable {
		return f.qual(payloadPath, "payload", "DecodeNullable").Call(jen.Id("d"), x.pointer, f.decoder(c.Elem))
	}
	return f.codecName("Decode"+nodes[c.Kind]).Call(jen.Id("d"), x.whole(c), f.decoder(c.Elem))
}

// coders emits the functions and tables of all types that have any.
func (f *file) coders() {
	for _, c := range f.plan.Coders() {
		switch c.Kind {
		case coding.Struct:
			f.structCoder(c)
		case coding.Family:
			f.familyCoder(c)
		default:
			f.nodeCoder(c)
		}
	}
}

// nodeCoder emits the functions of a type that others, or it itself, have as
// elements:
//
//	func encodeItemSlice(e *codec.Encoder, key string, v *[]Item) {
//		codec.EncodeSlice(e, key, v, encodeItem)
//	}
func (f *file) nodeCoder(c *coding.Coder) {
	if c.Encodes {
		f.encodeFunc(c.Name, "v", f.goType(c.Type), recursive(c, f.encodeNode(c, jen.Id("key"), pointed()))...)
	}
	if c.Decodes {
		f.decodeFunc(c.Name, "v", f.goType(c.Type), f.decodeNode(c, pointed()))
	}
}

// recursive puts what counts the depth around the body of a function for a type
// that contains itself:
//
//	if !e.Enter(key, v) {
//		return
//	}
//	…
//	e.Leave()
func recursive(c *coding.Coder, body ...jen.Code) []jen.Code {
	if !c.Recursive {
		return body
	}
	enter := jen.If(jen.Op("!").Id("e").Dot("Enter").Call(jen.Id("key"), jen.Id("v"))).Block(jen.Return())
	return append(append([]jen.Code{enter}, body...), jen.Id("e").Dot("Leave").Call())
}

// structCoder emits the table and the functions of a struct:
//
//	var paymentFields = codec.Fields{Names: []string{"charge_id", "amount"}}
//
//	func encodePayment(e *codec.Encoder, key string, v *Payment) {
//		start := e.Open(key)
//		e.String(`,"charge_id":`, v.ChargeID)
//		e.Int(`,"amount":`, v.Amount)
//		e.Close(start)
//	}
//
//	func decodePayment(d *codec.Decoder, v *Payment) {
//		for i := d.Object(&paymentFields); i >= 0; i = d.Next(&paymentFields, i) {
//			switch i {
//			case 0:
//				codec.DecodeString(d, &v.ChargeID)
//			case 1:
//				codec.DecodeInt(d, &v.Amount)
//			}
//		}
//	}
func (f *file) structCoder(c *coding.Coder) {
	if c.Encodes {
		f.structEncoder(c)
	}
	if !c.Decodes {
		return
	}
	var names, cases []jen.Code
	for i := range c.Fields {
		names = append(names, jen.Lit(c.Fields[i].Name))
		cases = append(cases, jen.Case(jen.Lit(i)).Block(f.decodeField(&c.Fields[i])...))
	}
	table := coding.Table(c.Name)
	f.Var().Id(table).Op("=").Add(f.codecName("Fields")).Values(element("Names", jen.Index().String().Values(names...)))
	f.Line()
	fields := jen.Op("&").Id(table)
	var body []jen.Code
	if len(cases) > 0 {
		body = append(body, jen.Switch(jen.Id("i")).Block(cases...))
	}
	f.decodeFunc(c.Name, "v", f.goType(c.Type), jen.For(
		jen.Id("i").Op(":=").Id("d").Dot("Object").Call(fields), jen.Id("i").Op(">=").Lit(0),
		jen.Id("i").Op("=").Id("d").Dot("Next").Call(fields.Clone(), jen.Id("i")),
	).Block(body...))
}

// structEncoder emits the function that encodes a struct; if pointers to it are
// encoded, nil is null:
//
//	if v == nil {
//		e.Null(key)
//		return
//	}
func (f *file) structEncoder(c *coding.Coder) {
	var nothing []jen.Code
	if c.NilEncodes {
		nothing = append(nothing, jen.If(jen.Id("v").Op("==").Nil()).Block(
			jen.Id("e").Dot("Null").Call(jen.Id("key")), jen.Return()))
	}
	body := []jen.Code{jen.Id("start").Op(":=").Id("e").Dot("Open").Call(jen.Id("key"))}
	for i := range c.Fields {
		body = append(body, f.encodeField(&c.Fields[i])...)
	}
	body = append(body, jen.Id("e").Dot("Close").Call(jen.Id("start")))
	f.encodeFunc(c.Name, "v", f.goType(c.Type), append(nothing, recursive(c, body...)...)...)
}

// at is the expression for the part of v up to the n-th step of a path.
func at(path []coding.Step, n int) *jen.Statement {
	x := jen.Id("v")
	for _, step := range path[:n] {
		x.Dot(step.Name)
	}
	return x
}

// encodeField is what encodes a member; if it may be left out, below a
// condition:
//
//	if v.Note != "" {
//		e.String(`,"note":`, v.Note)
//	}
func (f *file) encodeField(field *coding.Field) []jen.Code {
	name, err := json.Marshal(field.Name)
	if err != nil {
		panic(fmt.Sprintf("templates: encode a string: %v", err)) // no string is an error
	}
	x := func() *jen.Statement { return at(field.Path, len(field.Path)) }
	key := jen.Id("`," + string(name) + ":`")
	call := f.encodeCall(field.Coder, key, variable(x))
	if field.Option.Quoted {
		call = f.codecName("EncodeQuoted"+quotedKinds[field.Coder.Kind]).Call(jen.Id("e"), key, jen.Op("&").Add(x()))
	}
	var conditions []jen.Code
	for n, step := range field.Path {
		if step.Pointer {
			conditions = append(conditions, at(field.Path, n+1).Op("!=").Nil())
		}
	}
	if field.LeftOut() && !field.Option.Quoted {
		if c := field.Coder; c.Kind == coding.Pointer && direct[c.Elem.Kind].of != "" {
			conditions = append(conditions, x().Op("!=").Nil())
			call = f.encodeCall(c.Elem, key, variable(x).target())
		} else if present := f.encodePresent(c, key, variable(x)); present != nil {
			call = present
		} else if condition := f.condition(field, x); condition != nil {
			conditions = append(conditions, condition)
		} else {
			return nil
		}
	} else if field.LeftOut() {
		conditions = append(conditions, f.condition(field, x))
	}
	if len(conditions) == 0 {
		return []jen.Code{call}
	}
	all := jen.Add(conditions[0])
	for _, c := range conditions[1:] {
		all.Op("&&").Add(c)
	}
	return []jen.Code{jen.If(all).Block(call)}
}

// encodePresent is the statement that encodes x unless it is absent, for types
// that can be; nil for others:
//
//	codec.EncodePresent(e, `,"address":`, v.Address, encodeAddress)
//	payload.EncodePresent(e, `,"city":`, &v.City, codec.EncodeString)
//	v.Customer.EncodePresent(e, `,"customer":`)
func (f *file) encodePresent(c *coding.Coder, key jen.Code, x operand) *jen.Statement {
	switch c.Kind {
	case coding.Pointer:
		return f.codecName("EncodePresent").Call(jen.Id("e"), key, x.value, f.encoder(c.Elem))
	case coding.Nullable:
		return f.qual(payloadPath, "payload", "EncodePresent").Call(jen.Id("e"), key, x.pointer, f.encoder(c.Elem))
	}
	return nil
}

// condition is that under which a field that may be left out is not; nil if it
// always is.
func (f *file) condition(field *coding.Field, x func() *jen.Statement) *jen.Statement {
	t := field.Coder.Type
	array, ok := t.Underlying().(*types.Array)
	switch {
	case field.Option.OmitEmpty && ok && array.Len() == 0:
		return nil
	case field.Option.OmitEmpty && field.Option.OmitZero && field.ZeroMethod != coding.ByValue:
		return f.notEmpty(t, x).Op("&&").Add(f.notZero(t, field.ZeroMethod, x))
	case field.Option.OmitEmpty:
		return f.notEmpty(t, x)
	}
	return f.notZero(t, field.ZeroMethod, x)
}

// notEmpty is the condition under which omitempty leaves x in.
func (f *file) notEmpty(t types.Type, x func() *jen.Statement) *jen.Statement {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array:
		return jen.Len(x()).Op("!=").Lit(0)
	}
	return f.notZero(t, coding.ByValue, x)
}

// notZero is the condition under which omitzero leaves x in.
func (f *file) notZero(t types.Type, method coding.Zero, x func() *jen.Statement) *jen.Statement {
	switch method {
	case coding.ByMethod:
		return jen.Op("!").Add(x()).Dot("IsZero").Call()
	case coding.ByReflection:
		return jen.Op("!").Add(f.codecName("IsZero").Call(jen.Op("&").Add(x())))
	}
	basic, ok := t.Underlying().(*types.Basic)
	switch {
	case !ok:
		return x().Op("!=").Nil()
	case basic.Info()&types.IsBoolean != 0:
		return x()
	case basic.Info()&types.IsString != 0:
		return x().Op("!=").Lit("")
	}
	return x().Op("!=").Lit(0)
}

// decodeField is what decodes a member. Embedded pointers on the way to it are
// made:
//
//	codec.Make(&v.Base)
//	codec.DecodeString(d, &v.Base.ID)
func (f *file) decodeField(field *coding.Field) []jen.Code {
	x := func() *jen.Statement { return at(field.Path, len(field.Path)) }
	var body []jen.Code
	for n, step := range field.Path {
		if step.Pointer {
			body = append(body, f.codecName("Make").Call(jen.Op("&").Add(at(field.Path, n+1))))
		}
	}
	if field.Option.Quoted {
		return append(body, f.codecName("DecodeQuoted"+quotedKinds[field.Coder.Kind]).Call(jen.Id("d"), jen.Op("&").Add(x())))
	}
	return append(body, f.decodeCall(field.Coder, variable(x)))
}

func (f *file) encodeFunc(name, param string, typ jen.Code, body ...jen.Code) {
	f.Func().Id("encode"+name).Params(
		jen.Id("e").Op("*").Add(f.codecName("Encoder")), jen.Id("key").String(), jen.Id(param).Op("*").Add(typ),
	).Block(body...)
	f.Line()
}

func (f *file) decodeFunc(name, param string, typ jen.Code, body ...jen.Code) {
	f.Func().Id("decode"+name).Params(
		jen.Id("d").Op("*").Add(f.codecName("Decoder")), jen.Id(param).Op("*").Add(typ),
	).Block(body...)
	f.Line()
}
