package calls

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// held returns the function values that are assigned to a local variable: they
// are counted where the variable is called, as any of them may be meant. Values
// that nothing is known of are not among them.
func (g *Graph) held(v *types.Var) []ast.Expr {
	if g.values == nil {
		g.findHeld()
	}
	return g.values[v]
}

// heldBy returns what one call of a variable comes to.
func (w *walker) heldBy(v *types.Var, held []ast.Expr) state {
	var calls state
	for _, x := range held {
		if lit, ok := x.(*ast.FuncLit); ok {
			calls = join(calls, w.summarize(lit, lit.Body, v.Name()))
		} else if one, ok := w.value(x); ok {
			calls = join(calls, one)
		}
	}
	return calls
}

// isHeld reports whether the i-th value of an assignment is counted where the
// variable that it goes to is called.
func (w *walker) isHeld(to, values []ast.Expr, i int) bool {
	if len(to) != len(values) {
		return false
	}
	id, ok := to[i].(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := w.pkg.Info.ObjectOf(id).(*types.Var)
	return ok && slices.Contains(w.held(v), ast.Unparen(values[i]))
}

// findHeld finds the function values that local variables hold. A variable
// whose address is taken is left out: who knows when that is called.
func (g *Graph) findHeld() {
	g.values = map[*types.Var][]ast.Expr{}
	shared := map[*types.Var]bool{}
	local := func(x ast.Expr) *types.Var {
		if id, ok := ast.Unparen(x).(*ast.Ident); ok {
			if v, ok := g.pkg.Info.ObjectOf(id).(*types.Var); ok && v.Kind() == types.LocalVar {
				return v
			}
		}
		return nil
	}
	assign := func(to, values []ast.Expr) {
		for i := range to {
			if v := local(to[i]); v != nil && len(to) == len(values) && g.isFunction(values[i]) {
				g.values[v] = append(g.values[v], ast.Unparen(values[i]))
			}
		}
	}
	for _, fn := range g.order {
		ast.Inspect(g.decls[fn].Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				assign(n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				assign(expressions(n.Names), n.Values)
			case *ast.UnaryExpr:
				if v := local(n.X); v != nil && n.Op == token.AND {
					shared[v] = true
				}
			}
			return true
		})
	}
	for v := range shared {
		delete(g.values, v)
	}
}

// isFunction reports whether x is a function literal, a function of the package
// or the wrapper of a step.
func (g *Graph) isFunction(x ast.Expr) bool {
	if _, ok := ast.Unparen(x).(*ast.FuncLit); ok {
		return true
	}
	fn, step := g.target(x)
	return step != nil || fn != nil && g.decls[fn] != nil && !g.handlers[fn]
}

func expressions(names []*ast.Ident) []ast.Expr {
	list := make([]ast.Expr, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}
