package schema

import (
	"iter"
	"strconv"
)

// Children returns the schemas right below s, with their places in normal form as
// JSON pointers relative to s. Targets of references are not below it.
func (s *Schema) Children() iter.Seq2[string, *Schema] {
	return func(yield func(string, *Schema) bool) {
		_ = s.defs(yield) &&
			list("/allOf/", s.AllOf, yield) && list("/anyOf/", s.AnyOf, yield) && list("/oneOf/", s.OneOf, yield) &&
			list("/prefixItems/", s.Prefix, yield) && one("/items", s.Items, yield) &&
			named("/properties/", s.Properties, yield) && named("/patternProperties/", s.Patterns, yield) &&
			one("/additionalProperties", s.Additional, yield) && s.conditions(yield)
	}
}

// defs yields the definitions. The second of one name, in a file that has both
// $defs and definitions, stands in definitions still.
func (s *Schema) defs(yield func(string, *Schema) bool) bool {
	seen := map[string]bool{}
	for _, d := range s.Defs {
		place := "/$defs/"
		if seen[d.Name] {
			place = "/definitions/"
		}
		seen[d.Name] = true
		if !yield(place+escapePointer(d.Name), d.Schema) {
			return false
		}
	}
	return true
}

func (s *Schema) conditions(yield func(string, *Schema) bool) bool {
	for _, c := range s.Conditions {
		place := "/" + c.Keyword
		if c.Name != "" || c.Keyword == "dependentSchemas" {
			place += "/" + escapePointer(c.Name)
		}
		if !yield(place, c.Schema) {
			return false
		}
	}
	return true
}

func list(place string, schemas []*Schema, yield func(string, *Schema) bool) bool {
	for i, s := range schemas {
		if !yield(place+strconv.Itoa(i), s) {
			return false
		}
	}
	return true
}

func named(place string, properties []Property, yield func(string, *Schema) bool) bool {
	for _, p := range properties {
		if !yield(place+escapePointer(p.Name), p.Schema) {
			return false
		}
	}
	return true
}

func one(place string, s *Schema, yield func(string, *Schema) bool) bool {
	return s == nil || yield(place, s)
}
