package events

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/naming"
	"github.com/restaq/restaq/internal/schema"
	"github.com/restaq/restaq/templates"
)

// reservedFields are the names of methods that structs have or may come to have.
var reservedFields = []string{"Validate", "MarshalJSON", "UnmarshalJSON"}

// fields returns the members of a struct, in the order of the schema.
func (b *builder) fields(d *declared) []templates.EventField {
	names, extra := b.fieldNames(d)
	for i, p := range d.shape.props { // types inside are named after the fields
		if b.stands(p.Schema) {
			b.goNames[spotOf(p.Schema)] = names[i]
		}
	}
	if x := d.shape.extra; x != nil {
		d.strct.Extra = &templates.EventExtra{
			Name: extra,
			Type: &templates.EventType{Kind: templates.Map, Elem: b.element(x.elem, d.parent, extra)},
		}
	}
	var fields []templates.EventField
	for i, p := range d.shape.props {
		shape := b.shapes.shape(p.Schema)
		if shape.widened != "" {
			b.problems.Widenf(p.Schema.Position, "property %q is kept as raw JSON: %s", p.Name, shape.widened)
		}
		t, option := member(b.typeOf(shape, d.parent, names[i]), p.Required, shape.null)
		fields = append(fields, templates.EventField{
			Name: names[i], Member: p.Name, Stand: standIn(d.shape.props, p.Name, names[i]), Option: option, Type: t, Text: fieldText(p.Schema), Deprecated: p.Schema.Deprecated,
		})
	}
	return fields
}

// fieldNames returns the names of a struct's fields, and of the one that holds
// the members beyond them. First choice has what is fixed by hand, then what has a
// name from before, then the names that Go custom likes best; where a name comes
// in the schema makes no difference.
func (b *builder) fieldNames(d *declared) (names []string, extra string) {
	var scope naming.Scope
	for _, name := range reservedFields {
		scope.Take(name)
	}
	names = make([]string, len(d.shape.props))
	at := map[string]int{}
	var others []string
	for i, p := range d.shape.props {
		at[p.Name] = i
		if p.Schema.GoName != "" && (p.Schema.Target == nil || b.names[p.Schema] == "") {
			names[i] = scope.Take(b.chosen(p.Schema, naming.Exported(p.Name)))
			continue
		}
		others = append(others, p.Name)
	}
	for _, name := range others {
		if had := b.earlier.name(thing{fieldThing, d.strct.Name, name}); had != "" && !scope.Has(had) {
			names[at[name]] = scope.Take(had)
		}
	}
	if d.shape.extra != nil {
		extra = b.earlier.name(thing{kind: extraThing, of: d.strct.Name})
		if extra == "" || scope.Has(extra) {
			extra = "Extra"
		}
		extra = scope.Take(extra, "Others")
	}
	for _, name := range naming.ByPreference(others) {
		if i := at[name]; names[i] == "" {
			candidates := naming.Alternatives(name)
			if first := candidates[0]; slices.Contains(reservedFields, first) || first == extra {
				candidates = append([]string{first + "Field"}, candidates[1:]...)
			}
			names[i] = scope.Take(candidates[0], candidates[1:]...)
		}
	}
	return names, extra
}

// standIn returns what stands in the tag of a field for a name that a tag can't
// hold, "" for any other name.
func standIn(props []schema.Property, member, field string) string {
	if templates.Taggable(member) {
		return ""
	}
	stand := "odd:" + field
	for indexProp(props, stand) >= 0 {
		stand += "_"
	}
	return stand
}

// items returns the fields of an array whose items differ in type, and of those
// behind them.
func (b *builder) items(d *declared) {
	for i, s := range d.shape.items {
		name := fmt.Sprintf("Item%d", i+1)
		shape := b.shapes.shape(s)
		t, _ := member(b.typeOf(shape, d.parent, name), i < d.shape.least, shape.null)
		d.strct.Fields = append(d.strct.Fields, templates.EventField{Name: name, Type: t, Text: fieldText(s)})
	}
	if !d.shape.closed {
		d.strct.Extra = &templates.EventExtra{Name: "Rest", Type: &templates.EventType{Kind: templates.Slice, Elem: b.element(d.shape.elem, d.parent, "Rest")}}
	}
}

// fieldText returns what the schema says about a member.
func fieldText(s *schema.Schema) string {
	parts := []string{s.Description}
	if s.Const != nil && s.Const.Kind == schema.String {
		parts = append(parts, "Always \""+s.Const.Text+"\".")
	}
	if d := s.Default; d != nil && len(d.Items)+len(d.Members) == 0 && d.Kind != schema.Null {
		parts = append(parts, "Where it is absent, the provider means \""+d.Text+"\".")
	}
	return strings.Trim(strings.Join(parts, "\n\n"), "\n")
}

// member returns the type of a member and its tag's option, from the type of its
// values.
func member(t *templates.EventType, required, null bool) (*templates.EventType, string) {
	switch {
	case t.Kind == templates.RawJSON:
		return t, pick(required, "", "omitempty")
	case t.Kind == templates.Payload && (t.Name == "Expandable" || t.Name == "OneOrMany"):
		return t, pick(required, "", "omitzero")
	case !required && null:
		return &templates.EventType{Kind: templates.Payload, Name: "Nullable", Elem: t}, "omitzero"
	case t.Kind == templates.Slice, t.Kind == templates.Map:
		return t, pick(required, "", "omitzero")
	case required && !null:
		return t, ""
	}
	return pointer(t), pick(required, "", "omitempty")
}

func pick(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

func pointer(t *templates.EventType) *templates.EventType {
	return &templates.EventType{Kind: templates.Pointer, Elem: t}
}

func basic(name string) *templates.EventType {
	return &templates.EventType{Kind: templates.Basic, Name: name}
}

func of(name string) *templates.EventType {
	return &templates.EventType{Kind: templates.Payload, Name: name}
}

var raw = &templates.EventType{Kind: templates.RawJSON}

// typeOf returns the Go type of a shape's values, null aside. A type that has no
// name yet is named after the field that it was met in.
func (b *builder) typeOf(s *shape, parent, field string) *templates.EventType {
	switch s.form {
	case object, union, tuple:
		return &templates.EventType{Kind: templates.Local, Name: b.nameOf(s, parent, field)}
	case text:
		if s.enum != nil {
			return &templates.EventType{Kind: templates.Local, Name: b.nameOf(s, parent, field)}
		}
		return basic("string")
	case boolean:
		return basic("bool")
	case integer:
		return integerType(s)
	case number, loose:
		return of("Number")
	case moment:
		return of("Time")
	case unix:
		return of("Unix")
	case array, dictionary, expandable, several:
		return b.holder(s, parent, field)
	}
	return raw
}

// holder returns the type of a shape that holds values of another.
func (b *builder) holder(s *shape, parent, field string) *templates.EventType {
	if b.inside[s] {
		b.problems.Widenf(s.owner.Position, "an array or map that holds itself is kept as raw JSON")
		return raw
	}
	b.inside[s] = true
	defer delete(b.inside, s)
	switch s.form {
	case array:
		return &templates.EventType{Kind: templates.Slice, Elem: b.element(s.elem, parent, field+"Item")}
	case dictionary:
		return &templates.EventType{Kind: templates.Map, Elem: b.element(s.elem, parent, field+"Value")}
	case several:
		return &templates.EventType{Kind: templates.Payload, Name: "OneOrMany", Elem: b.element(s.elem, parent, field)}
	}
	elem := raw
	if s.elem != nil {
		elem = b.typeOf(b.shapes.shape(s.elem), parent, field)
	}
	return &templates.EventType{Kind: templates.Payload, Name: "Expandable", Elem: elem}
}

// element returns the type of an array's items or a map's values.
func (b *builder) element(s *schema.Schema, parent, field string) *templates.EventType {
	if s == nil {
		return raw
	}
	shape := b.shapes.shape(s)
	if shape.widened != "" {
		b.problems.Widenf(s.Position, "it is kept as raw JSON: %s", shape.widened)
	}
	t := b.typeOf(shape, parent, field)
	if t, _ = member(t, true, shape.null); shape.null && t.Kind == templates.Slice {
		return t
	}
	return t
}

// The limits of Go's integers.
var (
	maxInt64  = new(big.Int).SetInt64(1<<63 - 1)
	minInt64  = new(big.Int).SetInt64(-1 << 63)
	maxUint64 = new(big.Int).SetUint64(1<<64 - 1)
)

// wideFormats are the formats of integers beyond 64 bits that are in use.
var wideFormats = map[string]bool{
	"bigint": true, "big-int": true, "biginteger": true, "big-integer": true, "BigInteger": true, "decimal": true,
	"int128": true, "uint128": true, "int256": true, "uint256": true,
}

// integerType returns int64 unless bounds, or values that the schema names, say
// that it is not enough.
func integerType(s *shape) *templates.EventType {
	low, _ := s.min.Integer()
	high, _ := s.max.Integer()
	if high != nil && roundTop(s.max) {
		high = nil
	}
	limit := high
	for _, v := range append(slices.Clone(s.owner.Enum), s.owner.Const, s.owner.Default) {
		if v == nil || !v.IsInteger() {
			continue
		}
		i, _ := (&schema.Bound{Text: v.Text}).Integer()
		if limit == nil || i.Cmp(limit) > 0 {
			limit = i
		}
		if low != nil && i.Cmp(low) < 0 || i.Cmp(minInt64) < 0 {
			low = i
		}
	}
	switch {
	case s.format == "int64":
		return basic("int64")
	case s.format == "uint64":
		return basic("uint64")
	case wideFormats[s.format]:
		return of("Number")
	case low != nil && low.Cmp(minInt64) < 0, limit != nil && limit.Cmp(maxUint64) > 0:
		return of("Number")
	case limit == nil || limit.Cmp(maxInt64) <= 0:
		return basic("int64")
	case low != nil && low.Sign() >= 0 && high != nil:
		return basic("uint64")
	}
	return of("Number")
}

// roundTop reports whether an upper bound is the first value beyond int64 that
// is not admitted, or what a tool that counts in floats makes of int64's maximum.
func roundTop(b *schema.Bound) bool {
	high, ok := b.Integer()
	return ok && new(big.Int).Sub(high, maxInt64).Cmp(big.NewInt(1)) == 0
}
