package checks_test

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/restaq/restaq/checks"
	"github.com/restaq/restaq/internal/checktest"
	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/load"
)

// pages is where the checks are explained.
const pages = "../docs/checks"

// imports are the packages that the examples of pages use, by the names under
// which they do.
var imports = map[string]string{
	"github": "github.com/restaq/restaq/schemas/github", "http": "net/http", "json": "encoding/json", "maps": "maps", "os": "os",
	"rand": "math/rand/v2", "restaq": "github.com/restaq/restaq/runtime", "slog": "log/slog", "slices": "slices", "sql": "database/sql",
	"slack": "github.com/restaq/restaq/schemas/slack", "stripe": "github.com/restaq/restaq/schemas/stripe", "sync": "sync", "time": "time", "context": "context", "errors": "errors", "fmt": "fmt",
}

// example is a block of Go on a page, as a package.
type example struct {
	check string
	bad   bool
	n     int    // from 1, among those of its kind on the page
	code  string // without package clause and imports
	wants string // the findings that the page prints below it
}

func (e example) name() string {
	if e.bad {
		return fmt.Sprintf("%sbad%d", e.check, e.n)
	}
	return fmt.Sprintf("%sgood%d", e.check, e.n)
}

// refused are the checks whose findings restaqgen refuses to generate for, so that
// the page shows what it says.
var refused = map[string]bool{"loopkey": true, "wrongevent": true}

// TestPagesTellTheTruth compiles the examples of all pages and runs all checks
// over them: a bad example has exactly the findings printed below it, all of the
// page's check, and a good one has none. What restaqgen refuses to generate for it
// refuses in the words that the page prints.
func TestPagesTellTheTruth(t *testing.T) {
	var examples []example
	generated, ungenerated := t.TempDir(), t.TempDir()
	for _, a := range checks.All() {
		page, err := os.ReadFile(filepath.Join(pages, a.Name+".md"))
		if err != nil {
			t.Errorf("check %s has no page: %v", a.Name, err)
			continue
		}
		found := examplesOf(a.Name, string(page))
		kinds := map[bool]bool{}
		for _, e := range found {
			kinds[e.bad] = true
		}
		if !kinds[true] || !kinds[false] {
			t.Errorf("%s.md needs an example under ## Bad and one under ## Good", a.Name)
		}
		examples = append(examples, found...)
	}
	for _, e := range examples {
		source := generated
		if e.bad && refused[e.check] {
			source = ungenerated
		}
		if err := e.write(source); err != nil {
			t.Fatalf("%s.md: %v", e.check, err)
		}
	}
	got := findings(t, checktest.Module(t, generated))
	for name, texts := range problems(t, checktest.Source(t, ungenerated)) {
		got[name] = texts
	}
	for _, e := range examples {
		if !strings.Contains(e.code, "//restaq:on") { // it leaves out who runs its steps
			got[e.name()] = slices.DeleteFunc(got[e.name()], func(f string) bool { return strings.Contains(f, "(unreachable)") })
		}
		found := strings.Join(got[e.name()], "\n")
		if found != e.wants {
			t.Errorf("%s.md: example %s has the findings\n%s\nand the page says\n%s", e.check, e.name(), found, e.wants)
		}
		if refused[e.check] {
			continue
		}
		for _, f := range got[e.name()] {
			if line, _, _ := strings.Cut(f, "\n"); !strings.HasSuffix(line, "("+e.check+")") {
				t.Errorf("%s.md: example %s is about another check, too: %s", e.check, e.name(), f)
			}
		}
	}
}

// fence is a block of code on a page.
var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// examplesOf returns the examples of a page: the blocks of Go under the headings
// Bad and Good, with the block without a language that follows a bad one.
func examplesOf(check, page string) []example {
	var found []example
	for section := range strings.SplitSeq(page, "\n## ") {
		heading, body, _ := strings.Cut(section, "\n")
		bad := heading == "Bad"
		if !bad && heading != "Good" {
			continue
		}
		n := 0
		for _, m := range fence.FindAllStringSubmatch(body, -1) {
			switch m[1] {
			case "go":
				n++
				found = append(found, example{check: check, bad: bad, n: n, code: m[2]})
			case "":
				found[len(found)-1].wants = strings.TrimSuffix(m[2], "\n")
			}
		}
	}
	return found
}

// write writes the example as a package of its own in a module.
func (e example) write(module string) error {
	file, err := e.complete()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(module, e.name()), 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(module, e.name(), "example.go"), file, 0o666)
}

// complete puts the package clause and imports in front of the example.
func (e example) complete() ([]byte, error) {
	const head = "package shop\n"
	file, err := parser.ParseFile(token.NewFileSet(), "example.go", head+e.code, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, id := range file.Unresolved {
		used[id.Name] = true
	}
	var lines []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && used[id.Name] && imports[id.Name] != "" {
				used[id.Name] = false
				lines = append(lines, fmt.Sprintf("import %s %q\n", id.Name, imports[id.Name]))
			}
		}
		return true
	})
	slices.Sort(lines)
	return []byte(head + strings.Join(lines, "") + e.code), nil
}

// problems returns what restaqgen refuses to generate a module's packages for, by
// the last element of their paths.
func problems(t *testing.T, dir string) map[string][]string {
	t.Helper()
	_, list := generate.Packages(t.Context(), load.Config{Dir: dir, Patterns: []string{"./..."}}, generate.Options{Fresh: true})
	texts := map[string][]string{}
	for _, p := range list {
		name := filepath.Base(filepath.Dir(p.Pos.Filename))
		p.Pos = token.Position{}
		texts[name] = append(texts[name], p.String())
	}
	return texts
}

// findings returns what all checks have to say of a module's packages, by the last
// element of their paths, in source order.
func findings(t *testing.T, dir string) map[string][]string {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir, Env: append(os.Environ(), "GOPROXY=off", "GOWORK=off")}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Error(e)
		}
	}
	graph, err := checker.Analyze(checks.All(), loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	type finding struct {
		pos  token.Position
		text string
	}
	byPackage := map[string][]finding{}
	for _, root := range graph.Roots {
		if root.Err != nil {
			err = errors.Join(err, fmt.Errorf("%v: %w", root, root.Err))
		}
		name := root.Package.PkgPath[strings.LastIndexByte(root.Package.PkgPath, '/')+1:]
		for _, d := range root.Diagnostics {
			byPackage[name] = append(byPackage[name], finding{root.Package.Fset.PositionFor(d.Pos, false), d.Message})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{}
	for name, found := range byPackage {
		slices.SortStableFunc(found, func(a, b finding) int {
			return cmp.Or(cmp.Compare(a.pos.Filename, b.pos.Filename), cmp.Compare(a.pos.Offset, b.pos.Offset))
		})
		for _, f := range found {
			texts[name] = append(texts[name], f.text)
		}
	}
	return texts
}
