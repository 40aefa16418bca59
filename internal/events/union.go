package events

import (
	"slices"

	"github.com/restaq/restaq/internal/schema"
)

// union returns the shape of a value that is one of several. Alone says that the
// schema says nothing else of its type.
func (sh *shaper) union(s *schema.Schema, list []*schema.Schema, alone bool) *shape {
	out := &shape{owner: s}
	var alts []*shape
	for _, alt := range list {
		a := sh.shape(alt)
		out.null = out.null || a.null
		switch {
		case a.form == nothing:
			continue
		case a.form == anything && a.widened == "":
			if constrains(alt) && !alone {
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
	return s.Always == nil && (len(s.Required)+len(s.Rest)+len(s.Conditions) > 0 || s.Minimum != nil || s.Maximum != nil || len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0)
}

// combine sets the form of a value that is one of several shapes, none of them
// null.
func (sh *shaper) combine(out *shape, alts []*shape) {
	all := func(forms ...form) bool {
		return !slices.ContainsFunc(alts, func(a *shape) bool { return !slices.Contains(forms, a.form) })
	}
	has := func(f form) bool {
		return slices.ContainsFunc(alts, func(a *shape) bool { return a.form == f })
	}
	switch {
	case all(text):
		out.form, out.enum = text, allValues(alts)
	case all(integer, unix):
		out.form = integer
		if slices.ContainsFunc(alts, func(a *shape) bool { return integerType(a).Name != "int64" }) {
			out.form = number
		}
	case all(integer, number, unix):
		out.form = number
	case all(text, moment):
		out.form = moment
	case has(moment) && all(integer, number, unix, moment):
		out.form = moment
	case all(text, integer, number, unix, loose, moment):
		out.form = loose
	case all(array), all(dictionary):
		out.form, out.elem = alts[0].form, sh.anyElem(alts)
	case all(object, union):
		sh.objects(out, alts)
	case (has(text) || has(expandable)) && all(text, object, union, expandable, dictionary, bare):
		out.form, out.elem = expandable, sh.whole(out.owner, alts)
	case all(object, union, dictionary, bare):
		out.widened = "it is one of several objects, some of them without known members"
	case has(array) && sh.oneOrMany(out, alts):
	default:
		out.widened = "it is one of several types"
	}
}

// oneOrMany makes of out a value or an array of such, if that is what the
// alternatives are. It is none if one of them can be anything.
func (sh *shaper) oneOrMany(out *shape, alts []*shape) bool {
	var elem *schema.Schema
	for _, a := range alts {
		s := a.owner
		if a.form == array {
			s = a.elem
		}
		switch {
		case s == nil:
			return false
		case elem == nil:
			elem = s
		case elem != s:
			elem = sh.join(join{false, elem, s})
		}
	}
	if of := sh.peek(elem); of == nil || of.form == anything || of.form == array {
		return false
	}
	out.form, out.elem = several, elem
	return true
}

// besideArray returns the schema of a value whose type is a list with array in
// it, where the array's items are like the value; else nil.
func (sh *shaper) besideArray(s *schema.Schema, types []schema.Kind) *schema.Schema {
	if !slices.Contains(types, schema.Array) || s.Items == nil || len(s.Prefix) > 0 {
		return nil
	}
	alone := *s
	alone.Types = slices.DeleteFunc(slices.Clone(types), func(k schema.Kind) bool { return k == schema.Array })
	alone.Null, alone.Items, alone.Target, alone.AllOf, alone.AnyOf, alone.OneOf = false, nil, nil, nil, nil, nil
	elem := sh.join(join{false, &alone, s.Items})
	if of := sh.peek(elem); of == nil || of.form == anything || of.form == array {
		return nil
	}
	return elem
}

// objects sets the form of a value that is one of several objects: a union if a
// member tells them apart, else one object with the members of them all.
func (sh *shaper) objects(out *shape, alts []*shape) {
	alts = flat(alts)
	out.tag, out.variants = tell(out.owner, alts)
	if out.variants != nil {
		out.form = union
		return
	}
	out.form = object
	sh.mergeObjects(out, alts)
}

// whole returns the schema of the object behind a reference, nil if it has no
// known members.
func (sh *shaper) whole(owner *schema.Schema, alts []*shape) *schema.Schema {
	var objects []*shape
	for _, a := range alts {
		if a.form == expandable && a.elem != nil {
			a = sh.shape(a.elem)
		}
		switch a.form {
		case text:
		case object, union:
			objects = append(objects, a)
		default:
			return nil
		}
	}
	alts = flat(objects)
	if len(alts) == 1 {
		return alts[0].owner
	}
	if len(alts) == 0 {
		return nil
	}
	// It stands for the objects among the alternatives, which no schema of its
	// own describes.
	s := &schema.Schema{Position: owner.Position}
	one := &shape{owner: s}
	sh.partOf[s], sh.done[s] = owner, one
	if one.tag, one.variants = tell(owner, alts); one.variants != nil {
		one.form = union
	} else {
		one.form = object
		sh.mergeObjects(one, alts)
	}
	return s
}

// flat replaces unions among alternatives by theirs, each object once.
func flat(alts []*shape) []*shape {
	var list []*shape
	add := func(a *shape) {
		if !slices.ContainsFunc(list, func(b *shape) bool { return b.owner == a.owner }) {
			list = append(list, a)
		}
	}
	for _, a := range alts {
		if a.form != union {
			add(a)
			continue
		}
		for _, v := range a.variants {
			add(v.shape)
		}
	}
	return list
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
		values = append(values, a.enum...)
	}
	return distinct(values)
}
