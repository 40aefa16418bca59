package shape

import (
	"go/token"
	"go/types"
	"regexp"
	"strconv"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON Schema of t's values, for others to read: members in
// the order of the fields, types of event packages in full, nothing that only Go
// knows. What a type's own methods decide is left open. Nils says that slices and
// maps can be null, as Go encodes those that are nil.
func (s *Shaper) Schema(t types.Type, from *types.Package, nils bool) (*jsonschema.Schema, error) {
	b := builder{shaper: s, from: from, expand: true, public: true, nils: nils}
	return b.root(t)
}

// Value is a value in an array of several.
type Value struct {
	Name string
	Type types.Type
}

// Array returns the JSON Schema of an array of just these values, as Go encodes
// them.
func (s *Shaper) Array(values []Value, from *types.Package) (*jsonschema.Schema, error) {
	n := uint64(len(values))
	array := &jsonschema.Schema{Type: "array", MinItems: &n, MaxItems: &n}
	if n == 0 {
		return array, nil
	}
	// They share definitions, as the members of one struct do.
	var fields []*types.Var
	var tags []string
	for i, v := range values {
		fields = append(fields, types.NewField(token.NoPos, from, "V"+strconv.Itoa(i), v.Type, false))
		tags = append(tags, `json:"`+strconv.Itoa(i)+`"`)
	}
	whole, err := s.Schema(types.NewStruct(fields, tags), from, true)
	if err != nil {
		return nil, err
	}
	array.Definitions = whole.Definitions
	for i, v := range values {
		item, _ := whole.Properties.Get(strconv.Itoa(i))
		c := *item // some are shared
		c.Title = v.Name
		array.PrefixItems = append(array.PrefixItems, &c)
	}
	return array, nil
}

const payloadPath = "github.com/restaq/restaq/runtime/payload"

// open returns what everyone may know of a type whose methods decide its JSON.
func open(named *types.Named, opaque *jsonschema.Schema) *jsonschema.Schema {
	if opaque.Ref == "" {
		return opaque
	}
	text, number := &jsonschema.Schema{Type: "string"}, &jsonschema.Schema{Type: "number"}
	arguments, _ := opaque.Extras[argumentsKey].([]*jsonschema.Schema)
	if pkg := named.Obj().Pkg(); pkg.Path() == payloadPath {
		switch name := named.Obj().Name(); {
		case name == "Time":
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text, number, null}}
		case name == "Number":
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{number, text}}
		case name == "Nullable" && len(arguments) == 1:
			return nullable(arguments[0])
		case name == "OneOrMany" && len(arguments) == 1:
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{arguments[0], {Type: "array", Items: arguments[0]}, null}}
		case name == "Expandable" && len(arguments) == 1:
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text, arguments[0], null}}
		}
	}
	if _, ok := named.Underlying().(*types.Interface); ok { // an event of a family
		members := jsonschema.NewProperties()
		members.Set("type", text)
		members.Set("payload", &jsonschema.Schema{})
		return nullable(&jsonschema.Schema{Type: "object", Properties: members, Required: []string{"type", "payload"}})
	}
	return &jsonschema.Schema{Type: opaque.Type, Comments: "what " + types.TypeString(named, (*types.Package).Name) + " encodes itself to"}
}

// unsafeInRef are the characters that a reference can't have as they are.
var unsafeInRef = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
