package events

import (
	"slices"

	"github.com/restaq/restaq/internal/schema"
)

// both returns the shape of a value that is a and b, as allOf, or keywords beside
// $ref, say. Where they contradict each other, a stands, with a warning: a
// receiver has to take what comes.
func (sh *shaper) both(s *schema.Schema, a, b *shape) *shape {
	switch {
	case a.form == anything && a.widened == "":
		return b
	case b.form == anything && b.widened == "", b.form == nothing:
		return withNull(a, a.null && b.null)
	case a.form == nothing:
		return withNull(b, a.null && b.null)
	}
	null := a.null && b.null
	switch {
	case a.form == object && b.form == object:
		return withNull(sh.bothObjects(s, a, b), null)
	case a.form == object && b.form == dictionary:
		return withNull(a, null)
	case a.form == dictionary && b.form == object:
		return withNull(b, null)
	case a.form == union && b.form == object, a.form == object && b.form == union:
		return withNull(sh.bothUnion(s, a, b), null)
	case a.form == text && b.form == text:
		return withNull(bothTexts(s, a, b), null)
	case a.form == b.form && a.elem == nil && a.min == nil && a.max == nil:
		return withNull(b, null)
	case a.form == b.form, narrower(a.form, b.form):
		return withNull(a, null)
	case narrower(b.form, a.form):
		return withNull(b, null)
	}
	sh.problems.Warnf(s.Position, "it must be %s and %s at once: read as %s", formNames[a.form], formNames[b.form], formNames[a.form])
	return withNull(a, null)
}

func withNull(s *shape, null bool) *shape {
	if s.null == null {
		return s
	}
	c := *s
	c.null = null
	return &c
}

// narrower reports whether a says more than b.
func narrower(a, b form) bool {
	switch b {
	case number:
		return a == integer || a == unix
	case integer:
		return a == unix
	case text:
		return a == moment
	case loose:
		return a == text || a == integer || a == number || a == unix || a == moment
	case several:
		return a != dictionary && a != bare && a != tuple
	case expandable:
		return a == text || a == object || a == union
	case bare:
		return a == object || a == dictionary || a == union
	}
	return false
}

// bothObjects merges the members of two objects. If one of them is a named type
// and the other only narrows its members, the named type stands.
func (sh *shaper) bothObjects(s *schema.Schema, a, b *shape) *shape {
	switch {
	case a.named && !adds(b, a):
		return a
	case b.named && !adds(a, b):
		return b
	}
	out := &shape{form: object, owner: s, extra: a.extra}
	if out.extra == nil {
		out.extra = b.extra
	}
	for _, p := range a.props {
		if i := indexProp(b.props, p.Name); i >= 0 {
			q := b.props[i]
			p.Required = p.Required || q.Required
			p.Schema = sh.join(join{true, p.Schema, q.Schema})
		}
		out.props = append(out.props, p)
	}
	for _, q := range b.props {
		if indexProp(a.props, q.Name) < 0 {
			out.props = append(out.props, q)
		}
	}
	return out
}

// bothUnion returns the shape of an object with members of its own that is one
// of several besides: each variant gets those members. Variants that only narrow
// what the object has make no difference.
func (sh *shaper) bothUnion(s *schema.Schema, a, b *shape) *shape {
	u, own := a, b
	if b.form == union {
		u, own = b, a
	}
	if !slices.ContainsFunc(u.variants, func(v variant) bool { return adds(v.shape, own) }) {
		return own
	}
	out := &shape{form: union, owner: s, tag: u.tag}
	for _, v := range u.variants {
		whole := v.shape
		if adds(own, whole) {
			whole = sh.bothObjects(v.shape.owner, own, v.shape)
			whole.owner = &schema.Schema{Position: v.shape.owner.Position, Description: v.shape.owner.Description}
			sh.done[whole.owner] = whole
		}
		out.variants = append(out.variants, variant{whole, v.kinds})
	}
	return out
}

// require returns an object of which some members are required.
func (sh *shaper) require(s *shape, names []string) *shape {
	c := *s
	c.props = slices.Clone(s.props)
	for i, p := range c.props {
		c.props[i].Required = p.Required || slices.Contains(names, p.Name)
	}
	return &c
}

// oneOfObjects merges the objects of which one comes. It returns nil if they are
// not all objects.
func (sh *shaper) oneOfObjects(s *schema.Schema) *shape {
	var alts []*shape
	for _, alt := range slices.Concat(s.OneOf, s.AnyOf) {
		a := sh.shape(alt)
		if a.form != object && a.form != union {
			return nil
		}
		alts = append(alts, a)
	}
	out := &shape{form: object, owner: s}
	sh.mergeObjects(out, flat(alts))
	return out
}

// mergeObjects makes of out an object that can be any of several: it has the
// members of them all, and those are required that all require.
func (sh *shaper) mergeObjects(out *shape, alts []*shape) {
	for i, a := range alts {
		for j, p := range out.props {
			k := indexProp(a.props, p.Name)
			if k < 0 {
				out.props[j].Required = false
				continue
			}
			q := a.props[k]
			out.props[j].Required = p.Required && q.Required
			if p.Schema != q.Schema && (p.Schema.Target == nil || p.Schema.Target != q.Schema.Target) {
				out.props[j].Schema = sh.join(join{false, p.Schema, q.Schema})
			}
		}
		for _, q := range a.props {
			if indexProp(out.props, q.Name) < 0 {
				q.Required = q.Required && i == 0
				out.props = append(out.props, q)
			}
		}
		switch {
		case a.extra == nil:
		case out.extra == nil:
			out.extra = &extra{a.extra.elem, true}
		default:
			out.extra = &extra{sh.join(join{false, out.extra.elem, a.extra.elem}), true}
		}
	}
}

// withBounds returns an integer with the limits and the format that parts of allOf
// give it without saying its type again.
func withBounds(s *schema.Schema, whole *shape) *shape {
	c := *whole
	for _, part := range s.AllOf {
		if c.min == nil {
			c.min = part.Minimum
		}
		if c.max == nil {
			c.max = part.Maximum
		}
		c.format = firstOf(c.format, part.Format)
	}
	return &c
}

// requiredOf returns the names that allOf's parts and s itself require without
// having the property.
func requiredOf(s *schema.Schema) []string {
	names := s.Required
	for _, part := range s.AllOf {
		names = slices.Concat(names, part.Required)
	}
	return names
}

// adds reports whether b has a member that a lacks, or says what a leaves open.
func adds(b, a *shape) bool {
	return slices.ContainsFunc(b.props, func(p schema.Property) bool {
		i := indexProp(a.props, p.Name)
		return i < 0 || leavesOpen(a.props[i].Schema) && !leavesOpen(p.Schema)
	})
}

// leavesOpen reports whether a schema says nothing of what a value holds.
func leavesOpen(s *schema.Schema) bool {
	if s.Target != nil || len(s.AllOf)+len(s.OneOf)+len(s.AnyOf)+len(s.Enum)+len(s.Properties)+len(s.Prefix) > 0 || s.Const != nil || s.Additional != nil || s.Items != nil {
		return false
	}
	return len(s.Types) == 0 || len(s.Types) == 1 && (s.Types[0] == schema.Object || s.Types[0] == schema.Array)
}

func indexProp(props []schema.Property, name string) int {
	return slices.IndexFunc(props, func(p schema.Property) bool { return p.Name == name })
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// bothTexts merges two strings: the values that both admit.
func bothTexts(s *schema.Schema, a, b *shape) *shape {
	switch {
	case b.enum == nil:
		return a
	case a.enum == nil:
		return b
	}
	out := *b
	out.owner, out.named, out.enum = s, false, nil
	for _, v := range a.enum {
		if slices.ContainsFunc(b.enum, v.Equal) {
			out.enum = append(out.enum, v)
		}
	}
	switch {
	case len(out.enum) == len(a.enum):
		return a
	case len(out.enum) == len(b.enum):
		return b
	}
	return &out
}
