package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/invopop/jsonschema"
)

// Normal returns a schema as invopop/jsonschema of draft 2020-12. What that type
// has no field for stands in its Extras: a list of types, a required name without
// a property, vendors' keywords. Members of Extras come behind the others, sorted.
// References stand as written.
func Normal(s *Schema) *jsonschema.Schema {
	return normalizer(func(from *Schema) string { return from.Ref }).schema(s)
}

// normalizer gives the text of the reference that a schema holds.
type normalizer func(from *Schema) string

func (n normalizer) schema(s *Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	if s.Always != nil {
		if *s.Always {
			return jsonschema.TrueSchema
		}
		return jsonschema.FalseSchema
	}
	out := &jsonschema.Schema{
		ID: jsonschema.ID(s.ID), Anchor: s.Anchor, Ref: n(s),
		AllOf: n.list(s.AllOf), AnyOf: n.list(s.AnyOf), OneOf: n.list(s.OneOf),
		PrefixItems: n.list(s.Prefix), Items: n.schema(s.Items), AdditionalProperties: n.schema(s.Additional),
		Format: s.Format, Title: s.Title, Description: s.Description, Deprecated: s.Deprecated,
		Extras: map[string]any{},
	}
	if len(s.Anchor) > 0 && s.ID == "#"+s.Anchor { // the old spelling of an anchor
		out.ID = ""
	}
	normalTypes(out, s)
	n.properties(out, s)
	n.conditions(out, s)
	for _, v := range s.Enum {
		out.Enum = append(out.Enum, v)
	}
	if s.Const != nil {
		out.Extras["const"] = s.Const // Const can't hold null
	}
	if s.Default != nil {
		out.Extras["default"] = s.Default
	}
	normalBounds(out, s)
	n.defs(out, s)
	if s.IsEvent {
		out.Extras["x-restaq-events"] = append([]string{}, s.Events...)
	}
	if s.GoName != "" {
		out.Extras["x-go-name"] = s.GoName
	}
	for _, k := range s.Rest {
		out.Extras[k.Name] = k.Value
	}
	for _, k := range s.Extensions {
		out.Extras[k.Name] = k.Value
	}
	return out
}

func (n normalizer) list(list []*Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, s := range list {
		out = append(out, n.schema(s))
	}
	return out
}

func (n normalizer) defs(out *jsonschema.Schema, s *Schema) {
	old := jsonschema.Definitions{}
	for _, d := range s.Defs {
		if out.Definitions == nil {
			out.Definitions = jsonschema.Definitions{}
		}
		if _, taken := out.Definitions[d.Name]; taken {
			old[d.Name] = n.schema(d.Schema)
		} else {
			out.Definitions[d.Name] = n.schema(d.Schema)
		}
	}
	if len(old) > 0 {
		out.Extras["definitions"] = old
	}
}

// conditions writes what only validates. All of it stands in Extras, sorted.
func (n normalizer) conditions(out *jsonschema.Schema, s *Schema) {
	for _, c := range s.Conditions {
		if c.Keyword != "dependentSchemas" {
			out.Extras[c.Keyword] = n.schema(c.Schema)
			continue
		}
		if out.DependentSchemas == nil {
			out.DependentSchemas = map[string]*jsonschema.Schema{}
		}
		out.DependentSchemas[c.Name] = n.schema(c.Schema)
	}
}

func normalTypes(out *jsonschema.Schema, s *Schema) {
	switch {
	case len(s.Types) == 1 && (!s.Null || s.Types[0] == Null):
		out.Type = string(s.Types[0])
	case len(s.Types) > 0:
		types := append([]Kind(nil), s.Types...)
		if s.Null {
			types = append(types, Null)
		}
		out.Extras["type"] = types
	case s.Null: // nullable without a type
		out.Extras["nullable"] = true
	}
}

func (n normalizer) properties(out *jsonschema.Schema, s *Schema) {
	for _, p := range s.Properties {
		if out.Properties == nil {
			out.Properties = jsonschema.NewProperties()
		}
		out.Properties.Set(p.Name, n.schema(p.Schema))
		if p.Required {
			out.Required = append(out.Required, p.Name)
		}
	}
	out.Required = append(out.Required, s.Required...)
	for _, p := range s.Patterns {
		if out.PatternProperties == nil {
			out.PatternProperties = map[string]*jsonschema.Schema{}
		}
		out.PatternProperties[p.Name] = n.schema(p.Schema)
	}
}

func normalBounds(out *jsonschema.Schema, s *Schema) {
	if b := s.Minimum; b != nil && b.Exclusive {
		out.ExclusiveMinimum = json.Number(b.Text)
	} else if b != nil {
		out.Minimum = json.Number(b.Text)
	}
	if b := s.Maximum; b != nil && b.Exclusive {
		out.ExclusiveMaximum = json.Number(b.Text)
	} else if b != nil {
		out.Maximum = json.Number(b.Text)
	}
}

// Normal returns the document in normal form, as a file: draft 2020-12, $defs
// sorted by name, properties in their order, references to where normal form has
// what they lead to.
func (d *Document) Normal() ([]byte, error) {
	places := d.set.places()
	root := normalizer(func(from *Schema) string {
		file, fragment, _ := strings.Cut(from.Ref, "#")
		if place, ok := places[from.Target]; ok && strings.HasPrefix(fragment, "/") {
			return file + "#" + (&url.URL{Fragment: place}).EscapedFragment()
		}
		return from.Ref
	}).schema(d.Root)
	return write(root)
}

// places returns where every schema of the set stands in normal form, as a JSON
// pointer relative to its resource.
func (set *Set) places() map[*Schema]string {
	places := map[*Schema]string{}
	var walk func(s *Schema, place string)
	walk = func(s *Schema, place string) {
		if s.ID != "" && s.Anchor == "" {
			place = ""
		}
		places[s] = place
		for below, child := range s.Children() {
			walk(child, place+below)
		}
	}
	for _, doc := range set.Documents {
		walk(doc.Root, "")
	}
	return places
}

// Write returns a schema in normal form as the text of a file. References stand as
// written.
func Write(s *Schema) ([]byte, error) { return write(Normal(s)) }

func write(root *jsonschema.Schema) ([]byte, error) {
	if root != jsonschema.TrueSchema && root != jsonschema.FalseSchema {
		root.Version = jsonschema.Version
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	n, problem := ParseJSON("", b.Bytes())
	if problem != nil {
		return nil, fmt.Errorf("write schema: %s", problem.Message)
	}
	p := printer{}
	p.value(n, "", 0, 0)
	p.b.WriteByte('\n')
	return p.b.Bytes(), nil
}
