package nondeterminism

import (
	"go/ast"
	"go/types"
)

// assigned is the fact about a package-level variable that its own package assigns
// it outside its declaration.
type assigned struct{}

func (*assigned) AFact() {}

func (*assigned) String() string { return "assigned" }

// findAssigned returns the package's variables that its functions assign, and
// exports the fact. What init does is done before any handler runs.
func (c *check) findAssigned() map[*types.Var]bool {
	found := map[*types.Var]bool{}
	assign := func(x ast.Expr) {
		if v := c.packageVar(c.rootOf(x)); v != nil && v.Pkg() == c.pass.Pkg && !found[v] {
			found[v] = true
			c.pass.ExportObjectFact(v, &assigned{})
		}
	}
	for _, fn := range c.pkg.Funcs {
		if fn.Name() == "init" && fn.Signature().Recv() == nil {
			continue
		}
		ast.Inspect(c.pkg.Decls[fn].Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, x := range n.Lhs {
					assign(x)
				}
			case *ast.IncDecStmt:
				assign(n.X)
			case *ast.RangeStmt:
				assign(n.Key)
				assign(n.Value)
			}
			return true
		})
	}
	return found
}

// packageVar returns the package-level variable that an expression names, or nil.
func (c *check) packageVar(x ast.Expr) *types.Var {
	var id *ast.Ident
	switch x := x.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return nil
	}
	v, ok := c.pass.TypesInfo.Uses[id].(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return nil
	}
	return v
}

// isAssigned reports whether a package-level variable is assigned while the
// program runs.
func (c *check) isAssigned(v *types.Var) bool {
	if v.Pkg() == c.pass.Pkg {
		return c.assigned[v]
	}
	return c.pass.ImportObjectFact(v, new(assigned))
}

// rootOf returns the variable that an expression is, or is a part of: x of x.f[i],
// pkg.V of pkg.V.f. It may be any other expression if there is none.
func (c *check) rootOf(x ast.Expr) ast.Expr {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			if id, ok := e.X.(*ast.Ident); ok {
				if _, ok := c.pass.TypesInfo.Uses[id].(*types.PkgName); ok {
					return e
				}
			}
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		default:
			return e
		}
	}
}
