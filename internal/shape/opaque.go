package shape

import (
	"fmt"
	"go/types"

	"github.com/invopop/jsonschema"
)

// opaque returns the schema of a type whose JSON its fields do not decide: one
// of the standard library's, of an event package, or with methods of its own.
func (b *builder) opaque(t types.Type) (bool, *jsonschema.Schema, error) {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false, nil, nil
	}
	full := named.Obj().Pkg().Path() + "." + named.Obj().Name()
	switch full {
	case "time.Time":
		return true, &jsonschema.Schema{Type: "string", Format: "date-time"}, nil
	case "encoding/json.RawMessage", "encoding/json/jsontext.Value":
		if b.public {
			return true, &jsonschema.Schema{}, nil
		}
		// Not as any is, which rounds numbers.
		return true, &jsonschema.Schema{Ref: "go:encoding/json.RawMessage"}, nil
	case "encoding/json.Number":
		return true, &jsonschema.Schema{Type: "number"}, nil
	}
	if i, ok := named.Underlying().(*types.Interface); ok && !i.Empty() && t != b.top && !b.public {
		return false, nil, fmt.Errorf("%s can be an input or output itself, but not stand inside one", types.TypeString(t, (*types.Package).Name))
	}
	if b.isEventType(named) {
		print, err := b.shaper.eventType(named)
		return true, &jsonschema.Schema{Ref: "go:" + full, Extras: map[string]any{fingerprintKey: print}}, err
	}
	switch {
	case marshals(named):
		return true, &jsonschema.Schema{Ref: "go:" + full}, nil
	case hasMethod(named, "MarshalText"):
		return true, &jsonschema.Schema{Ref: "go:" + full, Type: "string"}, nil
	case hasMethod(named, "UnmarshalText"):
		return true, &jsonschema.Schema{Ref: "go:" + full}, nil
	}
	if i, ok := named.Underlying().(*types.Interface); ok && !i.Empty() {
		return true, &jsonschema.Schema{Ref: "go:" + full}, nil
	}
	return false, nil, nil
}

// addArgs adds the shapes of an opaque type's type arguments, which its
// methods are likely to use.
func (b *builder) addArgs(schema *jsonschema.Schema, t types.Type) error {
	named, ok := t.(*types.Named)
	if !ok || named.TypeArgs() == nil || b.isEventType(named) {
		return nil
	}
	var args []*jsonschema.Schema
	for arg := range named.TypeArgs().Types() {
		a, err := b.schema(arg)
		if err != nil {
			return err
		}
		args = append(args, a)
	}
	schema.Extras = map[string]any{argumentsKey: args}
	return nil
}

// marshals reports whether a type's own methods write or read its JSON.
func marshals(t types.Type) bool {
	return hasMethod(t, "MarshalJSON") || hasMethod(t, "UnmarshalJSON")
}

// hasMethod reports whether t or a pointer to it has the named method of one of
// the marshalling interfaces, declared or promoted.
func hasMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	fn, ok := obj.(*types.Func)
	if !ok {
		return false
	}
	want := []types.Type{types.NewSlice(types.Typ[types.Byte]), types.Universe.Lookup("error").Type()}
	params, results := fn.Signature().Params(), fn.Signature().Results()
	if params.Len() == 0 {
		return matches(results, want...)
	}
	return matches(params, want[0]) && matches(results, want[1])
}

func matches(list *types.Tuple, want ...types.Type) bool {
	if list.Len() != len(want) {
		return false
	}
	for i, t := range want {
		if !types.Identical(list.At(i).Type(), t) {
			return false
		}
	}
	return true
}

// A Method is one by which a type decides itself what its JSON is.
type Method struct {
	Name    string // MarshalJSON, MarshalText, UnmarshalJSON or UnmarshalText
	Pointer bool   // only a pointer to the type has it
}

// Methods returns the methods of t that encoding/json calls, those for JSON
// first.
func Methods(t types.Type) []Method {
	var found []Method
	for _, name := range []string{"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"} {
		if hasMethod(t, name) {
			obj, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
			found = append(found, Method{name, obj == nil})
		}
	}
	return found
}
