package checks_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/restaq/restaq/checks"
	"github.com/restaq/restaq/internal/analyze"
	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/load"
)

// corpus has steps of all types that there are, so that codecs can be held to
// encoding/json: they lose what they lose on purpose, and no handler runs them.
const corpus = "runtime/codec/codectest/corpus"

// TestOwnPackagesHaveNoFindings runs the checks over this module, as restaqgen check
// does.
func TestOwnPackagesHaveNoFindings(t *testing.T) {
	result, problems := generate.Packages(t.Context(), load.Config{Dir: "..", Patterns: []string{"./..."}}, generate.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	generated := map[string][]byte{}
	for _, f := range result.Files {
		if f.Content != nil {
			generated[f.Path] = f.Content
		}
	}
	all := result.Loaded.Complete(generated)
	if len(all) < 50 {
		t.Fatalf("%d packages were loaded, not the module", len(all))
	}
	found, err := analyze.Run(checks.All(), all, checks.Whole())
	if err != nil {
		t.Fatal(err)
	}
	inCorpus := 0
	for _, f := range found {
		if strings.Contains(filepath.ToSlash(f.Pos.Filename), corpus) {
			inCorpus++
			continue
		}
		t.Errorf("%v: %s", f.Pos, f.Message)
	}
	if inCorpus == 0 {
		t.Errorf("nothing is found in %s either: were the checks run?", corpus)
	}
}

// TestNoPanicOverTheStandardLibrary runs the checks over packages in which every
// function is a handler or a step, whatever its form.
func TestNoPanicOverTheStandardLibrary(t *testing.T) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes |
		packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes
	marked := 0
	parse := func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
		if dir := filepath.Base(filepath.Dir(name)); slices.Contains([]string{"http", "types", "sql", "errgroup", "context", "slices"}, dir) {
			var n int
			src, n = markAll(name, src)
			marked += n
		}
		return parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	}
	loaded, err := packages.Load(&packages.Config{Mode: mode, ParseFile: oneByOne(parse)}, "net/http", "go/types", "database/sql", "context", "slices")
	if err != nil {
		t.Fatal(err)
	}
	var all []*load.Complete
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
		all = append(all, &load.Complete{
			Path: "example.com/" + p.PkgPath, Name: p.Name, Root: true, Module: "example.com",
			Fset: p.Fset, Files: p.Syntax, Types: p.Types, Info: p.TypesInfo, Sizes: p.TypesSizes,
		})
	}
	if marked < 1000 {
		t.Fatalf("%d functions were marked", marked)
	}
	found, err := analyze.Run(checks.All(), all, checks.Whole())
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Error("nothing was found: were the checks run?")
	}
}

// oneByOne calls parse for one file at a time.
func oneByOne(parse func(*token.FileSet, string, []byte) (*ast.File, error)) func(*token.FileSet, string, []byte) (*ast.File, error) {
	turn := make(chan struct{}, 1)
	return func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
		turn <- struct{}{}
		defer func() { <-turn }()
		return parse(fset, name, src)
	}
}

// markAll puts a marker on every function of a file, for handlers and steps in turn,
// and returns how many there are.
func markAll(name string, src []byte) ([]byte, int) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return src, 0
	}
	var out []byte
	done, n := 0, 0
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			at := fset.Position(fn.Pos()).Offset
			out = append(out, src[done:at]...)
			out = append(out, []string{"//restaq:step\n", "//restaq:on a.b\n"}[n%2]...)
			done = at
			n++
		}
	}
	return append(out, src[done:]...), n
}

// TestNoPanicOverBrokenCode runs the checks over the fixtures with lines missing,
// cut short and swapped, with types that are known in part. No driver looks at
// packages that do not compile, but an editor may.
func TestNoPanicOverBrokenCode(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*/*.go")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	known := knownImports(t)
	for _, name := range files {
		t.Run(strings.TrimPrefix(filepath.ToSlash(name), "testdata/"), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, uint64(len(src))))
			for i := range 30 {
				broken := breakUp(random, string(src))
				if err := look(broken, known); err != nil {
					t.Fatalf("mutation %d: %v\n%s", i, err, broken)
				}
			}
		})
	}
}

// FuzzSource runs the checks over any source.
func FuzzSource(f *testing.F) {
	for _, a := range checks.All() {
		page, err := os.ReadFile(filepath.Join(pages, a.Name+".md"))
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range examplesOf(a.Name, string(page)) {
			src, err := e.complete()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(src))
		}
	}
	known := knownImports(f)
	f.Fuzz(func(t *testing.T, src string) {
		if err := look(src, known); err != nil {
			t.Fatal(err)
		}
	})
}

// knownImports returns packages that the fixtures import. Others stay unknown.
func knownImports(t testing.TB) map[string]*types.Package {
	t.Helper()
	paths := []string{"context", "errors", "fmt", "net/http", "os", "sync", "time"}
	for _, path := range []string{"restaq", "github", "slack", "stripe"} {
		paths = append(paths, imports[path])
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports}, slices.DeleteFunc(paths, func(p string) bool { return p == "" })...)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]*types.Package{}
	for _, p := range loaded {
		known[p.PkgPath] = p.Types
	}
	return known
}

// importer finds known packages.
type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not known", path)
}

// look runs the checks over a file as far as it can be parsed and has types. It
// returns an error if one of them panics.
func look(src string, known map[string]*types.Package) error {
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "broken.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || file.Name == nil {
		return nil
	}
	files := []*ast.File{file}
	if wrappers, err := parser.ParseFile(fset, "restaq_gen.go", wrappersOf(fset, file), parser.ParseComments|parser.SkipObjectResolution); err == nil {
		files = append(files, wrappers)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
	config := types.Config{Importer: importer(known), Error: func(error) {}}
	pkg, _ := config.Check("example.com/broken", fset, files, info)
	if pkg == nil {
		return nil
	}
	_, err := analyze.Run(checks.All(), []*load.Complete{{
		Path: pkg.Path(), Name: pkg.Name(), Root: true, Module: "example.com",
		Fset: fset, Files: files, Types: pkg, Info: info, Sizes: types.SizesFor("gc", "amd64"),
	}}, checks.Whole())
	return err
}

// wrappersOf returns the source of a generated file with wrappers for all steps of a
// file, as far as those can be printed.
func wrappersOf(fset *token.FileSet, file *ast.File) string {
	b := new(strings.Builder)
	fmt.Fprintf(b, "// Code generated by restaqgen. DO NOT EDIT.\n\npackage %s\n", file.Name.Name)
	for _, spec := range file.Imports {
		b.WriteString("import ")
		printer.Fprint(b, fset, spec)
		b.WriteString("\n")
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Doc == nil || !strings.Contains(fn.Doc.List[len(fn.Doc.List)-1].Text, "restaq:step") {
			continue
		}
		wrapper := &ast.FuncDecl{Recv: fn.Recv, Name: ast.NewIdent(fn.Name.Name + "Step"), Type: fn.Type, Body: &ast.BlockStmt{}}
		printer.Fprint(b, fset, wrapper)
		b.WriteString("\n")
	}
	return b.String()
}

// breakUp removes, shortens and swaps lines.
func breakUp(random *rand.Rand, src string) string {
	lines := strings.Split(src, "\n")
	for range 1 + random.IntN(12) {
		i := random.IntN(len(lines))
		switch random.IntN(4) {
		case 0:
			lines[i] = ""
		case 1:
			lines[i] = lines[i][:random.IntN(len(lines[i])+1)]
		case 2:
			j := random.IntN(len(lines))
			lines[i], lines[j] = lines[j], lines[i]
		case 3:
			words := strings.Fields(lines[i])
			random.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
			lines[i] = strings.Join(words, " ")
		}
	}
	return strings.Join(lines, "\n")
}
