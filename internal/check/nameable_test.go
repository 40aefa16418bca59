package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/restaq/restaq/internal/model"
)

// TestTypesThatGeneratedCodeCannotName asks for types that no signature can be
// written with by hand, but that inference and aliases of older Go versions let
// into one.
func TestTypesThatGeneratedCodeCannotName(t *testing.T) {
	const src = `package other

type hidden struct{}

type Shown[T any] struct{ V T }

type Alias = hidden

var (
	Hidden  hidden
	Nested  map[string][]*hidden
	Generic Shown[hidden]
	Struct  struct{ unexported int }
	Local   = func() any { type local struct{}; return local{} }

	OK      Shown[int]
	Aliased Alias
	Struct2 struct{ Exported []Alias }
)
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "other.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	other, err := (&types.Config{}).Check("example.com/other", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	const unexported = "the type hidden of package example.com/other is unexported, so generated code cannot name it"
	c := &checker{src: &model.Source{Types: types.NewPackage("example.com/mine", "mine")}}
	for name, want := range map[string]string{
		"Hidden": unexported, "Nested": unexported, "Generic": unexported,
		"Struct": "a struct with the field unexported of package example.com/other cannot be named in generated code",
		"OK":     "", "Aliased": "", "Struct2": "",
	} {
		if got := c.unnameable(other.Scope().Lookup(name).Type()); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for id, obj := range info.Defs {
		if id.Name == "local" {
			inside := &checker{src: &model.Source{Types: other}}
			if got, want := inside.unnameable(obj.Type()), "the type local is declared inside a function, so generated code cannot name it"; got != want {
				t.Errorf("local: %q, want %q", got, want)
			}
		}
	}
	inside := &checker{src: &model.Source{Types: other}}
	if got := inside.unnameable(other.Scope().Lookup("Hidden").Type()); got != "" {
		t.Errorf("in its own package: %q", got)
	}
}
