package recovered

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// own calls visit for the nodes of a function that are not in a literal in it.
func own(body *ast.BlockStmt, visit func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		visit(n)
		_, isLiteral := n.(*ast.FuncLit)
		return !isLiteral
	})
}

// recovers returns where a function calls recover itself, which alone has an
// effect when the function is deferred; nil if it does not.
func (c *check) recovers(body *ast.BlockStmt) ast.Node {
	var at ast.Node
	deferred := map[*ast.CallExpr]bool{} // defer recover() recovers nothing
	own(body, func(n ast.Node) {
		if d, ok := n.(*ast.DeferStmt); ok {
			deferred[d.Call] = true
		}
		if call, ok := n.(*ast.CallExpr); ok && at == nil && !deferred[call] && c.builtin(call) == "recover" {
			at = call
		}
	})
	return at
}

// builtin returns the name of the builtin function that a call calls, or "".
func (c *check) builtin(call *ast.CallExpr) string {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := c.pass.TypesInfo.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

// outlet reports whether a variable is one by which a panic gets out as an error.
type outlet func(*types.Var) bool

// results is the outlet of a function that defers: its named results, and what a
// literal has of the function around it.
func (c *check) results(s scope) outlet {
	named := c.declared(s.typ.Results)
	return func(v *types.Var) bool {
		if s.around != nil && (v.Pos() < s.body.Pos() || v.Pos() > s.body.End()) && s.around.Pos() <= v.Pos() && v.Pos() <= s.around.End() {
			return true
		}
		return slices.Contains(named, v)
	}
}

// pointers is the outlet of a deferred function: what its parameters point to.
func (c *check) pointers(typ *ast.FuncType) outlet {
	params := c.declared(typ.Params)
	return func(v *types.Var) bool {
		_, isPointer := v.Type().Underlying().(*types.Pointer)
		return isPointer && slices.Contains(params, v)
	}
}

func (c *check) declared(list *ast.FieldList) []*types.Var {
	var vars []*types.Var
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			if v, ok := c.pass.TypesInfo.Defs[name].(*types.Var); ok {
				vars = append(vars, v)
			}
		}
	}
	return vars
}

// letsOut reports whether a function that recovers lets the panic out: it panics
// again, ends the program or the goroutine, or assigns to an outlet.
func (c *check) letsOut(body *ast.BlockStmt, outlets ...outlet) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || c.endsBadly(n)
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if v := c.variable(x); v != nil && slices.ContainsFunc(outlets, func(is outlet) bool { return is(v) }) {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// endsBadly reports whether a call is one of panic, os.Exit or runtime.Goexit, or
// of a logger's function that is named after them, as log.Panicf is.
func (c *check) endsBadly(call *ast.CallExpr) bool {
	if c.builtin(call) == "panic" {
		return true
	}
	fn := c.pkg.Callee(call)
	return fn != nil && (strings.HasPrefix(fn.Name(), "Panic") || strings.HasPrefix(fn.Name(), "Fatal") || fn.Name() == "Exit" || fn.Name() == "Goexit")
}

// variable returns the variable that an expression names, points by, or has an
// element of; nil if it is none's.
func (c *check) variable(x ast.Expr) *types.Var {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		v, _ := c.pass.TypesInfo.ObjectOf(x).(*types.Var)
		return v
	case *ast.StarExpr:
		return c.variable(x.X)
	case *ast.IndexExpr:
		return c.variable(x.X)
	}
	return nil
}
