package events

import (
	"path"
	"slices"

	"github.com/restaq/restaq/internal/schema"
)

// variant is one of the objects that a value may be.
type variant struct {
	shape *shape
	kinds []*schema.Node // values of the member that tells it from the others
}

// tell returns the member that tells objects apart: each has it with values of
// its own, fixed by const or enum. A discriminator that the schema names comes
// first, then a member that all require, then any. Without such a member there
// are no variants.
func tell(s *schema.Schema, alts []*shape) (tag string, variants []variant) {
	if tag, variants = discriminator(s, alts); variants != nil {
		return tag, variants
	}
	for _, required := range []bool{true, false} {
		for _, p := range alts[0].props {
			if variants = tellBy(p.Name, required, alts); variants != nil {
				return p.Name, variants
			}
		}
	}
	return "", nil
}

// tellBy returns the variants that the member with that name makes of objects,
// nil if it doesn't.
func tellBy(name string, required bool, alts []*shape) []variant {
	var variants []variant
	for _, a := range alts {
		i := indexProp(a.props, name)
		if i < 0 || required && !a.props[i].Required {
			return nil
		}
		kinds := fixed(a.props[i].Schema, 0)
		if len(kinds) == 0 {
			return nil
		}
		for _, v := range variants {
			if slices.ContainsFunc(v.kinds, func(k *schema.Node) bool { return slices.ContainsFunc(kinds, k.Equal) }) {
				return nil
			}
		}
		variants = append(variants, variant{a, kinds})
	}
	return variants
}

// fixed returns the values that const or enum leave to a member, nil if they
// leave it open or admit other than strings, numbers and booleans.
func fixed(s *schema.Schema, depth int) []*schema.Node {
	values := s.Enum
	if s.Const != nil {
		values = []*schema.Node{s.Const}
	}
	if slices.ContainsFunc(values, func(v *schema.Node) bool {
		return v.Kind == schema.Null || v.Kind == schema.Object || v.Kind == schema.Array
	}) {
		return nil
	}
	if len(values) > 0 || depth > 8 {
		return values
	}
	for _, part := range s.AllOf {
		if values = fixed(part, depth+1); values != nil {
			return values
		}
	}
	if s.Target != nil {
		return fixed(s.Target, depth+1)
	}
	return nil
}

// discriminator returns the variants that OpenAPI's keyword names. A variant
// without a const or enum has the kinds that the mapping gives it, or else its
// own name.
func discriminator(s *schema.Schema, alts []*shape) (tag string, variants []variant) {
	i := slices.IndexFunc(s.Rest, func(k schema.Keyword) bool { return k.Name == "discriminator" })
	if i < 0 || s.Rest[i].Value.Kind != schema.Object {
		return "", nil
	}
	property := s.Rest[i].Value.Member("propertyName")
	if property == nil || property.Kind != schema.String {
		return "", nil
	}
	if variants = tellBy(property.Text, false, alts); variants != nil {
		return property.Text, variants
	}
	mapping := s.Rest[i].Value.Member("mapping")
	for _, a := range alts {
		name := path.Base(a.owner.Pointer)
		v := variant{shape: a}
		if mapping != nil {
			for _, m := range mapping.Members {
				if path.Base(m.Value.Text) == name {
					v.kinds = append(v.kinds, &schema.Node{Kind: schema.String, Text: m.Name})
				}
			}
		}
		if v.kinds == nil && a.named {
			v.kinds = []*schema.Node{{Kind: schema.String, Text: name}}
		}
		if v.kinds == nil || slices.ContainsFunc(variants, func(o variant) bool {
			return slices.ContainsFunc(o.kinds, func(k *schema.Node) bool { return slices.ContainsFunc(v.kinds, k.Equal) })
		}) {
			return "", nil
		}
		variants = append(variants, v)
	}
	return property.Text, variants
}
