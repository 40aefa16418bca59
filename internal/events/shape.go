package events

import (
	"slices"

	"github.com/restaq/restaq/internal/schema"
)

// form is what a JSON value is in Go.
type form int

const (
	anything   form = iota // any value, kept raw
	nothing                // null alone
	bare                   // an object without a word on its members
	object                 // with known members
	dictionary             // with members of one type
	array
	text
	boolean
	integer
	number
	loose      // a number or a string
	moment     // a date-time, or a number in its place
	unix       // seconds since 1970
	expandable // an id or the whole object
	several    // a value, or an array of such
	union      // one of several objects, which a member tells apart
	tuple      // an array whose items differ in type by their place
)

var formNames = [...]string{"anything", "null", "an object of any members", "an object", "a map", "an array", "a string", "a boolean", "an integer", "a number", "a number or string", "a time", "a unix time", "a reference", "a value or an array of such", "one of several objects", "an array of different items"}

// shape is what a schema says of its values, references and combinations
// followed. It is shared: copy before changing.
type shape struct {
	form  form
	null  bool
	owner *schema.Schema // names the struct or enum

	props []schema.Property // of an object
	extra *extra            // of an object: its members beyond those, if they have a type

	tag      string // of a union: the member that tells its variants apart
	variants []variant

	elem *schema.Schema // of an array, a dictionary, an expandable, a several; nil: anything
	enum []*schema.Node // of a text: its known values, never empty if not nil
	min  *schema.Bound
	max  *schema.Bound

	items  []*schema.Schema // of a tuple; elem is of those behind them
	least  int              // items that always come
	closed bool             // no items come behind them

	format  string
	named   bool   // owner stands in $defs, or was reached by $ref
	widened string // why a value is kept raw though the schema says more
}

// extra is what members beyond the known ones hold.
type extra struct {
	elem  *schema.Schema
	loose bool // members of other types may come as well
}

// shaper finds shapes, each once.
type shaper struct {
	problems *schema.Problems
	done     map[*schema.Schema]*shape
	open     map[*schema.Schema]bool
	joined   map[join]*schema.Schema
	partOf   map[*schema.Schema]*schema.Schema // schemas of our own making, of which there is one at another's place
}

// join names a schema of our own making: all of two schemas, or any of them.
type join struct {
	all  bool
	a, b *schema.Schema
}

// join returns the schema that stands for two. It is one schema for each pair,
// so that types which hold themselves come to an end.
func (sh *shaper) join(j join) *schema.Schema {
	s, ok := sh.joined[j]
	if !ok {
		s = &schema.Schema{Position: j.b.Position, Description: j.b.Description, GoName: firstOf(j.a.GoName, j.b.GoName)}
		if pair := []*schema.Schema{j.a, j.b}; j.all {
			s.AllOf = pair
		} else {
			s.AnyOf = pair
		}
		sh.joined[j] = s
	}
	return s
}

func newShaper(problems *schema.Problems) *shaper {
	return &shaper{problems: problems, done: map[*schema.Schema]*shape{}, open: map[*schema.Schema]bool{}, joined: map[join]*schema.Schema{}, partOf: map[*schema.Schema]*schema.Schema{}}
}

// shape returns the shape of s.
func (sh *shaper) shape(s *schema.Schema) *shape {
	if s == nil {
		return &shape{}
	}
	if got, ok := sh.done[s]; ok {
		return got
	}
	if sh.open[s] {
		sh.problems.Errorf(s.Position, "the schema contains itself through references or allOf")
		return &shape{}
	}
	sh.open[s] = true
	got := sh.find(s)
	delete(sh.open, s)
	sh.done[s] = got
	return got
}

// peek returns the shape of s, nil if that depends on a shape that is being
// found: arrays and maps may hold themselves.
func (sh *shaper) peek(s *schema.Schema) *shape {
	if s != nil && sh.waits(s, map[*schema.Schema]bool{}) {
		return nil
	}
	return sh.shape(s)
}

// waits reports whether the shape of s depends on one that is being found.
func (sh *shaper) waits(s *schema.Schema, seen map[*schema.Schema]bool) bool {
	if sh.done[s] != nil || seen[s] {
		return false
	}
	seen[s] = true
	return sh.open[s] || s.Target != nil && sh.waits(s.Target, seen) || slices.ContainsFunc(slices.Concat(s.AllOf, s.AnyOf, s.OneOf), func(part *schema.Schema) bool {
		return sh.waits(part, seen)
	})
}

func (sh *shaper) find(s *schema.Schema) *shape {
	if s.Always != nil {
		return &shape{}
	}
	var parts []*shape
	if s.Target != nil {
		target := *sh.shape(s.Target)
		target.named = true
		parts = append(parts, &target)
	}
	for _, part := range s.AllOf {
		parts = append(parts, sh.shape(part))
	}
	if own := sh.own(s); own != nil {
		parts = append(parts, own)
	}
	if union := slices.Concat(s.OneOf, s.AnyOf); len(union) > 0 {
		if u := sh.union(s, union, len(parts) == 0); u.form != anything || u.widened != "" && len(parts) == 0 {
			parts = append(parts, u)
		}
	}
	if len(parts) == 0 {
		return &shape{null: s.Null}
	}
	whole := parts[0]
	for _, part := range parts[1:] {
		whole = sh.both(s, whole, part)
	}
	if need := requiredOf(s); whole.form == object && !whole.named && len(need) > 0 {
		whole = sh.require(whole, need)
	}
	if whole.form == integer && len(s.AllOf) > 0 {
		whole = withBounds(s, whole)
	}
	if s.Null && !whole.null {
		c := *whole
		c.null = true
		return &c
	}
	return whole
}

// own returns the shape that the keywords of s itself give, references and
// combinations aside, or nil if they say nothing of the type.
func (sh *shaper) own(s *schema.Schema) *shape {
	types := s.Types
	enum, null := enumOf(s)
	if len(types) == 0 {
		types = impliedTypes(s, enum)
	}
	if len(types) == 0 {
		return nil
	}
	if n := len(enum); n > 0 && n < len(s.Enum) && !(null && n == len(s.Enum)-1) {
		sh.problems.Warnf(s.Enum[0].Position, "a value of the enum stands there twice")
	}
	out := &shape{owner: s, null: s.Null || null, format: s.Format, min: s.Minimum, max: s.Maximum}
	if len(types) > 1 {
		if rest := sh.besideArray(s, types); rest != nil {
			out.form, out.elem = several, rest
			return out
		}
		mixed(out, types)
		return out
	}
	switch types[0] {
	case schema.Null:
		out.form, out.null = nothing, true
	case schema.Object:
		sh.objectShape(out, s)
	case schema.Array:
		sh.arrayShape(out, s)
	case schema.Bool:
		out.form = boolean
	case schema.Integer:
		out.form = integer
		if s.Format == "unix-time" {
			out.form = unix
		}
	case schema.Number:
		out.form = number
	case schema.String:
		out.form = text
		if s.Format == "date-time" {
			out.form = moment
		}
		if words := stringsOf(enum); s.Const == nil && len(words) > 0 {
			out.form, out.enum = text, words
		}
	}
	return out
}

// enumOf returns the values of an enum without null, each once, and whether null
// is one of them.
func enumOf(s *schema.Schema) (values []*schema.Node, null bool) {
	for _, v := range s.Enum {
		switch {
		case v.Kind == schema.Null:
			null = true
		default:
			values = append(values, v)
		}
	}
	return distinct(values), null
}

// distinct returns each value once.
func distinct(values []*schema.Node) []*schema.Node {
	type scalar struct {
		kind schema.Kind
		text string
	}
	seen := map[scalar]bool{} // of what holds other values there is little
	var list []*schema.Node
	for _, v := range values {
		is := scalar{v.Kind, v.Text}
		if len(v.Items)+len(v.Members) > 0 {
			if slices.ContainsFunc(list, v.Equal) {
				continue
			}
		} else if seen[is] {
			continue
		} else {
			seen[is] = true
		}
		list = append(list, v)
	}
	return list
}

func stringsOf(values []*schema.Node) []*schema.Node {
	return slices.DeleteFunc(slices.Clone(values), func(v *schema.Node) bool { return v.Kind != schema.String })
}

// impliedTypes returns the types that a schema without "type" means.
func impliedTypes(s *schema.Schema, enum []*schema.Node) []schema.Kind {
	if s.Const != nil {
		enum = []*schema.Node{s.Const}
	}
	switch {
	case len(enum) > 0:
		var types []schema.Kind
		for _, v := range enum {
			kind := v.Kind
			if v.IsInteger() {
				kind = schema.Integer
			}
			if !slices.Contains(types, kind) {
				types = append(types, kind)
			}
		}
		return types
	case len(s.Enum) > 0: // null alone
		return []schema.Kind{schema.Null}
	case len(s.Properties) > 0, len(s.Patterns) > 0, s.Additional != nil && s.Additional.Always == nil:
		return []schema.Kind{schema.Object}
	case s.Items != nil && s.Items.Always == nil, len(s.Prefix) > 0:
		return []schema.Kind{schema.Array}
	}
	return nil
}

// mixed sets the form of a value of several types.
func mixed(out *shape, types []schema.Kind) {
	has := func(k schema.Kind) bool { return slices.Contains(types, k) }
	numeric := has(schema.Integer) || has(schema.Number)
	switch {
	case numeric && !has(schema.String) && !has(schema.Bool) && !has(schema.Object) && !has(schema.Array):
		out.form = number
	case has(schema.Bool) || has(schema.Array) || has(schema.Object) && numeric:
		out.widened = "it admits values of several types"
	case has(schema.Object):
		out.form = expandable
	case out.format == "date-time":
		out.form = moment
	default:
		out.form = loose
	}
}

func (sh *shaper) objectShape(out *shape, s *schema.Schema) {
	beyond := sh.beyond(s)
	switch {
	case len(s.Properties) > 0:
		out.form, out.props, out.extra = object, s.Properties, beyond
	case beyond != nil && !beyond.loose:
		out.form, out.elem = dictionary, beyond.elem
	default:
		out.form = bare
	}
}

// beyond returns what additionalProperties and patternProperties say of members
// that are no properties, nil if they admit anything or nothing.
func (sh *shaper) beyond(s *schema.Schema) *extra {
	var elems []*schema.Schema
	for _, p := range s.Patterns {
		elems = append(elems, p.Schema)
	}
	typed := s.Additional != nil && s.Additional.Always == nil
	if typed {
		elems = append(elems, s.Additional)
	}
	if len(elems) == 0 {
		return nil
	}
	elem := elems[0]
	for _, e := range elems[1:] {
		elem = sh.join(join{false, elem, e})
	}
	if of := sh.peek(elem); len(s.Properties) > 0 && len(s.Patterns) == 0 && of != nil && of.form == anything && of.widened == "" {
		return nil
	}
	closed := s.Additional != nil && s.Additional.Always != nil && !*s.Additional.Always
	return &extra{elem: elem, loose: !typed && !closed}
}

func (sh *shaper) arrayShape(out *shape, s *schema.Schema) {
	out.form, out.elem = array, s.Items
	if len(s.Prefix) == 0 {
		return
	}
	closed := s.Items != nil && s.Items.Always != nil && !*s.Items.Always
	if most, ok := limit(s, "maxItems"); ok && most <= len(s.Prefix) {
		closed = true
	}
	same := func(item *schema.Schema) bool {
		a, b := sh.peek(s.Prefix[0]), sh.peek(item)
		return a != nil && b != nil && sameForm(a, b)
	}
	one := closed || s.Items != nil && same(s.Items)
	for _, p := range s.Prefix[1:] {
		one = one && same(p)
	}
	if one {
		out.elem = s.Prefix[0]
		return
	}
	out.form, out.items, out.closed = tuple, s.Prefix, closed
	if least, ok := limit(s, "minItems"); ok {
		out.least = least
	}
}

// limit returns the number that a keyword which only validates gives.
func limit(s *schema.Schema, keyword string) (int, bool) {
	for _, k := range s.Rest {
		if k.Name == keyword && k.Value.IsInteger() {
			i, _ := (&schema.Bound{Text: k.Value.Text}).Integer()
			return int(i.Int64()), i.IsInt64() && i.Int64() < 1<<31
		}
	}
	return 0, false
}

// sameForm reports whether two shapes are one Go type without further ado.
func sameForm(a, b *shape) bool {
	if a.form == integer && b.form == integer && integerType(a).Name != integerType(b).Name {
		return false
	}
	return a.form == b.form && a.null == b.null && (a.owner == b.owner || a.form != object && a.form != union && a.form != tuple && a.enum == nil && b.enum == nil) && a.elem == b.elem
}
