package graph

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"github.com/restaq/restaq/internal/marker"
	"github.com/restaq/restaq/internal/naming"
)

// value is a function that an expression stands for; one field is set.
type value struct {
	step *marked // its wrapper
	fn   *types.Func
	lit  *ast.FuncLit
}

// callee resolves a function-valued expression: to a declared function, or to
// the step whose wrapper it is.
func (b *builder) callee(x ast.Expr) (*types.Func, *marked) {
	fn, wrapped := b.Callee(x)
	if wrapped == nil && fn != nil && fn.Pkg() != b.Types {
		// Wrappers of other packages are declared, if those were not loaded from
		// source together with this one.
		if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
			if base, ok := strings.CutSuffix(fn.Name(), "Step"); ok {
				wrapped = b.Member(sel.X, base)
			}
		}
	}
	if wrapped == nil {
		return fn, nil
	}
	step, known := b.steps[wrapped]
	if !known && wrapped.Pkg() != b.Types {
		step = b.foreign(wrapped)
		b.steps[wrapped] = step
	}
	return fn, step
}

// foreign returns the step that a function of another package is, nil if it is
// none. Only the source says it, and the position of the function, which comes
// with its type, says where that is.
func (b *builder) foreign(fn *types.Func) *marked {
	name := b.Position(fn.Pos()).Filename
	if name == "" {
		return nil
	}
	file, _ := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	decls, _ := marker.Find(file)
	for _, d := range decls {
		if d.Func == nil || d.Marker == nil || d.Marker.Verb != marker.Step || declName(d.Func) != funcName(fn) {
			continue
		}
		m := d.Marker
		step := m.Name.Text
		if step == "" {
			step = naming.Kebab(fn.Name())
		}
		return &marked{step, Step{
			Func: fn.Pkg().Path() + "." + funcName(fn), Key: short(m.Key.Text), Attempts: m.Attempts,
			Backoff: interval(m.BackoffMin, m.BackoffMax), Timeout: duration(m.Timeout), Pure: m.Pure,
		}}
	}
	return nil
}

// declName returns the name of a declared function within its package.
func declName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	x := ast.Unparen(d.Recv.List[0].Type)
	if star, ok := x.(*ast.StarExpr); ok {
		x = ast.Unparen(star.X)
	}
	switch generic := x.(type) {
	case *ast.IndexExpr:
		x = generic.X
	case *ast.IndexListExpr:
		x = generic.X
	}
	return types.ExprString(x) + "." + d.Name.Name
}

// values returns the functions that an expression may stand for, as far as they
// are known.
func (b *builder) values(x ast.Expr) []value {
	x = ast.Unparen(x)
	if lit, ok := x.(*ast.FuncLit); ok {
		return []value{{lit: lit}}
	}
	if v := b.variable(x); v != nil {
		if bound, ok := b.bound[v]; ok {
			return bound
		}
		var all []value
		for _, x := range b.held[v] {
			if lit, ok := x.(*ast.FuncLit); ok {
				all = append(all, value{lit: lit})
			} else if fn, step := b.callee(x); step != nil || b.decls[fn] != nil {
				all = append(all, value{step: step, fn: fn})
			}
		}
		return all
	}
	if fn, step := b.callee(x); step != nil {
		return []value{{step: step}}
	} else if b.decls[fn] != nil {
		return []value{{fn: fn}}
	}
	return nil
}

// findHeld finds the functions that variables hold, local ones and those of the
// package. Variables whose address is taken are left out: who knows what they
// hold.
func (b *builder) findHeld() {
	b.held = map[*types.Var][]ast.Expr{}
	shared := map[*types.Var]bool{}
	assign := func(to, values []ast.Expr) {
		for i := range to {
			v := b.variable(to[i])
			if v == nil || v.IsField() {
				continue
			}
			if len(to) == len(values) && b.isFunction(values[i]) {
				b.held[v] = append(b.held[v], ast.Unparen(values[i]))
			}
		}
	}
	for _, file := range b.Files {
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				assign(n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				names := make([]ast.Expr, len(n.Names))
				for i, name := range n.Names {
					names[i] = name
				}
				assign(names, n.Values)
			case *ast.UnaryExpr:
				if v := b.variable(n.X); v != nil && n.Op == token.AND {
					shared[v] = true
				}
			}
			return true
		})
	}
	for v := range shared {
		delete(b.held, v)
	}
}

// isFunction reports whether x is a function literal, a function of the package
// or the wrapper of a step.
func (b *builder) isFunction(x ast.Expr) bool {
	if _, ok := ast.Unparen(x).(*ast.FuncLit); ok {
		return true
	}
	fn, step := b.callee(x)
	return step != nil || b.decls[fn] != nil
}

// findLeads finds the functions of the package that lead to steps, by whatever
// they mention.
func (b *builder) findLeads() {
	b.leads = map[*types.Func]bool{}
	from := map[*types.Func][]*types.Func{} // who mentions a function
	var found []*types.Func
	for fn, decl := range b.decls {
		seen := map[*types.Var]bool{}
		var visit func(n ast.Node) bool
		visit = func(n ast.Node) bool {
			x, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			switch x.(type) {
			case *ast.Ident, *ast.SelectorExpr:
			default:
				return true
			}
			to, step := b.callee(x)
			switch {
			case step != nil || isDo(to):
				found = append(found, fn)
			case b.decls[to] != nil:
				from[to] = append(from[to], fn)
			}
			if v := b.variable(x); v != nil && v.Parent() == b.Types.Scope() && !seen[v] {
				seen[v] = true
				for _, f := range b.held[v] {
					ast.Inspect(f, visit)
				}
			}
			return true
		}
		ast.Inspect(decl.Body, visit)
	}
	for len(found) > 0 {
		fn := found[len(found)-1]
		found = found[:len(found)-1]
		if !b.leads[fn] {
			b.leads[fn] = true
			found = append(found, from[fn]...)
		}
	}
}
