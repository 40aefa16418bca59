package load

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/restaq/restaq/internal/problem"
)

// module lays a txtar archive out as a module and returns its folder.
func module(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	files := txtar.Parse([]byte(archive)).Files
	files = append(files, txtar.File{Name: "go.mod", Data: []byte("module example.com/shop\n\ngo 1.26\n")})
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// text prints problems as users see them.
func text(t *testing.T, dir string, problems problem.List) string {
	t.Helper()
	problems.Sort()
	var b strings.Builder
	if err := problems.Write(&b, dir); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const billing = `
-- billing.go --
package shop

import "context"

type Billing struct{}

//restaq:step
func (b *Billing) recordPayment(ctx context.Context, id string) (int, error) { return 1, nil }

func (b *Billing) Handle(ctx context.Context) error {
	_, err := b.recordPaymentStep(ctx, "x")
	return err
}
`

func TestOwnOutputNeverStopsLoading(t *testing.T) {
	for name, output := range map[string]string{
		"missing":               "",
		"stale":                 "-- restaq_gen.go --\n" + header + "\n\npackage shop\n\nfunc (b *Gone) fooStep() { b.foo(gone.X) }\n",
		"broken":                "-- restaq_gen.go --\n" + header + "\n\npackage shop\n\nfunc (b *Billing { \n",
		"broken without header": "-- restaq_gen.go --\npackage shop\n\nfunc (b *Billing { \n",
		"garbage":               "-- restaq_gen.go --\n\x00\xff{{{\n-- restaq_codec_gen.go --\nxx\n",
		"empty":                 "-- restaq_gen.go --\n-- restaq_codec_gen.go --\n",
		"conflict":              "-- restaq_gen.go --\n<<<<<<< HEAD\n" + header + "\n\npackage shop\n=======\npackage shop\n>>>>>>> other\n",
		"other package":         "-- restaq_gen.go --\n" + header + "\n\npackage other\n",
		"renamed":               "-- restaq_gen.go --\n" + header + "\n\npackage old\n",
		"import of nothing":     "-- restaq_gen.go --\n" + header + "\n\npackage shop\n\nimport \"example.com/shop/gone\"\n\nvar _ = gone.X\n",
		"import cycle":          "-- restaq_gen.go --\n" + header + "\n\npackage shop\n\nimport \"example.com/shop\"\n\nvar _ = shop.X\n",
	} {
		t.Run(name, func(t *testing.T) {
			archive := billing + output
			if name == "renamed" { // behind ours in the order of files
				archive = strings.Replace(archive, "billing.go", "shop.go", 1)
			}
			dir := module(t, archive)
			result, problems := Load(t.Context(), Config{Dir: dir})
			if got := text(t, dir, problems); got != "" {
				t.Errorf("problems:\n%s", got)
			}
			if len(result.Packages) != 1 {
				t.Fatalf("packages: %d", len(result.Packages))
			}
			p := result.Packages[0]
			if p.Path != "example.com/shop" || p.Name != "shop" || p.Dir != dir || len(p.Files) == 0 {
				t.Errorf("package %q %q in %q with %d files", p.Path, p.Name, p.Dir, len(p.Files))
			}
			if p.Types.Scope().Lookup("Billing") == nil {
				t.Error("types are missing")
			}
		})
	}
}

func TestErrorsOfTheUsersFilesAreProblems(t *testing.T) {
	dir := module(t, `
-- parse/a.go --
package parse

func f( {
-- imports/a.go --
package imports

import "example.com/shop/gone"

var X = gone.X
-- names/a.go --
package names
-- names/b.go --
package other
-- cycle/a/a.go --
package a

import _ "example.com/shop/cycle/b"
-- cycle/b/b.go --
package b

import _ "example.com/shop/cycle/a"
-- types/a.go --
package types

var X undefined
-- mine/restaq_gen.go --
package mine

var Mine undefined
`)
	result, problems := Load(t.Context(), Config{Dir: dir, Patterns: []string{"./..."}})
	const want = `found packages names (a.go) and other (b.go) in DIR/names
import cycle not allowed: import stack: [example.com/shop/cycle/a example.com/shop/cycle/b example.com/shop/cycle/a]
imports/a.go:3:8: could not import example.com/shop/gone (no required module provides package example.com/shop/gone)
parse/a.go:3:9: expected ')', found '{'
`
	got := strings.ReplaceAll(text(t, dir, problems), dir, "DIR")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var paths []string
	for _, p := range result.Packages {
		paths = append(paths, strings.TrimPrefix(p.Path, "example.com/shop/"))
	}
	if got := strings.Join(paths, " "); got != "cycle/a cycle/b imports mine names parse types" {
		t.Errorf("packages: %s", got)
	}
}

func TestFilesOutsideThePackageThatMayHoldMarkersAreStrays(t *testing.T) {
	dir := module(t, billing+`
-- a_test.go --
package shop

//restaq:step
-- b.go --
//go:build special

package shop

//restaq:step
-- c_plan9.go --
package shop

//restaq:step
-- d.go --
//go:build special

package shop
-- e.go --
package shop

// #include <math.h>
import "C"

//restaq:step
-- restaq_fuzz_test.go --
`+header+`

package shop
-- _f.go --
package shop

//restaq:step
`)
	describe := func(tags string) string {
		result, problems := Load(t.Context(), Config{Dir: dir, Tags: tags})
		if got := text(t, dir, problems); got != "" {
			t.Errorf("problems:\n%s", got)
		}
		var words []string
		for _, f := range result.Packages[0].Files {
			words = append(words, filepath.Base(f.Name)+":"+f.Constraint)
		}
		for _, s := range result.Packages[0].Strays {
			words = append(words, fmt.Sprintf("%s(%d):%s", filepath.Base(s.Name), s.Kind, s.Constraint))
		}
		return strings.Join(words, " ")
	}
	if got, want := describe(""), "billing.go: a_test.go(0): b.go(2):special c_plan9.go(2):plan9 e.go(1):"; got != want {
		t.Errorf("without tags: %s\nwant %s", got, want)
	}
	if got, want := describe("other,special"), "b.go:special billing.go: d.go:special a_test.go(0): c_plan9.go(2):plan9 e.go(1):"; got != want {
		t.Errorf("with tags: %s\nwant %s", got, want)
	}
}

func TestConstraintOfAFileName(t *testing.T) {
	for name, want := range map[string]string{
		"a.go": "", "linux.go": "", "a_linux.go": "linux", "a_arm64.go": "arm64", "a_windows_amd64.go": "windows && amd64",
		"a_b.go": "", "a_linux_b.go": "", "a_js_wasm.go": "js && wasm", "a_test.go": "", "a_linux_test.go": "linux", "a_unix.go": "",
	} {
		got := ""
		if x := nameConstraint(name); x != nil {
			got = x.String()
		}
		if got != want {
			t.Errorf("nameConstraint(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestADependencyThatDoesNotCompileIsReadFromSource(t *testing.T) {
	dir := module(t, `
-- billing/a.go --
package billing

import "example.com/shop/orders"

func f(o orders.Order) {}
-- orders/a.go --
package orders

//restaq:event acme.order.placed
type Order struct{ ID string }

var _ = OrderType // only our output declares it
`)
	result, problems := Load(t.Context(), Config{Dir: dir, Patterns: []string{"./billing"}})
	if got := text(t, dir, problems); got != "" {
		t.Errorf("problems:\n%s", got)
	}
	if len(result.Dependencies) != 1 || result.Dependencies[0].Path != "example.com/shop/orders" || len(result.Dependencies[0].Files) != 1 {
		t.Fatalf("dependencies: %v", result.Dependencies)
	}
	f := result.Packages[0].Types.Scope().Lookup("f")
	if got := f.Type().String(); got != "func(o example.com/shop/orders.Order)" {
		t.Errorf("type of f: %s", got)
	}
}

// standIn puts a shell script in the way of go. In the script, GO is the command
// itself.
// The stand-in claims to be go1.99.
func TestAModuleForANewerGoAsksForIt(t *testing.T) {
	dir := module(t, billing)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/shop\n\ngo 1.999\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, problems := Load(t.Context(), Config{Dir: dir, Env: append(os.Environ(), "GOTOOLCHAIN=local")})
	if got := text(t, dir, problems); !strings.Contains(got, "go.mod requires go >= 1.999") || !strings.Contains(got, "hint: the module asks for a newer Go") {
		t.Errorf("got\n%s", got)
	}
}

func TestWorkspacesAndVendoredModules(t *testing.T) {
	dir := module(t, `
-- go.work --
go 1.26

use (
	.
	./lib
)
-- lib/go.mod --
module example.com/lib

go 1.26
-- lib/lib.go --
package lib

type T struct{}
-- a.go --
package shop

import "example.com/lib"

func f(lib.T) {}
-- vendored/go.mod --
module example.com/vendored

go 1.26

require example.com/dep v1.0.0
-- vendored/a.go --
package vendored

import "example.com/dep"

func f(dep.T) {}
-- vendored/vendor/modules.txt --
# example.com/dep v1.0.0
## explicit; go 1.26
example.com/dep
-- vendored/vendor/example.com/dep/dep.go --
package dep

type T struct{}
`)
	for _, c := range []struct {
		dir  string
		env  []string
		want string
	}{
		{dir, nil, "func(example.com/lib.T)"},
		{filepath.Join(dir, "vendored"), []string{"GOWORK=off"}, "func(example.com/dep.T)"},
	} {
		result, problems := Load(t.Context(), Config{Dir: c.dir, Env: append(os.Environ(), c.env...)})
		if got := text(t, dir, problems); got != "" {
			t.Fatalf("problems:\n%s", got)
		}
		if got := result.Packages[0].Types.Scope().Lookup("f").Type().String(); got != c.want {
			t.Errorf("type of f: %s, want %s", got, c.want)
		}
	}
}
