package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"
)

// Normal writes a schema as invopop/jsonschema of draft 2020-12. What that type
// has no field for stands in its Extras: a list of types, a required name without
// a property, vendors' keywords. Members of Extras come behind the others, sorted.
func Normal(s *Schema) *jsonschema.Schema {
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
		ID: jsonschema.ID(s.ID), Anchor: s.Anchor, Ref: s.Ref,
		AllOf: normals(s.AllOf), AnyOf: normals(s.AnyOf), OneOf: normals(s.OneOf),
		PrefixItems: normals(s.Prefix), Items: Normal(s.Items), AdditionalProperties: Normal(s.Additional),
		Format: s.Format, Title: s.Title, Description: s.Description, Deprecated: s.Deprecated,
		Extras: map[string]any{},
	}
	if len(s.Anchor) > 0 && s.ID == "#"+s.Anchor { // the old spelling of an anchor
		out.ID = ""
	}
	normalTypes(out, s)
	normalProperties(out, s)
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
	for _, d := range s.Defs {
		if out.Definitions == nil {
			out.Definitions = jsonschema.Definitions{}
		}
		out.Definitions[d.Name] = Normal(d.Schema)
	}
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

func normals(list []*Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, s := range list {
		out = append(out, Normal(s))
	}
	return out
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

func normalProperties(out *jsonschema.Schema, s *Schema) {
	for _, p := range s.Properties {
		if out.Properties == nil {
			out.Properties = jsonschema.NewProperties()
		}
		out.Properties.Set(p.Name, Normal(p.Schema))
		if p.Required {
			out.Required = append(out.Required, p.Name)
		}
	}
	out.Required = append(out.Required, s.Required...)
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

// Normal returns the document in normal form, as a file: draft 2020-12, indented,
// $defs sorted by name, properties in their order.
func (d *Document) Normal() ([]byte, error) {
	root := Normal(d.Root)
	if d.Root.Always == nil {
		root.Version = jsonschema.Version
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("write schema %s: %w", d.File, err)
	}
	return b.Bytes(), nil
}
