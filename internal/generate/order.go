package generate

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/model"
)

// order finds the steps that handlers lead to, through functions of the package.
// Wrappers are not declared in what was loaded: an unknown name that ends in Step
// behind the name of a step's function is one.
type order struct {
	src   *model.Source
	decls map[*types.Func]*ast.FuncDecl
	known map[*types.Func]string // names of steps
}

func newOrder(src *model.Source, p *model.Package) *order {
	o := &order{src, map[*types.Func]*ast.FuncDecl{}, map[*types.Func]string{}}
	for _, s := range p.Steps() {
		o.known[s.Obj] = s.Record
	}
	for _, file := range src.Files {
		for _, decl := range file.Syntax.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok && decl.Body != nil {
				if fn, ok := src.Info.Defs[decl.Name].(*types.Func); ok {
					o.decls[fn] = decl
				}
			}
		}
	}
	return o
}

// steps returns the names of the steps that a handler leads to, in the order in
// which the source has them first.
func (o *order) steps(h *model.Handler) []string {
	var steps []string
	seen := map[*types.Func]bool{}
	var visit func(fn *types.Func)
	visit = func(fn *types.Func) {
		decl := o.decls[fn]
		if seen[fn] || decl == nil {
			return
		}
		seen[fn] = true
		o.inspect(decl.Body, visit, func(step string) {
			if !slices.Contains(steps, step) {
				steps = append(steps, step)
			}
		})
	}
	visit(h.Obj)
	return steps
}

// inspect calls visit for the functions that a body mentions, and step for the
// wrappers.
func (o *order) inspect(body ast.Node, visit func(*types.Func), step func(string)) {
	var inspect func(ast.Node) bool
	inspect = func(n ast.Node) bool {
		name, wrapper := n, ""
		switch x := n.(type) {
		case *ast.SelectorExpr:
			name, wrapper = x.Sel, o.method(x)
			defer ast.Inspect(x.X, inspect)
		case *ast.Ident:
			if o.src.Info.ObjectOf(x) == nil {
				wrapper = o.wrapper(x.Name)
			}
		default:
			return true
		}
		if wrapper != "" {
			step(wrapper)
		} else if fn, ok := o.src.Info.Uses[name.(*ast.Ident)].(*types.Func); ok {
			visit(fn.Origin())
		}
		return false // the selected name means nothing by itself
	}
	ast.Inspect(body, inspect)
}

// wrapper returns the step of the package whose wrapper has the name; "" if there is none.
func (o *order) wrapper(name string) string {
	base, ok := strings.CutSuffix(name, "Step")
	if !ok {
		return ""
	}
	fn, _ := o.src.Types.Scope().Lookup(base).(*types.Func)
	return o.known[fn]
}

// method returns the step whose wrapper is the method that x selects; "" if there
// is none.
func (o *order) method(x *ast.SelectorExpr) string {
	base, ok := strings.CutSuffix(x.Sel.Name, "Step")
	t := o.src.Info.TypeOf(x.X)
	if !ok || t == nil || o.src.Info.Uses[x.Sel] != nil {
		return ""
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, o.src.Types, base)
	fn, _ := obj.(*types.Func)
	if fn == nil {
		return ""
	}
	return o.known[fn.Origin()]
}
