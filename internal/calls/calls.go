// Package calls follows the calls of steps through the functions of a package: how
// often one execution may call a step, and whether a step leads to itself.
//
// It is told how to resolve a wrapper, so that it works ahead of generation, when
// there are none, and on complete packages alike.
//
// The order of the files follows the work: reach.go goes from steps to what they
// mention, repeat.go asks how often each is called, and flow.go, call.go, held.go
// and summary.go follow the paths through functions.
package calls

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
)

// runtime is the import path of package restaq.
const runtime = "github.com/restaq/restaq/runtime"

// Package is what is looked into.
type Package struct {
	Info  *types.Info
	Files []*ast.File // those that a person wrote

	// Callee resolves a function-valued expression: to a function, or to the
	// function that a wrapper is made of.
	Callee func(x ast.Expr) (fn, wrapped *types.Func)

	// Position returns where pos is, for texts.
	Position func(pos token.Pos) token.Position

	Steps    []*Step // in source order
	Handlers []*types.Func
}

// Step is a step of the package.
type Step struct {
	Func  *types.Func
	Keyed bool // it has key=
}

// Graph is who calls whom in a package.
type Graph struct {
	pkg      Package
	decls    map[*types.Func]*ast.FuncDecl
	order    []*types.Func           // in source order
	vars     map[*types.Var]ast.Expr // what package-level variables begin with
	varOrder []*types.Var            // in source order
	steps    map[*types.Func]*Step
	handlers map[*types.Func]bool

	summaries map[any]*summary          // by *types.Func or *ast.FuncLit
	stack     []*summary                // those under way
	partial   []any                     // keys of those that miss calls
	flagged   map[*Step]string          // why a step needs key=
	values    map[*types.Var][]ast.Expr // what local variables hold; nil until it is needed
}

// New returns the graph of a package.
func New(pkg Package) *Graph {
	g := &Graph{
		pkg: pkg, decls: map[*types.Func]*ast.FuncDecl{}, vars: map[*types.Var]ast.Expr{}, steps: map[*types.Func]*Step{}, handlers: map[*types.Func]bool{},
		summaries: map[any]*summary{}, flagged: map[*Step]string{},
	}
	for _, s := range pkg.Steps {
		g.steps[s.Func] = s
	}
	for _, fn := range pkg.Handlers {
		g.handlers[fn] = true
	}
	for _, file := range pkg.Files {
		for _, decl := range file.Decls {
			g.declare(decl)
		}
	}
	return g
}

// where names a position of the package, by the file's base name.
func (g *Graph) where(pos token.Pos) string {
	p := g.pkg.Position(pos)
	return fmt.Sprintf("%s:%d:%d", filepath.Base(p.Filename), p.Line, p.Column)
}

// declare adds a declaration of the package.
func (g *Graph) declare(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if fn, ok := g.pkg.Info.Defs[decl.Name].(*types.Func); ok && decl.Body != nil {
			g.decls[fn] = decl
			g.order = append(g.order, fn)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			spec, ok := spec.(*ast.ValueSpec)
			if !ok || decl.Tok != token.VAR {
				continue
			}
			for i, name := range spec.Names {
				if v, ok := g.pkg.Info.Defs[name].(*types.Var); ok && len(spec.Values) > 0 {
					g.vars[v] = spec.Values[min(i, len(spec.Values)-1)]
					g.varOrder = append(g.varOrder, v)
				}
			}
		}
	}
}

// target resolves a function-valued expression: to a function of the package,
// or to the wrapper of a step.
func (g *Graph) target(x ast.Expr) (fn *types.Func, step *Step) {
	fn, wrapped := g.pkg.Callee(x)
	return fn, g.steps[wrapped]
}
