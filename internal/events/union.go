package events

import (
	"slices"

	"github.com/restaq/restaq/internal/schema"
)

// union returns the shape of a value that is one of several.
func (sh *shaper) union(s *schema.Schema, list []*schema.Schema) *shape {
	out := &shape{owner: s}
	var alts []*shape
	for _, alt := range list {
		a := sh.shape(alt)
		out.null = out.null || a.null
		switch {
		case a.form == nothing:
			continue
		case a.form == anything && a.widened == "":
			if constrains(alt) {
				continue // {"required": […]} and the like only validate
			}
			return &shape{null: true}
		case !slices.ContainsFunc(alts, func(b *shape) bool { return sameForm(a, b) && a.form == b.form && a.enum == nil }):
			alts = append(alts, a)
		}
	}
	switch len(alts) {
	case 0:
		if out.null {
			out.form = nothing
		}
		return out
	case 1:
		c := *alts[0]
		c.null = c.null || out.null
		return &c
	}
	sh.combine(out, alts)
	return out
}

// constrains reports whether a schema without a type says something else.
func constrains(s *schema.Schema) bool {
	return s.Always == nil && (len(s.Required) > 0 || len(s.Rest) > 0 || s.Minimum != nil || s.Maximum != nil || len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0)
}

// combine sets the form of a value that is one of several shapes, none of them
// null.
func (sh *shaper) combine(out *shape, alts []*shape) {
	all := func(forms ...form) bool {
		return !slices.ContainsFunc(alts, func(a *shape) bool { return !slices.Contains(forms, a.form) })
	}
	count := func(f form) (n int, last *shape) {
		for _, a := range alts {
			if a.form == f {
				n, last = n+1, a
			}
		}
		return n, last
	}
	moments, _ := count(moment)
	strings, _ := count(text)
	objects, obj := count(object)
	switch {
	case all(text):
		out.form, out.enum = text, allValues(alts)
	case all(integer, unix):
		out.form = integer
	case all(integer, number, unix):
		out.form = number
	case all(text, moment):
		out.form = moment
	case moments > 0 && strings == 0 && all(integer, number, unix, moment):
		out.form = moment
	case all(text, integer, number, unix, loose, moment):
		out.form = loose
	case all(array), all(dictionary):
		out.form, out.elem = alts[0].form, sh.anyElem(alts)
	case all(text, object, expandable, dictionary, bare):
		out.form = expandable
		if objects == 1 && all(text, object) {
			out.elem = obj.owner
		}
		if strings == 0 {
			out.form, out.widened = anything, "it is one of several objects"
		}
	default:
		out.widened = "it is one of several types"
	}
}

// anyElem returns a schema of what any of several arrays or maps holds, nil for
// anything.
func (sh *shaper) anyElem(alts []*shape) *schema.Schema {
	elem := alts[0].elem
	for _, a := range alts[1:] {
		if elem == nil || a.elem == nil {
			return nil
		}
		elem = sh.join(join{false, elem, a.elem})
	}
	return elem
}

// allValues joins the values of enums. A string without an enum makes the whole
// a plain string.
func allValues(alts []*shape) []*schema.Node {
	var values []*schema.Node
	for _, a := range alts {
		if a.enum == nil {
			return nil
		}
		for _, v := range a.enum {
			if !slices.ContainsFunc(values, v.Equal) {
				values = append(values, v)
			}
		}
	}
	return values
}
