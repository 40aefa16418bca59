package schema

import "math/big"

// Schema is one schema in normal form. Fields that a schema does not use are
// zero.
type Schema struct {
	Position

	Always *bool // a schema that is just true or false

	ID, Anchor string
	Ref        string  // as written; $dynamicRef and $recursiveRef too
	Target     *Schema // what Ref leads to

	Types []Kind // without null; Integer for integers; empty: any
	Null  bool   // null is among the types, or nullable is set

	Properties []Property // in the order of the file
	Required   []string   // names required without being in Properties included
	Patterns   []Property // patternProperties, named by their expression
	Additional *Schema    // additionalProperties; nil: not said
	Items      *Schema    // of all items, or of those behind Prefix
	Prefix     []*Schema

	Enum  []*Node
	Const *Node

	AllOf, AnyOf, OneOf []*Schema

	// Conditions are the schemas below keywords that only validate.
	Conditions []Condition

	Minimum, Maximum *Bound

	Format      string
	Title       string
	Description string
	Deprecated  bool
	Default     *Node

	Defs []Def

	Events  []string // x-restaq-events: event types, without the provider, that carry this schema
	IsEvent bool     // x-restaq-events is there, be it empty
	GoName  string   // x-go-name

	Rest       []Keyword // keywords that only validate or annotate, and unknown ones
	Extensions []Keyword // keywords of vendors, x-…
}

// Integer is the kind of a number without a fraction. No [Node] has it.
const Integer Kind = "integer"

// Property is a named member of an object.
type Property struct {
	Name     string
	Schema   *Schema
	Required bool
}

// Def is a named schema in $defs, definitions, or components.schemas.
type Def struct {
	Name   string
	Schema *Schema
}

// Condition is a schema that decides on whether a value is valid and has no part
// in its type: that of not, if, then, else, contains, propertyNames, an entry of
// dependentSchemas, and so on.
type Condition struct {
	Keyword string
	Name    string // of a dependentSchemas entry
	Schema  *Schema
}

// Bound is a limit of a number.
type Bound struct {
	Text      string // as written
	Exclusive bool
}

// Keyword is a keyword and its value, as read.
type Keyword struct {
	Name  string
	Value *Node
}

// Property returns the property with that name, or nil.
func (s *Schema) Property(name string) *Property {
	for i := range s.Properties {
		if s.Properties[i].Name == name {
			return &s.Properties[i]
		}
	}
	return nil
}

// Integer returns the bound as an integer that the bound admits or excludes, and
// whether it is one.
func (b *Bound) Integer() (*big.Int, bool) {
	if b == nil {
		return nil, false
	}
	return integer(b.Text)
}

// integer returns the value of a JSON number without a fraction. Numbers with an
// exponent beyond 1000 count as having one.
func integer(text string) (*big.Int, bool) {
	if i, ok := new(big.Int).SetString(text, 10); ok {
		return i, true
	}
	f, _, err := big.ParseFloat(text, 10, 4096, big.ToNearestEven)
	if err != nil || f.MantExp(nil) > 4000 || !f.IsInt() {
		return nil, false
	}
	i, _ := f.Int(nil)
	return i, true
}
