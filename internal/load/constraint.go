package load

import (
	"go/ast"
	"go/build"
	"go/build/constraint"
	"io"
	"path/filepath"
	"strings"
)

// constraintOf returns the build constraint that a file is under: its
// //go:build line, and what its name says (_linux, _amd64, _linux_amd64).
func constraintOf(name string, file *ast.File) string {
	expr := nameConstraint(name)
	for _, group := range file.Comments {
		if group.Pos() >= file.Package {
			break
		}
		for _, c := range group.List {
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			if x, err := constraint.Parse(c.Text); err == nil {
				expr = and(expr, x)
			}
		}
	}
	if expr == nil {
		return ""
	}
	return expr.String()
}

// nameConstraint returns the constraint in a file's name, nil if there is none.
// Which endings are systems and architectures only go/build knows, so it is
// asked: on a system of another name, is the file left out?
func nameConstraint(name string) constraint.Expr {
	base := filepath.Base(name)
	if matches(base, "", "") {
		return nil
	}
	words := strings.Split(strings.TrimSuffix(strings.TrimSuffix(base, ".go"), "_test"), "_")
	last := words[len(words)-1]
	if matches(base, last, "") || matches(base, "", last) {
		return &constraint.TagExpr{Tag: last}
	}
	return and(&constraint.TagExpr{Tag: words[len(words)-2]}, &constraint.TagExpr{Tag: last})
}

// matches reports whether a file of that name is compiled on a system.
func matches(base, goos, goarch string) bool {
	ctxt := build.Context{
		GOOS: goos, GOARCH: goarch, Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil },
	}
	ok, err := ctxt.MatchFile("", base)
	return ok || err != nil
}

func and(x, y constraint.Expr) constraint.Expr {
	if x == nil {
		return y
	}
	return &constraint.AndExpr{X: x, Y: y}
}
