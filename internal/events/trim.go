package events

import (
	"net/url"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/schema"
)

// copy returns a schema as it is written into the file of a home: references lead
// to where definitions have gone, and what says nothing of values is left out. A
// definition that stands within another schema becomes a reference.
func (im *importer) copy(s *schema.Schema, in *home, top bool) *schema.Schema {
	if h := im.homes[s]; h != nil && !top {
		return &schema.Schema{Ref: h.refFrom(in)}
	}
	c := &schema.Schema{
		Always: s.Always, Types: s.Types, Null: s.Null, Required: s.Required,
		Enum: s.Enum, Const: s.Const, Minimum: s.Minimum, Maximum: s.Maximum,
		Format: s.Format, Deprecated: s.Deprecated, Default: s.Default, GoName: s.GoName,
		AllOf: im.copies(s.AllOf, in), AnyOf: im.copies(s.AnyOf, in), OneOf: im.copies(s.OneOf, in), Prefix: im.copies(s.Prefix, in),
		Properties: im.properties(s.Properties, in), Patterns: im.properties(s.Patterns, in),
	}
	if s.Target != nil {
		c.Ref = im.homes[s.Target].refFrom(in)
	}
	if s.Additional != nil {
		c.Additional = im.copy(s.Additional, in, false)
	}
	if s.Items != nil {
		c.Items = im.copy(s.Items, in, false)
	}
	for _, cond := range s.Conditions {
		c.Conditions = append(c.Conditions, schema.Condition{Keyword: cond.Keyword, Name: cond.Name, Schema: im.copy(cond.Schema, in, false)})
	}
	for _, k := range s.Rest {
		if validates[k.Name] {
			c.Rest = append(c.Rest, k)
		}
	}
	simplify(c)
	return c
}

// validates are the keywords among Rest that say something of values.
var validates = map[string]bool{
	"dependentRequired": true, "minContains": true, "maxContains": true, "minProperties": true, "maxProperties": true,
	"multipleOf": true, "minLength": true, "maxLength": true, "pattern": true, "minItems": true, "maxItems": true,
	"uniqueItems": true, "contentEncoding": true, "contentMediaType": true,
}

func (im *importer) copies(list []*schema.Schema, in *home) []*schema.Schema {
	var out []*schema.Schema
	for _, s := range list {
		out = append(out, im.copy(s, in, false))
	}
	return out
}

func (im *importer) properties(list []schema.Property, in *home) []schema.Property {
	var out []schema.Property
	for _, p := range list {
		out = append(out, schema.Property{Name: p.Name, Schema: im.copy(p.Schema, in, false), Required: p.Required})
	}
	return out
}

// simplify spells a schema in the one way in which others say the same: one value
// as const, nullable as one of the alternatives, one alternative as itself.
func simplify(c *schema.Schema) {
	if len(c.Enum) == 1 && c.Const == nil && !c.Null {
		c.Const, c.Enum = c.Enum[0], nil
	}
	for _, list := range []*[]*schema.Schema{&c.AllOf, &c.AnyOf, &c.OneOf} {
		if len(*list) == 1 && c.Ref == "" && len(c.Types)+len(c.Properties)+len(c.AllOf)+len(c.AnyOf)+len(c.OneOf) == 1 {
			if one := (*list)[0]; one.Ref != "" {
				c.Ref, *list = one.Ref, nil
			}
		}
	}
	if !c.Null || len(c.Types) > 0 {
		return
	}
	null := &schema.Schema{Types: []schema.Kind{schema.Null}, Null: true}
	switch {
	case len(c.AnyOf) > 0:
		c.AnyOf, c.Null = append(slices.Clone(c.AnyOf), null), false
	case len(c.OneOf) > 0:
		c.OneOf, c.Null = append(slices.Clone(c.OneOf), null), false
	case c.Ref != "":
		c.AnyOf, c.Ref, c.Null = []*schema.Schema{{Ref: c.Ref}, null}, "", false
	}
}

// refFrom is the text of a reference to h in the file of another home.
func (h *home) refFrom(from *home) string {
	file := ""
	if h.file != from.file {
		file = fileName(h.file)
	}
	place := "/$defs/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(h.name)
	return file + "#" + (&url.URL{Fragment: place}).EscapedFragment()
}
