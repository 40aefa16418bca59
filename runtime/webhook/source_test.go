package webhook

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestSecretsAreComparedInConstantTime reads the package's own source: timing
// cannot be tested reliably, the way it is written can. Sums of MACs are made
// in one function, which compares them with hmac.Equal; public keys go through
// ed25519.Verify; digestID makes names of events, which are no secret; and nothing in the package compares bytes in another way.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	banned := map[string]bool{
		"bytes.Equal": true, "bytes.Compare": true, "bytes.EqualFold": true, "slices.Equal": true, "slices.Compare": true,
		"strings.EqualFold": true, "strings.Compare": true, "reflect.DeepEqual": true, "subtle.ConstantTimeEq": true,
	}
	makers := map[string]string{} // what makes or checks signatures, and the function it is used in
	for name, file := range sources(t) {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				what := selector(call.Fun)
				if banned[what] {
					t.Errorf("%s: %s calls %s", name, fn.Name.Name, what)
				}
				switch what {
				case "hmac.New", "hmac.Equal", "mac.Sum", "ed25519.Verify":
					if in, ok := makers[what]; ok {
						t.Errorf("%s is used in %s and in %s", what, in, fn.Name.Name)
					}
					makers[what] = fn.Name.Name
				}
				if strings.Contains(what, ".Sum") && what != "mac.Sum" && fn.Name.Name != "digestID" {
					t.Errorf("%s: %s makes a sum by %s", name, fn.Name.Name, what)
				}
				return true
			})
			if fn.Name.Name == "matchMAC" {
				checkMatchMAC(t, fn)
			}
		}
	}
	for what, in := range map[string]string{"hmac.New": "matchMAC", "mac.Sum": "matchMAC", "hmac.Equal": "matchMAC", "ed25519.Verify": "matchPublic"} {
		if makers[what] != in {
			t.Errorf("%s is used in %q, want %q", what, makers[what], in)
		}
	}
}

// checkMatchMAC checks that the sum, and a signature, are used for nothing but
// hmac.Equal.
func checkMatchMAC(t *testing.T, fn *ast.FuncDecl) {
	uses, compared := 0, 0
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if n.Name == "sum" || n.Name == "signature" {
				uses++
			}
		case *ast.CallExpr:
			if selector(n.Fun) == "hmac.Equal" {
				compared += len(n.Args)
			}
		}
		return true
	})
	// Each is declared once and compared once.
	if uses != 4 || compared != 2 {
		t.Errorf("sum and signature are named %d times and compared as %d arguments, want 4 and 2", uses, compared)
	}
}

// sources parses the package's files without its tests.
func sources(t *testing.T) map[string]*ast.File {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = file
	}
	if len(files) < 5 {
		t.Fatalf("%d source files", len(files))
	}
	return files
}

// selector returns a call's "package.Function" or "value.Method".
func selector(fun ast.Expr) string {
	if s, ok := fun.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}
