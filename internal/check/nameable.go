package check

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
)

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
