package check

import (
	"go/types"

	"github.com/restaq/restaq/internal/jsonform"
	"github.com/restaq/restaq/internal/model"
)

// buildEvent checks a struct marked //restaq:event.
func (c *checker) buildEvent(m *marked) {
	spec := m.Type
	obj, ok := c.src.Info.Defs[spec.Name].(*types.TypeName)
	switch {
	case !ok || spec.Name.Name == "_":
		c.fail(m, spec.Name.Pos(), "the type has no name", "")
		return
	case spec.TypeParams != nil && len(spec.TypeParams.List) > 0:
		c.fail(m, spec.TypeParams.Pos(), "is generic, and an event type has one struct", "")
		return
	case spec.Assign.IsValid():
		c.fail(m, spec.Name.Pos(), "is an alias", "mark the type itself")
		return
	case hasInvalid(obj.Type()):
		c.fail(m, spec.Name.Pos(), "the type does not compile", c.whyNot())
		return
	case len(m.Marker.Types) == 0:
		return
	}
	if _, ok := obj.Type().Underlying().(*types.Struct); !ok {
		c.fail(m, spec.Name.Pos(), "is no struct, which the payload of an event must be", "")
		return
	}
	if f := c.jsonFault(obj.Type()); f != nil {
		c.fail(m, spec.Name.Pos(), f.String(), f.Hint)
	}
	m.event = &model.EventDecl{
		Obj: obj, Type: m.Marker.Types[0].Text, Const: obj.Name() + "Type", Pos: c.src.Position(spec.Name.Pos()),
	}
}

// eventParam finds out what a handler's event parameter is, and whether it fits
// the event types of the marker.
func (c *checker) eventParam(m *marked, h *model.Handler, p param) {
	wanted := make([]string, len(m.Marker.Types))
	for i, t := range m.Marker.Types {
		wanted[i] = t.Text
	}
	if _, ok := deref(h.Event).Underlying().(*types.Struct); ok {
		if reason := c.unnameable(h.Event); reason != "" {
			c.fail(m, p.pos, reason, "")
			return
		}
	}
	fit, misfits := c.events.Fit(c.src.Types, h.Event, wanted)
	h.Kind, h.Events, h.Decoder = fit.Kind, fit.Events, fit.Decoder
	for _, misfit := range misfits {
		c.fail(m, p.pos, misfit.Reason, misfit.Hint)
	}
	if f := c.jsonFault(h.Event); f != nil && fit.Own {
		c.fail(m, p.pos, "event "+f.String(), f.Hint)
	}
}

// jsonFault returns why a value of type t cannot be encoded and decoded again,
// nil if it can. The codecs are told the members of a family.
func (c *checker) jsonFault(t types.Type) *jsonform.Fault {
	if members := c.events.Members(t); len(members) > 0 {
		c.pkg.Families[types.Unalias(t).(*types.Named).Obj()] = members
	}
	return jsonform.Find(t, c.src.Types, c.events.IsFamily)
}
