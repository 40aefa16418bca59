package check

import (
	"fmt"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/marker"
	"github.com/restaq/restaq/internal/model"
)

// runtimePath is the import path of the runtime.
const runtimePath = "github.com/restaq/restaq/runtime"

// claim is a struct that stands for an event type.
type claim struct {
	obj       *types.TypeName
	eventType string
	constant  string // the name of the constant in obj's package
}

// eventPackage is what a package says about event types.
type eventPackage struct {
	claims []claim // by the structs' names
	decode bool    // has Decode(eventType string, payload []byte) (any, error)
}

// byType returns the claim on an event type.
func (p *eventPackage) byType(eventType string) (claim, bool) {
	for _, c := range p.claims {
		if c.eventType == eventType {
			return c, true
		}
	}
	return claim{}, false
}

// byStruct returns the claim of a struct.
func (p *eventPackage) byStruct(obj *types.TypeName) (claim, bool) {
	for _, c := range p.claims {
		if c.obj == obj {
			return c, true
		}
	}
	return claim{}, false
}

// events knows which structs stand for which event types: by the constants
// <Struct>Type of compiled packages, and by the markers of those read from
// source, whose generated constants are not looked at.
type events struct {
	marked   map[*types.Package]map[string]string // struct name to event type
	packages map[*types.Package]*eventPackage
}

func newEvents(sources, dependencies []*model.Source) *events {
	e := &events{marked: map[*types.Package]map[string]string{}, packages: map[*types.Package]*eventPackage{}}
	for _, s := range slices.Concat(sources, dependencies) {
		for _, file := range s.Files {
			decls, _ := marker.Find(file.Syntax)
			for _, d := range decls {
				if d.Type == nil || d.Marker == nil || d.Marker.Verb != marker.Event || len(d.Marker.Types) == 0 {
					continue
				}
				if e.marked[s.Types] == nil {
					e.marked[s.Types] = map[string]string{}
				}
				e.marked[s.Types][d.Type.Name.Name] = d.Marker.Types[0].Text
			}
		}
	}
	return e
}

// of returns what p says about event types.
func (e *events) of(p *types.Package) *eventPackage {
	if found := e.packages[p]; found != nil {
		return found
	}
	found := &eventPackage{}
	e.packages[p] = found
	for _, name := range p.Scope().Names() {
		obj, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		if _, ok := obj.Type().Underlying().(*types.Struct); !ok {
			continue
		}
		if eventType := e.marked[p][name]; eventType != "" {
			found.claims = append(found.claims, claim{obj, eventType, name + "Type"})
		} else if c, ok := p.Scope().Lookup(name + "Type").(*types.Const); ok && c.Val().Kind() == constant.String {
			if eventType := constant.StringVal(c.Val()); strings.Contains(eventType, ".") {
				found.claims = append(found.claims, claim{obj, eventType, c.Name()})
			}
		}
	}
	if decode, ok := p.Scope().Lookup("Decode").(*types.Func); ok {
		bytes, empty := types.NewSlice(types.Typ[types.Byte]), types.NewInterfaceType(nil, nil)
		params, results := decode.Signature().Params(), decode.Signature().Results()
		found.decode = params.Len() == 2 && results.Len() == 2 &&
			types.Identical(params.At(0).Type(), types.Typ[types.String]) && types.Identical(params.At(1).Type(), bytes) &&
			types.Identical(types.Unalias(results.At(0).Type()), empty) && isError(results.At(1).Type())
	}
	return found
}

// family returns the structs of an event package that implement one of its
// sealed interfaces, nil if t is no such interface.
func (e *events) family(t types.Type) []claim {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	iface, ok := named.Underlying().(*types.Interface)
	if !ok || !sealed(iface) {
		return nil
	}
	p := e.of(named.Obj().Pkg())
	if !p.decode {
		return nil
	}
	var members []claim
	for _, c := range p.claims {
		if types.Implements(c.obj.Type(), iface) || types.Implements(types.NewPointer(c.obj.Type()), iface) {
			members = append(members, c)
		}
	}
	return members
}

// sealed reports whether only the interface's own package can implement it.
func sealed(iface *types.Interface) bool {
	for method := range iface.Methods() {
		if !method.Exported() {
			return true
		}
	}
	return false
}

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
		c.fail(m, spec.Name.Pos(), f.String(), f.hint)
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
	t := h.Event
	target := t
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		target = pointer.Elem()
	}
	isPointer := target != t
	named, _ := types.Unalias(target).(*types.Named)
	switch under := target.Underlying().(type) {
	case *types.Struct:
		h.Kind = model.StructEvent
		if isPointer {
			h.Kind = model.PointerEvent
		}
		if isNamed(target, runtimePath, "Event") {
			if isPointer {
				c.fail(m, p.pos, "takes a pointer to the raw event", "take restaq.Event")
			}
			h.Kind = model.RawEvent
			c.eventTypes(h, nil, wanted)
			return
		}
		c.structEvent(m, h, p, named, wanted)
	case *types.Interface:
		if isPointer {
			c.fail(m, p.pos, "takes a pointer to an interface", "take "+c.typeString(target))
			return
		}
		h.Kind = model.FamilyEvent
		c.familyEvent(m, h, p, named, under, wanted)
	default:
		c.fail(m, p.pos, fmt.Sprintf("takes %s, which is no event", c.typeString(t)), c.fitting(wanted))
	}
}

// structEvent checks a handler of a struct, named or not.
func (c *checker) structEvent(m *marked, h *model.Handler, p param, named *types.Named, wanted []string) {
	if reason := c.unnameable(h.Event); reason != "" {
		c.fail(m, p.pos, reason, "")
		return
	}
	if named == nil || named.Obj().Pkg() == nil {
		c.ownStruct(m, h, p, wanted)
		return
	}
	from := c.events.of(named.Obj().Pkg())
	claimed, ok := from.byStruct(named.Obj())
	switch {
	case !ok && from.decode && len(from.claims) > 0:
		c.fail(m, p.pos, fmt.Sprintf("takes %s, which is part of events and no event itself", c.typeString(named)), c.fitting(wanted))
	case !ok:
		c.ownStruct(m, h, p, wanted)
	case len(wanted) == 1 && wanted[0] == claimed.eventType:
		c.eventTypes(h, from, wanted)
	case len(wanted) == 0: // an error already
	case len(wanted) == 1:
		c.fail(m, p.pos, fmt.Sprintf("takes %s, which is the event %s and not %s", c.typeString(named), claimed.eventType, wanted[0]), c.fitting(wanted))
	default:
		c.fail(m, p.pos, fmt.Sprintf("takes %s, which is the event %s alone, and subscribes to %d", c.typeString(named), claimed.eventType, len(wanted)), c.fitting(wanted))
	}
}

// ownStruct checks a handler of a struct of the user's own that claims no event
// type.
func (c *checker) ownStruct(m *marked, h *model.Handler, p param, wanted []string) {
	if f := c.jsonFault(h.Event); f != nil {
		c.fail(m, p.pos, "event "+f.String(), f.hint)
	}
	c.eventTypes(h, nil, wanted)
}

// familyEvent checks a handler of an interface.
func (c *checker) familyEvent(m *marked, h *model.Handler, p param, named *types.Named, under *types.Interface, wanted []string) {
	members := c.events.family(h.Event)
	if len(members) == 0 {
		reason := fmt.Sprintf("takes the interface %s, which is no family of events", c.typeString(h.Event))
		c.fail(m, p.pos, reason, c.fitting(wanted))
		return
	}
	from := c.events.of(named.Obj().Pkg())
	for _, w := range wanted {
		known, belong := 0, 0
		for _, claimed := range from.claims {
			if matches(w, claimed.eventType) {
				known++
				if slices.Contains(members, claimed) {
					belong++
				}
			}
		}
		switch {
		case known == 0:
			c.fail(m, p.pos, fmt.Sprintf("takes %s, and package %s does not know the event type %s", c.typeString(named), named.Obj().Pkg().Name(), w), c.fitting([]string{w}))
		case belong < known && strings.HasSuffix(w, "*"):
			c.fail(m, p.pos, fmt.Sprintf("takes %s, to which not all events of %s belong", c.typeString(named), w), "take restaq.Event, or a struct of your own")
		case belong < known:
			c.fail(m, p.pos, fmt.Sprintf("takes %s, to which %s does not belong", c.typeString(named), w), c.fitting([]string{w}))
		}
	}
	h.Decoder = named.Obj().Pkg().Path()
	c.eventTypes(h, from, wanted)
}

// matches reports whether an event type is one that a pattern means.
func matches(pattern, eventType string) bool {
	head, wild := strings.CutSuffix(pattern, "*")
	if !wild {
		return pattern == eventType
	}
	return len(eventType) > len(head) && strings.HasPrefix(eventType, head)
}

// eventTypes sets h's event types, with the constants of an event package.
func (c *checker) eventTypes(h *model.Handler, from *eventPackage, wanted []string) {
	for _, w := range wanted {
		e := model.EventType{Type: w}
		if from != nil {
			if claimed, ok := from.byType(w); ok && (claimed.obj.Exported() || claimed.obj.Pkg() == c.src.Types) {
				e.Package, e.Const = claimed.obj.Pkg().Path(), claimed.constant
			}
		}
		h.Events = append(h.Events, e)
	}
}

// fitting says which parameter fits event types: the struct of the one, the
// family of several, else the raw event.
func (c *checker) fitting(wanted []string) string {
	const raw = "restaq.Event and a struct of your own fit any event type"
	if len(wanted) == 0 || slices.Contains(wanted, "*") {
		return raw
	}
	var near []string
	for _, p := range append([]*types.Package{c.src.Types}, c.src.Types.Imports()...) {
		from := c.events.of(p)
		if len(wanted) == 1 {
			if claimed, ok := from.byType(wanted[0]); ok {
				return fmt.Sprintf("%s fits %s", c.typeString(claimed.obj.Type()), wanted[0])
			}
		} else if name := c.familyOf(p, wanted); name != "" {
			return fmt.Sprintf("%s fits these event types", name)
		}
		for _, claimed := range from.claims {
			near = append(near, claimed.eventType)
		}
	}
	if len(wanted) == 1 {
		if name := c.familyOfPattern(wanted[0]); name != "" {
			return fmt.Sprintf("%s fits %s", name, wanted[0])
		}
		if meant := marker.Nearest(wanted[0], near); meant != "" && !strings.HasSuffix(wanted[0], "*") {
			return fmt.Sprintf("did you mean the event type %s?", meant)
		}
	}
	return raw
}

// familyOfPattern returns the family that fits a pattern in an imported
// package, "" if none does.
func (c *checker) familyOfPattern(pattern string) string {
	if !strings.HasSuffix(pattern, "*") {
		return ""
	}
	for _, p := range c.src.Types.Imports() {
		if name := c.familyOf(p, []string{pattern}); name != "" {
			return name
		}
	}
	return ""
}

// familyOf returns the family of package p to which all event types belong, ""
// if there is none.
func (c *checker) familyOf(p *types.Package, wanted []string) string {
	from := c.events.of(p)
	if !from.decode {
		return ""
	}
	for _, name := range p.Scope().Names() {
		obj, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() {
			continue
		}
		members := c.events.family(obj.Type())
		if len(members) > 0 && c.allBelong(from, members, wanted) {
			return c.typeString(obj.Type())
		}
	}
	return ""
}

func (c *checker) allBelong(from *eventPackage, members []claim, wanted []string) bool {
	for _, w := range wanted {
		known := false
		for _, claimed := range from.claims {
			if matches(w, claimed.eventType) {
				known = true
				if !slices.Contains(members, claimed) {
					return false
				}
			}
		}
		if !known {
			return false
		}
	}
	return true
}
