package calls

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// edge is a mention of something in a function, or in what a variable begins
// with.
type edge struct {
	to   types.Object
	name string
	via  *Step // the step, if it is its wrapper that is mentioned
	pos  token.Pos
}

// edges returns what a function or variable mentions, in source order.
func (g *Graph) edges(from types.Object) []edge {
	var edges []edge
	mention := func(x ast.Expr) {
		switch to, step := g.target(x); {
		case step != nil:
			edges = append(edges, edge{step.Func, step.Func.Name() + "Step", step, x.Pos()})
		case to != nil && g.decls[to] != nil:
			edges = append(edges, edge{to, to.Name(), nil, x.Pos()})
		default:
			edges = append(edges, g.others(x)...)
		}
	}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			mention(x)
			ast.Inspect(x.X, visit) // the selected name means nothing by itself
			return false
		case *ast.Ident:
			mention(x)
		}
		return true
	}
	switch from := from.(type) {
	case *types.Func:
		if decl := g.decls[from]; decl != nil {
			ast.Inspect(decl.Body, visit)
		}
	case *types.Var:
		ast.Inspect(g.vars[from], visit)
	}
	return edges
}

// Register is the name of the function that registers handlers and steps.
const Register = "RegisterHandlers"

// others returns the edges of a mention that is neither function nor wrapper: to
// a package-level variable, or to all that a generated RegisterHandlers
// registers.
func (g *Graph) others(x ast.Expr) []edge {
	var recv types.Type
	switch x := x.(type) {
	case *ast.Ident:
		if v, ok := g.pkg.Info.Uses[x].(*types.Var); ok && g.vars[v] != nil {
			return []edge{{v, v.Name(), nil, x.Pos()}}
		}
		if x.Name != Register || g.pkg.Info.ObjectOf(x) != nil {
			return nil
		}
	case *ast.SelectorExpr:
		if x.Sel.Name != Register || g.pkg.Info.ObjectOf(x.Sel) != nil {
			return nil
		}
		if recv = g.pkg.Info.TypeOf(x.X); recv == nil {
			return nil
		}
		recv = deref(recv)
	}
	var edges []edge
	for _, fn := range g.order {
		of := fn.Signature().Recv()
		if (g.steps[fn] != nil || g.handlers[fn]) && (of == nil) == (recv == nil) && (of == nil || types.Identical(deref(of.Type()), recv)) {
			edges = append(edges, edge{fn, Register, g.steps[fn], x.Pos()})
		}
	}
	return edges
}

// Circle is a way from a step's function to its own wrapper, or to the function
// that registers it.
type Circle struct {
	Step  *Step
	At    token.Pos // where the last of the names stands
	Names []string
}

// Registers reports whether the circle closes by registration, which Go calls an
// initialization cycle.
func (c Circle) Registers() bool { return c.Names[len(c.Names)-1] == Register }

// Circles returns the steps that reach their own wrapper: the record that the
// inner call waits for is the one that the outer call has yet to write.
func (g *Graph) Circles() []Circle {
	var circles []Circle
	for _, s := range g.pkg.Steps {
		if names, pos := g.pathToWrapper(s); names != nil {
			circles = append(circles, Circle{s, pos, names})
		}
	}
	return circles
}

// pathToWrapper returns the shortest chain of names from a step's function to
// its own wrapper, and where the wrapper is mentioned; nil if there is none.
func (g *Graph) pathToWrapper(m *Step) ([]string, token.Pos) {
	type visit struct {
		to    types.Object
		chain []string
	}
	start := m.Func
	seen := map[types.Object]bool{start: true}
	queue := []visit{{start, []string{start.Name()}}}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, e := range g.edges(v.to) {
			chain := append(slices.Clone(v.chain), e.name)
			if e.via == m {
				return chain, e.pos
			}
			if !seen[e.to] {
				seen[e.to] = true
				queue = append(queue, visit{e.to, chain})
			}
		}
	}
	return nil, token.NoPos
}

// deref returns what t points to, or t, without aliases.
func deref(t types.Type) types.Type {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	return t
}
