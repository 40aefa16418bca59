package check

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/restaq/restaq/internal/shape"
)

// fault is the part of a type that has no JSON form.
type fault struct {
	path   string // of fields and elements, such as Items[].Notify; "" for the type itself
	reason string
	hint   string
}

func (f *fault) String() string {
	if f.path == "" {
		return f.reason
	}
	return f.path + " " + f.reason
}

// at puts a field or element in front of the path.
func (f *fault) at(step string) *fault {
	if f == nil {
		return nil
	}
	if f.path != "" && !strings.HasPrefix(f.path, "[") {
		step += "."
	}
	return &fault{step + f.path, f.reason, f.hint}
}

// jsonFault returns why a value of type t cannot be encoded and decoded again
// by encoding/json, nil if it can.
func (c *checker) jsonFault(t types.Type) *fault {
	w := &encoder{checker: c, seen: map[types.Type]bool{}}
	return w.fault(t)
}

// encoder walks through a type.
type encoder struct {
	*checker
	seen  map[types.Type]bool
	depth int
}

// maxDepth ends the walk through a generic type that nests new instances of
// itself without end.
const maxDepth = 100

func (w *encoder) fault(t types.Type) *fault {
	t = types.Unalias(t)
	if w.seen[t] || w.depth > maxDepth {
		return nil
	}
	w.seen[t] = true
	w.depth++
	defer func() { w.depth-- }()

	if isError(t) {
		return &fault{reason: "is an error, which has no JSON form", hint: "pass its text, or return it as the step's error"}
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
		if u.Empty() || len(w.events.family(t)) > 0 {
			return nil
		}
		return &fault{reason: fmt.Sprintf("is the interface %s, which has no concrete JSON form", w.typeString(t)), hint: "use a concrete type, or any"}
	case *types.Chan:
		return &fault{reason: "is a channel, which has no JSON form"}
	case *types.Signature:
		return &fault{reason: "is a function, which has no JSON form"}
	}
	return nil
}

func (w *encoder) basic(t types.Type, u *types.Basic) *fault {
	switch {
	case u.Kind() == types.Invalid:
		return &fault{reason: "has a type that does not compile"}
	case u.Kind() == types.UnsafePointer:
		return &fault{reason: "is an unsafe.Pointer, which has no JSON form"}
	case u.Info()&types.IsComplex != 0:
		return &fault{reason: fmt.Sprintf("is a complex number (%s), which has no JSON form", w.typeString(t))}
	}
	return nil
}

// marshaler looks for methods that replace the usual encoding. It reports
// whether they settle the matter.
func (w *encoder) marshaler(named *types.Named) (*fault, bool) {
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
			return &fault{
				reason: fmt.Sprintf("has the type %s with a method Marshal%s but no Unmarshal%s, so that a record of it cannot be read back", w.typeString(named), form, form),
				hint:   "add the other method, or use another type",
			}, true
		}
	}
	return nil, false
}

// promoted reports a method of an embedded field that speaks for a whole struct
// and knows nothing of its other fields.
func (w *encoder) promoted(t types.Type) *fault {
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
				return &fault{
					reason: fmt.Sprintf("has the type %s, which gets %s from its embedded field %s, so that JSON would lose its field %s",
						w.typeString(t), name, s.Field(index[0]).Name(), field.Name()),
					hint: "give the embedded field a name, or the type methods of its own",
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
func (w *encoder) mapKey(key types.Type) *fault {
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
	return &fault{
		reason: fmt.Sprintf("is a map with keys of type %s, which JSON does not have", w.typeString(key)),
		hint:   "keys are strings, integers, or types with MarshalText and UnmarshalText",
	}
}

// structFault checks the fields that encoding/json looks at.
func (w *encoder) structFault(t types.Type, s *types.Struct) *fault {
	if first, second, name, clash := shape.Clash(s); clash {
		return &fault{
			reason: fmt.Sprintf("has two fields that are %q in JSON, %s and %s, so that both would be lost", name, first, second),
			hint:   "give one of them another name by a json tag",
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
				return (&fault{
					reason: "is an embedded pointer to an unexported struct, which encoding/json cannot read",
					hint:   "embed the struct itself",
				}).at(field.Name())
			}
		}
		visible++
		f := w.fault(field.Type())
		switch {
		case f != nil && field.Embedded() && tag == "" && f.path != "":
			return f
		case f != nil:
			return f.at(field.Name())
		}
	}
	if visible == 0 && s.NumFields() > 0 && !isLock(t) {
		return &fault{
			reason: fmt.Sprintf("has the type %s, all of whose fields are unexported, so that JSON would lose them", w.typeString(t)),
			hint:   "export the fields, or give the type MarshalJSON and UnmarshalJSON",
		}
	}
	return nil
}

// isLock reports whether t is a type of package sync, whose state nobody records.
func isLock(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "sync"
}

// unnameable says why the generated file cannot write a type, "" if it can.
func (c *checker) unnameable(t types.Type) string {
	if reason := c.hidden(t); reason != "" {
		return reason
	}
	var parts []types.Type
	switch t := t.(type) {
	case *types.Alias:
		for arg := range t.TypeArgs().Types() {
			parts = append(parts, arg)
		}
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			parts = append(parts, arg)
		}
	case *types.Pointer:
		parts = append(parts, t.Elem())
	case *types.Slice:
		parts = append(parts, t.Elem())
	case *types.Array:
		parts = append(parts, t.Elem())
	case *types.Chan:
		parts = append(parts, t.Elem())
	case *types.Map:
		parts = append(parts, t.Key(), t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if !f.Exported() && f.Pkg() != c.src.Types {
				return fmt.Sprintf("a struct with the field %s of package %s cannot be named in generated code", f.Name(), f.Pkg().Path())
			}
			parts = append(parts, f.Type())
		}
	}
	for _, part := range parts {
		if reason := c.unnameable(part); reason != "" {
			return reason
		}
	}
	return ""
}

// hidden says why a named type or alias cannot be named, "" if it can.
func (c *checker) hidden(t types.Type) string {
	var obj *types.TypeName
	switch t := t.(type) {
	case *types.Alias:
		obj = t.Obj()
	case *types.Named:
		obj = t.Obj()
	}
	switch {
	case obj == nil || obj.Pkg() == nil:
		return ""
	case obj.Pkg() != c.src.Types && !token.IsExported(obj.Name()):
		return fmt.Sprintf("the type %s of package %s is unexported, so generated code cannot name it", obj.Name(), obj.Pkg().Path())
	case obj.Parent() != nil && obj.Parent() != obj.Pkg().Scope() && obj.Parent() != types.Universe:
		return fmt.Sprintf("the type %s is declared inside a function, so generated code cannot name it", obj.Name())
	case strings.HasPrefix(obj.Name(), "_Ctype_"):
		return fmt.Sprintf("the type %s is made by cgo, so generated code cannot name it", obj.Name())
	}
	return ""
}
