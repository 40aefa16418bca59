package shape

import (
	"cmp"
	"fmt"
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strconv"

	"github.com/invopop/jsonschema"
)

// A builder turns one type into a schema.
type builder struct {
	shaper   *Shaper
	from     *types.Package // types of this package are named without it
	numbered bool           // definitions are numbered, not named
	expand   bool           // event packages' types are expanded like others
	public   bool           // for other readers than us, see Schema
	nils     bool           // slices and maps can be null

	top   types.Type        // the type itself
	depth int               // of count
	open  map[string]bool   // named types that count is in, by their full names
	uses  map[string]int    // how often each named struct is met, by its full name
	names map[string]string // names of definitions, by the type's full name
	taken map[string]bool
	defs  jsonschema.Definitions
}

// maxDepth ends the walk through a generic type that is made of ever new
// instances of itself.
const maxDepth = 1000

// root builds the schema of t. Named structs that are met more than once, and
// named types of other kinds that contain themselves, become definitions.
func (b *builder) root(t types.Type) (*jsonschema.Schema, error) {
	b.top, b.open, b.uses = types.Unalias(t), map[string]bool{}, map[string]int{}
	if err := b.count(t); err != nil {
		return nil, err
	}
	b.names, b.taken, b.defs = map[string]string{}, map[string]bool{}, jsonschema.Definitions{}
	schema, err := b.schema(t)
	if err != nil {
		return nil, err
	}
	if len(b.defs) > 0 {
		schema.Definitions = b.defs
	}
	return schema, nil
}

// count counts the uses of named structs below t, looking into each once. A
// named type of another kind that is met inside itself counts as used twice.
func (b *builder) count(t types.Type) error {
	t = types.Unalias(t)
	if b.depth++; b.depth > maxDepth {
		return fmt.Errorf("%s nests types without end", types.TypeString(b.top, types.RelativeTo(b.from)))
	}
	defer func() { b.depth-- }()
	if known, _, err := b.opaque(t); err != nil || known {
		return b.countArgs(t, err)
	}
	s, isStruct := t.Underlying().(*types.Struct)
	if named, ok := t.(*types.Named); ok {
		key := types.TypeString(named, nil)
		if isStruct {
			b.uses[key]++
		} else if b.open[key] {
			b.uses[key] = 2
		}
		if b.uses[key] > 1 {
			return nil
		}
		b.open[key] = true
		defer delete(b.open, key)
	}
	if isStruct {
		for _, f := range fields(s) {
			if err := b.count(f.typ); err != nil {
				return err
			}
		}
		return nil
	}
	if elem, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
		return b.count(elem.Elem())
	}
	return nil
}

// countArgs counts below the type arguments of an opaque type.
func (b *builder) countArgs(t types.Type, err error) error {
	if err != nil {
		return err
	}
	named, ok := t.(*types.Named)
	if !ok || b.isEventType(named) {
		return nil
	}
	for arg := range named.TypeArgs().Types() {
		if err := b.count(arg); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) isEventType(named *types.Named) bool {
	return !b.expand && b.shaper.isEventPackage(named.Obj().Pkg())
}

// schema builds the schema of t.
func (b *builder) schema(t types.Type) (*jsonschema.Schema, error) {
	t = types.Unalias(t)
	if known, schema, err := b.opaque(t); err != nil || known {
		if err == nil {
			err = b.addArgs(schema, t)
		}
		if named, ok := t.(*types.Named); ok && b.public && err == nil {
			schema = open(named, schema)
		}
		return schema, err
	}
	if named, ok := t.(*types.Named); ok && b.uses[types.TypeString(named, nil)] > 1 {
		return b.definition(named)
	}
	schema, err := b.literal(t.Underlying())
	if named, ok := t.(*types.Named); ok && err == nil {
		schema = b.withConstants(named, schema)
	}
	return schema, err
}

// withConstants adds the values of a named text type's constants: for people, as
// any text can be decoded. Of another package's only exported ones count, as the
// compiler's export data has no others.
func (b *builder) withConstants(named *types.Named, schema *jsonschema.Schema) *jsonschema.Schema {
	basic, ok := named.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsString == 0 || b.public || b.numbered {
		return schema
	}
	values := map[string]bool{}
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if ok && types.Identical(c.Type(), named) && (c.Exported() || c.Pkg() == b.from) {
			values[constant.StringVal(c.Val())] = true
		}
	}
	if len(values) == 0 {
		return schema
	}
	withEnum := *schema // it is shared
	for _, value := range slices.Sorted(maps.Keys(values)) {
		withEnum.Enum = append(withEnum.Enum, value)
	}
	return &withEnum
}

// literal builds the schema of a type literal.
func (b *builder) literal(t types.Type) (*jsonschema.Schema, error) {
	schema, err := b.nonNil(t)
	switch t.(type) {
	case *types.Slice, *types.Map:
		if b.nils && err == nil {
			schema = nullable(schema)
		}
	}
	return schema, err
}

// nonNil is literal, for slices and maps that are not nil.
func (b *builder) nonNil(t types.Type) (*jsonschema.Schema, error) {
	switch u := t.(type) {
	case *types.Basic:
		return b.shaper.basic(u)
	case *types.Pointer:
		elem := types.Unalias(u.Elem())
		if _, ok := elem.Underlying().(*types.Pointer); ok {
			return b.schema(elem)
		}
		schema, err := b.schema(elem)
		if err != nil {
			return nil, err
		}
		return nullable(schema), nil
	case *types.Slice:
		if isByte(u.Elem()) {
			return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}, nil
		}
		items, err := b.schema(u.Elem())
		return &jsonschema.Schema{Type: "array", Items: items}, err
	case *types.Array:
		items, err := b.schema(u.Elem())
		n := uint64(u.Len())
		return &jsonschema.Schema{Type: "array", Items: items, MinItems: &n, MaxItems: &n}, err
	case *types.Map:
		return b.object(u)
	case *types.Interface:
		if u.Empty() {
			return &jsonschema.Schema{}, nil
		}
	case *types.Struct:
		return b.members(u)
	}
	return nil, fmt.Errorf("%s has no JSON form", types.TypeString(t, types.RelativeTo(b.from)))
}

// isByte reports whether a slice of t is encoded as base64.
func isByte(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	if !ok || basic.Kind() != types.Uint8 {
		return false
	}
	return !marshals(t)
}

var null = &jsonschema.Schema{Type: "null"}

func nullable(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Type == "" && s.Ref == "" && s.AnyOf == nil {
		return s // null is among "any"
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, null}}
}

// object is the schema of a map.
func (b *builder) object(m *types.Map) (*jsonschema.Schema, error) {
	elem, err := b.schema(m.Elem())
	if err != nil {
		return nil, err
	}
	schema := &jsonschema.Schema{Type: "object", AdditionalProperties: elem}
	key := types.Unalias(m.Key())
	if known, keys, err := b.opaque(key); err != nil {
		return nil, err
	} else if known {
		schema.PropertyNames = keys
		return schema, nil
	}
	k, ok := key.Underlying().(*types.Basic)
	switch {
	case ok && k.Info()&types.IsString != 0:
	case ok && k.Info()&types.IsInteger != 0:
		number, err := b.shaper.basic(k)
		if err != nil {
			return nil, err
		}
		schema.PropertyNames = &jsonschema.Schema{Format: number.Format}
	default:
		return nil, fmt.Errorf("map key %s has no JSON form", types.TypeString(key, types.RelativeTo(b.from)))
	}
	return schema, nil
}

// definition refers to a named type, which it defines at its first use.
func (b *builder) definition(named *types.Named) (*jsonschema.Schema, error) {
	key := types.TypeString(named, nil)
	name, ok := b.names[key]
	if !ok {
		name = b.name(named)
		b.names[key] = name
		def, err := b.literal(named.Underlying())
		if err != nil {
			return nil, err
		}
		b.defs[name] = def
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name}, nil
}

// name returns a name for the definition of a type.
func (b *builder) name(named *types.Named) string {
	if b.numbered {
		return strconv.Itoa(len(b.names))
	}
	base := types.TypeString(named, func(p *types.Package) string {
		if p == b.from {
			return ""
		}
		return p.Name()
	})
	if b.public {
		base = unsafeInRef.ReplaceAllString(base, "_")
	}
	name := base
	for n := 2; b.taken[name]; n++ {
		name = base + "·" + strconv.Itoa(n)
		if b.public {
			name = base + "-" + strconv.Itoa(n)
		}
	}
	b.taken[name] = true
	return name
}

// members is the schema of a struct: its members by name, as their order does
// not matter to a reader.
func (b *builder) members(s *types.Struct) (*jsonschema.Schema, error) {
	schema := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	all := fields(s)
	slices.SortFunc(all, func(a, c field) int {
		if b.public {
			return slices.Compare(a.index, c.index)
		}
		return cmp.Compare(a.name, c.name)
	})
	for _, f := range all {
		typ := f.typ
		if pointer, ok := types.Unalias(typ).(*types.Pointer); ok && b.public && f.optional {
			typ = pointer.Elem() // nil is left out, and not null
		}
		member, err := b.schema(typ)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.name, err)
		}
		if f.quoted {
			member = quoted(member)
		}
		schema.Properties.Set(f.name, member)
		if !f.optional {
			schema.Required = append(schema.Required, f.name)
		}
	}
	return schema, nil
}

// quoted is a value that the tag option string puts in a string.
func quoted(s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", ContentMediaType: "application/json", ContentSchema: s}
}

// basic is the schema of a basic type. It is shared, as schemas are large and
// basic types many: nobody changes it.
func (s *Shaper) basic(t *types.Basic) (*jsonschema.Schema, error) {
	if schema := s.basics[t.Kind()]; schema != nil {
		return schema, nil
	}
	schema := &jsonschema.Schema{}
	// The format tells sizes apart.
	switch t.Kind() {
	case types.Bool:
		schema.Type = "boolean"
	case types.String:
		schema.Type = "string"
	case types.Int, types.Int64:
		schema.Type, schema.Format = "integer", "int64"
	case types.Int8, types.Int16, types.Int32, types.Uint8, types.Uint16, types.Uint32, types.Uint64:
		schema.Type, schema.Format = "integer", types.Typ[t.Kind()].Name()
	case types.Uint, types.Uintptr:
		schema.Type, schema.Format = "integer", "uint64"
	case types.Float32:
		schema.Type, schema.Format = "number", "float"
	case types.Float64:
		schema.Type, schema.Format = "number", "double"
	default:
		return nil, fmt.Errorf("%s has no JSON form", t.Name())
	}
	if s.basics == nil {
		s.basics = map[types.BasicKind]*jsonschema.Schema{}
	}
	s.basics[t.Kind()] = schema
	return schema, nil
}
