// Package jsonform says why the values of a Go type have no JSON form: why
// encoding/json cannot write them, or cannot read back what it wrote. What it
// writes and reads with a loss is not this package's matter, a struct aside of
// which nothing at all would be left.
package jsonform

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/restaq/restaq/internal/shape"
)

// Fault is the part of a type that has no JSON form.
type Fault struct {
	Path   string // of fields and elements, such as Items[].Notify; "" for the type itself
	Reason string
	Hint   string // may be empty
}

// String returns the path, if there is one, and the reason.
func (f *Fault) String() string {
	if f.Path == "" {
		return f.Reason
	}
	return f.Path + " " + f.Reason
}

// at puts a field or element in front of the path.
func (f *Fault) at(step string) *Fault {
	if f == nil {
		return nil
	}
	return &Fault{Join(step, f.Path), f.Reason, f.Hint}
}

// Join returns the path of what lies at rest below a field, or below the
// elements "[]".
func Join(step, rest string) string {
	if rest != "" && !strings.HasPrefix(rest, "[") {
		step += "."
	}
	return step + rest
}

// Find returns why a value of type t cannot be encoded and decoded again by
// encoding/json, nil if it can. Types are named as the package from does. Family
// reports whether an interface is a family of events, whose JSON form is known
// where it is t itself.
func Find(t types.Type, from *types.Package, family func(types.Type) bool) *Fault {
	w := &walker{from: from, family: family, seen: map[types.Type]bool{}}
	return w.fault(t)
}

// walker walks through a type.
type walker struct {
	from   *types.Package
	family func(types.Type) bool
	seen   map[types.Type]bool
	depth  int
}

// maxDepth ends the walk through a generic type that nests new instances of
// itself without end.
const maxDepth = 100

func (w *walker) fault(t types.Type) *Fault {
	t = types.Unalias(t)
	if w.seen[t] || w.depth > maxDepth {
		return nil
	}
	w.seen[t] = true
	w.depth++
	defer func() { w.depth-- }()

	if types.Identical(t, types.Universe.Lookup("error").Type()) {
		return &Fault{Reason: "is an error, which has no JSON form", Hint: "pass its text, or return it as the step's error"}
	}
	if f := w.promoted(t); f != nil {
		return f
	}
	if named, ok := t.(*types.Named); ok {
		if f, done := w.marshaler(named); done {
			return f
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return w.basic(t, u)
	case *types.Pointer:
		return w.fault(u.Elem())
	case *types.Slice:
		return w.fault(u.Elem()).at("[]")
	case *types.Array:
		return w.fault(u.Elem()).at("[]")
	case *types.Map:
		if f := w.mapKey(u.Key()); f != nil {
			return f
		}
		return w.fault(u.Elem()).at("[]")
	case *types.Struct:
		return w.structFault(t, u)
	case *types.Interface:
		if u.Empty() || w.depth == 1 && w.family(t) {
			return nil
		}
		if w.family(t) { // nothing but the record itself says which event it holds
			return &Fault{
				Reason: fmt.Sprintf("is an event of the family %s, which can be an input or output itself, but not stand inside one", w.typeString(t)),
				Hint:   "use the struct of one event",
			}
		}
		return &Fault{Reason: fmt.Sprintf("is the interface %s, which has no concrete JSON form", w.typeString(t)), Hint: "use a concrete type, or any"}
	case *types.Chan:
		return &Fault{Reason: "is a channel, which has no JSON form"}
	case *types.Signature:
		return &Fault{Reason: "is a function, which has no JSON form"}
	}
	return nil
}

func (w *walker) basic(t types.Type, u *types.Basic) *Fault {
	switch {
	case u.Kind() == types.Invalid:
		return &Fault{Reason: "has a type that does not compile"}
	case u.Kind() == types.UnsafePointer:
		return &Fault{Reason: "is an unsafe.Pointer, which has no JSON form"}
	case u.Info()&types.IsComplex != 0:
		return &Fault{Reason: fmt.Sprintf("is a complex number (%s), which has no JSON form", w.typeString(t))}
	}
	return nil
}

// marshaler looks for methods that replace the usual encoding. It reports
// whether they settle the matter.
func (w *walker) marshaler(named *types.Named) (*Fault, bool) {
	if types.IsInterface(named) {
		return nil, false
	}
	methods := types.NewMethodSet(types.NewPointer(named))
	for _, form := range []string{"JSON", "Text"} {
		marshal, unmarshal := hasMethod(methods, "Marshal"+form), hasMethod(methods, "Unmarshal"+form)
		switch {
		case marshal && unmarshal:
			return nil, true
		case marshal:
			return &Fault{
				Reason: fmt.Sprintf("has the type %s with a method Marshal%s but no Unmarshal%s, so that a record of it cannot be read back", w.typeString(named), form, form),
				Hint:   "add the other method, or use another type",
			}, true
		}
	}
	return nil, false
}

// promoted reports a method of an embedded field that speaks for a whole struct
// and knows nothing of its other fields.
func (w *walker) promoted(t types.Type) *Fault {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	methods := types.NewMethodSet(types.NewPointer(t))
	for _, direction := range []string{"Marshal", "Unmarshal"} {
		name := direction + "JSON"
		if !hasMethod(methods, name) {
			name = direction + "Text"
		}
		if !hasMethod(methods, name) {
			continue
		}
		index := methods.Lookup(nil, name).Index()
		for i := range s.NumFields() {
			if field := s.Field(i); len(index) > 1 && i != index[0] && field.Exported() && reflect.StructTag(s.Tag(i)).Get("json") != "-" {
				return &Fault{
					Reason: fmt.Sprintf("has the type %s, which gets %s from its embedded field %s, so that JSON would lose its field %s",
						w.typeString(t), name, s.Field(index[0]).Name(), field.Name()),
					Hint: "give the embedded field a name, or the type methods of its own",
				}
			}
		}
	}
	return nil
}

func hasMethod(methods *types.MethodSet, name string) bool {
	selection := methods.Lookup(nil, name)
	if selection == nil {
		return false
	}
	sig, ok := selection.Type().(*types.Signature)
	if !ok {
		return false
	}
	if strings.HasPrefix(name, "Marshal") {
		return sig.Params().Len() == 0 && sig.Results().Len() == 2
	}
	return sig.Params().Len() == 1 && sig.Results().Len() == 1
}

// mapKey checks the key of a map: of a string or integer type, or with text
// methods.
func (w *walker) mapKey(key types.Type) *Fault {
	if basic, ok := key.Underlying().(*types.Basic); ok && basic.Info()&(types.IsString|types.IsInteger) != 0 {
		return nil
	}
	if !types.IsInterface(key) {
		marshal := hasMethod(types.NewMethodSet(key), "MarshalText")
		unmarshal := hasMethod(types.NewMethodSet(types.NewPointer(key)), "UnmarshalText")
		if marshal && unmarshal {
			return nil
		}
	}
	return &Fault{
		Reason: fmt.Sprintf("is a map with keys of type %s, which JSON does not have", w.typeString(key)),
		Hint:   "keys are strings, integers, or types with MarshalText and UnmarshalText",
	}
}

// structFault checks the fields that encoding/json looks at.
func (w *walker) structFault(t types.Type, s *types.Struct) *Fault {
	if first, second, name, clash := shape.Clash(s); clash {
		return &Fault{
			Reason: fmt.Sprintf("has two fields that are %q in JSON, %s and %s, so that both would be lost", name, first, second),
			Hint:   "give one of them another name by a json tag",
		}
	}
	visible := 0
	for i := range s.NumFields() {
		field := s.Field(i)
		tag, _, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ",")
		if reflect.StructTag(s.Tag(i)).Get("json") == "-" {
			visible++ // left out on purpose
			continue
		}
		if !field.Exported() {
			if !field.Embedded() {
				continue
			}
			inner := types.Unalias(field.Type())
			pointer, isPointer := inner.(*types.Pointer)
			if isPointer {
				inner = pointer.Elem()
			}
			if _, ok := inner.Underlying().(*types.Struct); !ok {
				continue
			}
			if isPointer {
				return (&Fault{
					Reason: "is an embedded pointer to an unexported struct, which encoding/json cannot read",
					Hint:   "embed the struct itself",
				}).at(field.Name())
			}
		}
		visible++
		f := w.fault(field.Type())
		switch {
		case f != nil && field.Embedded() && tag == "" && f.Path != "":
			return f
		case f != nil:
			return f.at(field.Name())
		}
	}
	if visible == 0 && s.NumFields() > 0 && !isLock(t) {
		return &Fault{
			Reason: fmt.Sprintf("has the type %s, all of whose fields are unexported, so that JSON would lose them", w.typeString(t)),
			Hint:   "export the fields, or give the type MarshalJSON and UnmarshalJSON",
		}
	}
	return nil
}

// isLock reports whether t is a type of package sync, whose state nobody records.
func isLock(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "sync"
}

// typeString writes a type as the package from does.
func (w *walker) typeString(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == w.from {
			return ""
		}
		return p.Name()
	})
}
