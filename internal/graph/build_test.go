package graph_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/check"
	"github.com/restaq/restaq/internal/graph"
	"github.com/restaq/restaq/internal/model"
)

// write makes a module of one file and returns its folder.
func write(t testing.TB, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26.0\n", "m.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// many is a package whose handler calls n steps.
func many(n int) string {
	var b strings.Builder
	b.WriteString("package m\n\nimport \"context\"\n\n//restaq:on a.b\nfunc handle(ctx context.Context, e struct{ ID string }) error {\n")
	for i := range n {
		fmt.Fprintf(&b, "\tif e.ID == \"%d\" {\n\t\tif err := s%dStep(ctx); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n", i, i)
	}
	b.WriteString("\treturn nil\n}\n")
	for i := range n {
		fmt.Fprintf(&b, "\n//restaq:step\nfunc s%d(ctx context.Context) error { return nil }\n", i)
	}
	return b.String()
}

func TestAThousandSteps(t *testing.T) {
	all, _ := graphs(t, write(t, many(1000)), ".")
	if steps := graph.Steps(all[0].Handlers["m.handle"].Flow); len(steps) != 1000 {
		t.Errorf("%d steps", len(steps))
	}
	checkDrawings(t, all)
}

// Functions that call the next one twice would make a graph that doubles with
// each of them.
func TestHelpersThatMultiply(t *testing.T) {
	var b strings.Builder
	b.WriteString("package m\n\nimport \"context\"\n\n//restaq:on a.b\nfunc handle(ctx context.Context, e struct{}) error { return f0(ctx, \"\") }\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "func f%d(ctx context.Context, id string) error {\n\tif err := f%[2]d(ctx, id+\"a\"); err != nil {\n\t\treturn err\n\t}\n\treturn f%[2]d(ctx, id+\"b\")\n}\n\n", i, i+1)
	}
	b.WriteString("func f40(ctx context.Context, id string) error { return leafStep(ctx, id) }\n\n//restaq:step key=id\nfunc leaf(ctx context.Context, id string) error { return nil }\n")
	all, _ := graphs(t, write(t, b.String()), ".")
	text, err := all[0].Encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 20<<20 || !strings.Contains(string(text), "too large to show") {
		t.Errorf("%d bytes", len(text))
	}
	checkDrawings(t, all)
}

func BenchmarkOf(b *testing.B) {
	packages, sources := checked(b, importer.ForCompiler(token.NewFileSet(), "source", nil), token.NewFileSet(), many(1000))
	b.ReportAllocs()
	for b.Loop() {
		graph.Of(packages[0], sources[0])
	}
}

// checked type-checks a package as package load does; nil if it does not parse.
func checked(t testing.TB, imports types.Importer, fset *token.FileSet, source string) ([]*model.Package, []*model.Source) {
	t.Helper()
	file, err := parser.ParseFile(fset, "m.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil
	}
	s := &model.Source{
		Path: "m", Name: "m", Fset: fset, Files: []*model.File{{Name: "m.go", Syntax: file}},
		Info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
		},
	}
	s.Types = types.NewPackage("m", "m")
	cfg := &types.Config{Importer: imports, Error: func(error) {}}
	// Calls of wrappers are type errors.
	_ = types.NewChecker(cfg, fset, s.Types, s.Info).Files([]*ast.File{file})
	packages, _ := check.Packages([]*model.Source{s}, nil)
	return packages, []*model.Source{s}
}

// FuzzBodies reads whatever parses as a handler's body, type errors and all.
func FuzzBodies(f *testing.F) {
	names, err := filepath.Glob("testdata/*/a.go")
	if err != nil || len(names) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			f.Fatal(err)
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				f.Add(string(src[fset.Position(fn.Body.Lbrace).Offset+1 : fset.Position(fn.Body.Rbrace).Offset]))
			}
		}
	}
	for _, body := range []string{
		"f := func() {}; f = func() { f(); shipStep(ctx, \"\") }; f()",
		"var f func(); f = func() { g() }; f()",
		"L: for { switch { case true: break L; default: continue L } }; goto L",
		"defer func() { defer func() { recover(); _ = shipStep(ctx, id) }() }()",
		"_ = [...]func() error{func() error { return shipStep(ctx, id) }}",
		"x, y := 1; return x, y, shipStep()",
		"if err := shipStep; err != nil { return err }",
		"for range shipStep { goto x }; x:",
		"switch shipStep(ctx, id) { case nil: fallthrough; default: }",
		"select {}; shipStep(ctx, id)",
		"helper(helper, shipStep, func(a, b, c int) { helper() })",
	} {
		f.Add(body)
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "source", nil)
	if packages, _ := checked(f, imports, fset, many(1)); len(packages[0].Handlers()) != 1 {
		f.Fatal("a handler is not found")
	}
	f.Fuzz(func(t *testing.T, body string) {
		packages, sources := checked(t, imports, fset, `package m

import "context"

var again = func(ctx context.Context) { again(ctx) }

func init() { again = func(ctx context.Context) { again(ctx); _ = shipStep(ctx, "") } }

func helper(ctx context.Context, f ...func()) error { again(ctx); return helper(ctx, f...) }

//restaq:step key=id
func ship(ctx context.Context, id string) error { return nil }

//restaq:on a.b
func handle(ctx context.Context, order struct{ ID string }) error {
	id := order.ID
`+body+"\n}\n")
		if packages == nil {
			return
		}
		g := graph.Of(packages[0], sources[0])
		if _, err := g.Encode(); err != nil {
			t.Fatal(err)
		}
		checkDrawings(t, []*graph.Graph{g})
	})
}
