// Package eventtype fits handlers to event types: it knows which struct stands
// for which event type, whether what a handler takes is what its event types
// bring, and which type it ought to take instead.
package eventtype

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/marker"
	"github.com/restaq/restaq/internal/model"
)

// runtimePath is the import path of the runtime.
const runtimePath = "github.com/restaq/restaq/runtime"

// Fit is what a handler's event parameter is.
type Fit struct {
	// Kind says how a payload becomes the event.
	Kind model.EventKind

	// Own says that the event is a struct of the user's own, which claims no
	// event type and has to have a JSON form.
	Own bool

	// Events are the event types, with the constants that stand for them.
	Events []model.EventType

	// Decoder is the import path of the event package whose function Decode
	// reads the event of a family; "" otherwise.
	Decoder string
}

// Misfit says why a type does not fit event types, and which one would.
type Misfit struct {
	Reason, Hint string

	// Pointer says that what the type points to would fit.
	Pointer bool
}

// Fit finds out what a parameter of type t is to a handler, in package from, of
// the event types and patterns wanted. A parameter with misfits does not fit.
func (c *Catalog) Fit(from *types.Package, t types.Type, wanted []string) (Fit, []Misfit) {
	f := &fitter{catalog: c, from: from, wanted: wanted}
	target := t
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		target = pointer.Elem()
	}
	isPointer := target != t
	named, _ := types.Unalias(target).(*types.Named)
	switch target.Underlying().(type) {
	case *types.Struct:
		f.fit.Kind = model.StructEvent
		if isPointer {
			f.fit.Kind = model.PointerEvent
		}
		f.structure(named, isPointer)
	case *types.Interface:
		if isPointer {
			f.fail("take "+f.typeString(target), "takes a pointer to an interface")
			break
		}
		f.fit.Kind = model.FamilyEvent
		f.family(t, named)
	default:
		f.fail(f.fitting(wanted), "takes %s, which is no event", f.typeString(t))
	}
	return f.fit, f.misfits
}

// fitter fits one parameter.
type fitter struct {
	catalog *Catalog
	from    *types.Package
	wanted  []string
	fit     Fit
	misfits []Misfit
}

func (f *fitter) fail(hint, reason string, args ...any) {
	f.misfits = append(f.misfits, Misfit{Reason: fmt.Sprintf(reason, args...), Hint: hint})
}

// structure fits a struct, named or not.
func (f *fitter) structure(named *types.Named, isPointer bool) {
	if named == nil || named.Obj().Pkg() == nil {
		f.own()
		return
	}
	if named.Obj().Pkg().Path() == runtimePath && named.Obj().Name() == "Event" {
		if isPointer {
			f.fail("take restaq.Event", "takes a pointer to the raw event")
		}
		f.fit.Kind = model.RawEvent
		f.eventTypes(nil)
		return
	}
	from := f.catalog.of(named.Obj().Pkg())
	claimed, ok := from.byStruct(named.Obj())
	switch wanted := f.wanted; {
	case !ok && from.decode && len(from.claims) > 0:
		f.fail(f.fitting(wanted), "takes %s, which is part of events and no event itself", f.typeString(named))
	case !ok:
		f.own()
	case len(wanted) == 1 && wanted[0] == claimed.eventType:
		f.eventTypes(from)
	case len(wanted) == 0: // an error already
	case len(wanted) == 1:
		f.fail(f.fitting(wanted), "takes %s, which is the event %s and not %s", f.typeString(named), claimed.eventType, wanted[0])
	default:
		f.fail(f.fitting(wanted), "takes %s, which is the event %s alone, and subscribes to %d", f.typeString(named), claimed.eventType, len(wanted))
	}
}

// own fits a struct of the user's own that claims no event type: to any.
func (f *fitter) own() {
	f.fit.Own = true
	f.eventTypes(nil)
}

// family fits an interface.
func (f *fitter) family(t types.Type, named *types.Named) {
	members := f.catalog.family(t)
	if len(members) == 0 {
		f.fail(f.fitting(f.wanted), "takes the interface %s, which is no family of events", f.typeString(t))
		return
	}
	from := f.catalog.of(named.Obj().Pkg())
	for _, w := range f.wanted {
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
			f.fail(f.fitting([]string{w}), "takes %s, and package %s does not know the event type %s", f.typeString(named), named.Obj().Pkg().Name(), w)
		case belong < known && strings.HasSuffix(w, "*"):
			f.fail("take restaq.Event, or a struct of your own", "takes %s, to which not all events of %s belong", f.typeString(named), w)
		case belong < known:
			f.fail(f.fitting([]string{w}), "takes %s, to which %s does not belong", f.typeString(named), w)
		}
	}
	f.fit.Decoder = named.Obj().Pkg().Path()
	f.eventTypes(from)
}

// matches reports whether an event type is one that a pattern means.
func matches(pattern, eventType string) bool {
	head, wild := strings.CutSuffix(pattern, "*")
	if !wild {
		return pattern == eventType
	}
	return len(eventType) > len(head) && strings.HasPrefix(eventType, head)
}

// eventTypes sets the event types, with the constants of an event package.
func (f *fitter) eventTypes(from *eventPackage) {
	for _, w := range f.wanted {
		e := model.EventType{Type: w}
		if from != nil {
			if claimed, ok := from.byType(w); ok && (claimed.obj.Exported() || claimed.obj.Pkg() == f.from) {
				e.Package, e.Const = claimed.obj.Pkg().Path(), claimed.constant
			}
		}
		f.fit.Events = append(f.fit.Events, e)
	}
}

// fitting says which parameter fits event types: the struct of the one, the
// family of several, else the raw event.
func (f *fitter) fitting(wanted []string) string {
	const raw = "restaq.Event and a struct of your own fit any event type"
	if len(wanted) == 0 || slices.Contains(wanted, "*") {
		return raw
	}
	var near []string
	for _, p := range append([]*types.Package{f.from}, f.from.Imports()...) {
		from := f.catalog.of(p)
		if len(wanted) == 1 {
			if claimed, ok := from.byType(wanted[0]); ok {
				return fmt.Sprintf("%s fits %s", f.typeString(claimed.obj.Type()), wanted[0])
			}
		} else if name := f.familyOf(p, wanted); name != "" {
			return fmt.Sprintf("%s fits these event types", name)
		}
		for _, claimed := range from.claims {
			near = append(near, claimed.eventType)
		}
	}
	if len(wanted) == 1 {
		if name := f.familyOfPattern(wanted[0]); name != "" {
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
func (f *fitter) familyOfPattern(pattern string) string {
	if !strings.HasSuffix(pattern, "*") {
		return ""
	}
	for _, p := range f.from.Imports() {
		if name := f.familyOf(p, []string{pattern}); name != "" {
			return name
		}
	}
	return ""
}

// familyOf returns the family of package p to which all event types belong, ""
// if there is none.
func (f *fitter) familyOf(p *types.Package, wanted []string) string {
	from := f.catalog.of(p)
	if !from.decode {
		return ""
	}
	for _, name := range p.Scope().Names() {
		obj, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() {
			continue
		}
		members := f.catalog.family(obj.Type())
		if len(members) > 0 && f.allBelong(from, members, wanted) {
			return f.typeString(obj.Type())
		}
	}
	return ""
}

func (f *fitter) allBelong(from *eventPackage, members []claim, wanted []string) bool {
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

// typeString writes a type as the package from does.
func (f *fitter) typeString(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == f.from {
			return ""
		}
		return p.Name()
	})
}
