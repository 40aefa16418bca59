package lossy

import (
	"fmt"
	"go/types"
	"reflect"

	"github.com/restaq/restaq/internal/jsonform"
	"github.com/restaq/restaq/internal/shape"
)

// loss is a part of a type that JSON does not keep.
type loss struct {
	path   string // such as Payment.Items[].price; "" for the type itself
	reason string
	hint   string
}

// losses returns what JSON does not keep of a value of type t that goes by name,
// in the order of the fields. A named type is looked into once, where it is first
// met. What the methods of a type write and read is their affair, and what is in
// an event package is as the provider sends it.
func losses(t types.Type, name string, from *types.Package) []loss {
	w := &walker{from: from, seen: map[*types.Named]bool{}}
	if named := structIn(t); named != nil {
		w.walk(named, named.Obj().Name(), name, 0)
	} else {
		w.walk(t, "", name, 0)
	}
	return w.found
}

// structIn returns the named struct that t is, points to or has as elements, so
// that a path can begin with its name; nil if there is none.
func structIn(t types.Type) *types.Named {
	named, isNamed := types.Unalias(t).(*types.Named)
	if isNamed && len(shape.Methods(named)) > 0 {
		return nil
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return named
	case interface{ Elem() types.Type }:
		if !isNamed {
			return structIn(u.Elem())
		}
	}
	return nil
}

type walker struct {
	from  *types.Package
	seen  map[*types.Named]bool
	found []loss
}

func (w *walker) lose(path, reason, hint string) {
	w.found = append(w.found, loss{path, reason, hint})
}

// maxDepth ends the walk through a generic type that nests new instances of
// itself without end.
const maxDepth = 50

// walk looks at a value of type t at path, which is or is part of what goes by
// name.
func (w *walker) walk(t types.Type, path, name string, depth int) {
	t = types.Unalias(t)
	if depth > maxDepth {
		return
	}
	if named, ok := t.(*types.Named); ok {
		if w.seen[named] || len(shape.Methods(named)) > 0 || shape.EventPackage(named.Obj().Pkg()) {
			return
		}
		w.seen[named] = true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsFloat != 0 && isMoney(name) {
			w.lose(path, fmt.Sprintf("is a %s, in which most sums of money have no exact form", types.TypeString(t, types.RelativeTo(w.from))),
				"count the currency's smallest unit in an int64")
		}
		w.forget(t)
	case *types.Interface:
		if u.Empty() {
			w.lose(path, "is any, of which only JSON is kept: a number comes back as a float64, a struct as a map[string]any",
				"use a concrete type, or json.RawMessage for what is handed on as it is")
		}
		w.forget(t)
	case *types.Pointer:
		w.walk(u.Elem(), path, name, depth+1)
	case *types.Slice:
		w.walk(u.Elem(), path+"[]", name, depth+1)
	case *types.Array:
		w.walk(u.Elem(), path+"[]", name, depth+1)
	case *types.Map:
		w.walk(u.Elem(), path+"[]", name, depth+1)
	case *types.Struct:
		w.fields(u, path, depth)
	}
}

// forget lets a named type without fields be met again: what is wrong with it may
// depend on the name that it goes by.
func (w *walker) forget(t types.Type) {
	if named, ok := t.(*types.Named); ok {
		delete(w.seen, named)
	}
}

// fields looks at the fields of a struct.
func (w *walker) fields(s *types.Struct, path string, depth int) {
	message := isProtobuf(s)
	for i := range s.NumFields() {
		field, tag := s.Field(i), reflect.StructTag(s.Tag(i)).Get("json")
		at := jsonform.Join(path, field.Name())
		if path == "" {
			at = field.Name()
		}
		switch {
		case field.Name() == "_" || isNothing(field.Type()):
		case !field.Exported() && !promotes(field):
			if !message {
				w.lose(at, "is unexported, so that JSON leaves it out", "export it, or keep it out of what the step takes and returns")
			}
		case tag == "-":
			w.lose(at, `has the tag json:"-", so that JSON leaves it out`, "keep it out of what the step takes and returns")
		case field.Embedded() && promotes(field) && tag == "":
			w.walk(field.Type(), path, field.Name(), depth+1)
		default:
			w.walk(field.Type(), at, field.Name(), depth+1)
		}
	}
}

// promotes reports whether a field is an embedded struct, whose own exported
// fields JSON has.
func promotes(field *types.Var) bool {
	t := types.Unalias(field.Type())
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	_, isStruct := t.Underlying().(*types.Struct)
	return field.Embedded() && isStruct
}

// isNothing reports whether a type has nothing to lose: locks, and structs
// without fields.
func isNothing(t types.Type) bool {
	if s, ok := t.Underlying().(*types.Struct); ok && s.NumFields() == 0 {
		return true
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "sync"
}

// isProtobuf reports whether a struct is a message of protobuf, whose unexported
// fields are caches.
func isProtobuf(s *types.Struct) bool {
	for field := range s.Fields() {
		named, ok := types.Unalias(field.Type()).(*types.Named)
		if ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "google.golang.org/protobuf/internal/impl" && named.Obj().Name() == "MessageState" {
			return true
		}
	}
	return false
}
