package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"strings"

	"github.com/restaq/restaq/internal/marker"
)

// graph is who calls whom in a package. Wrappers are not declared in what was
// loaded; a name that is none of the user's and ends in Step behind the name of
// a step is one.
type graph struct {
	*checker
	decls    map[*types.Func]*ast.FuncDecl
	order    []*types.Func // in source order
	steps    map[*types.Func]*marked
	handlers map[*types.Func]bool

	summaries map[any]*summary            // by *types.Func or *ast.FuncLit
	flagged   map[*marked]string          // why a step needs key=
	closures  map[*types.Var]*ast.FuncLit // by variable; nil until it is needed
}

// calls checks what steps call, and how often they are called.
func (c *checker) calls() {
	g := &graph{
		checker: c, decls: map[*types.Func]*ast.FuncDecl{}, steps: map[*types.Func]*marked{}, handlers: map[*types.Func]bool{},
		summaries: map[any]*summary{}, flagged: map[*marked]string{},
	}
	for _, m := range c.marked {
		if m.Func == nil {
			continue
		}
		if fn, ok := c.src.Info.Defs[m.Func.Name].(*types.Func); ok {
			if m.Marker.Verb == marker.Step {
				g.steps[fn] = m
			} else {
				g.handlers[fn] = true
			}
		}
	}
	if len(g.steps) == 0 {
		return
	}
	for _, file := range c.src.Files {
		for _, decl := range file.Syntax.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				if fn, ok := c.src.Info.Defs[f.Name].(*types.Func); ok {
					g.decls[fn] = f
					g.order = append(g.order, fn)
				}
			}
		}
	}
	g.reach()
	g.keys()
}

// target resolves a function-valued expression: to a function of the package,
// or to the wrapper of a step.
func (g *graph) target(x ast.Expr) (fn *types.Func, step *marked) {
	x = ast.Unparen(x)
	switch generic := x.(type) {
	case *ast.IndexExpr:
		x = generic.X
	case *ast.IndexListExpr:
		x = generic.X
	}
	switch x := x.(type) {
	case *ast.Ident:
		obj := g.src.Info.Uses[x]
		if fn, ok := obj.(*types.Func); ok {
			return fn.Origin(), nil
		}
		if base, ok := strings.CutSuffix(x.Name, "Step"); ok && obj == nil {
			fn, _ := g.src.Types.Scope().Lookup(base).(*types.Func)
			return nil, g.steps[fn]
		}
	case *ast.SelectorExpr:
		if fn, ok := g.src.Info.Uses[x.Sel].(*types.Func); ok {
			return fn.Origin(), nil
		}
		base, ok := strings.CutSuffix(x.Sel.Name, "Step")
		if t := g.src.Info.TypeOf(x.X); ok && t != nil && g.src.Info.Uses[x.Sel] == nil {
			obj, _, _ := types.LookupFieldOrMethod(t, true, g.src.Types, base)
			fn, _ := obj.(*types.Func)
			return nil, g.steps[fn]
		}
	}
	return nil, nil
}

// edge is a mention of a function, or of a step's wrapper, in a function.
type edge struct {
	to  *types.Func
	via *marked // the step, if its wrapper is mentioned
	pos token.Pos
}

// edges returns what a function mentions, in source order.
func (g *graph) edges(fn *types.Func) []edge {
	decl := g.decls[fn]
	if decl == nil {
		return nil
	}
	var edges []edge
	mention := func(x ast.Expr) {
		switch to, step := g.target(x); {
		case step != nil:
			to, _ := g.src.Info.Defs[step.Func.Name].(*types.Func)
			edges = append(edges, edge{to, step, x.Pos()})
		case to != nil && g.decls[to] != nil:
			edges = append(edges, edge{to, nil, x.Pos()})
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
	ast.Inspect(decl.Body, visit)
	return edges
}

// reach reports steps that reach their own wrapper: the record that the inner
// call waits for is the one that the outer call has yet to write.
func (g *graph) reach() {
	for _, fn := range g.order {
		m := g.steps[fn]
		if m == nil {
			continue
		}
		if chain, pos := g.pathToWrapper(fn, m); chain != nil {
			g.flagged[m] = "" // a key would not help
			g.fail(m, pos, "reaches its own wrapper: "+strings.Join(chain, " → "),
				"a step cannot wait for its own record: call the function itself, or make the inner part a step of its own")
		}
	}
}

// pathToWrapper returns the shortest chain of names from a step's function to
// its own wrapper, and where the wrapper is mentioned; nil if there is none.
func (g *graph) pathToWrapper(start *types.Func, m *marked) ([]string, token.Pos) {
	type visit struct {
		fn    *types.Func
		chain []string
	}
	seen := map[*types.Func]bool{start: true}
	queue := []visit{{start, []string{start.Name()}}}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, e := range g.edges(v.fn) {
			name := e.to.Name()
			if e.via != nil {
				name += "Step"
			}
			chain := append(append([]string{}, v.chain...), name)
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

// keys reports steps that need key= and have none.
func (g *graph) keys() {
	reached := maps.Clone(g.flagged)
	for _, fn := range g.order {
		g.summary(fn)
	}
	for _, fn := range g.order {
		m := g.steps[fn]
		if _, known := reached[m]; known {
			continue
		}
		if why := g.flagged[m]; m != nil && why != "" {
			g.fail(m, m.Marker.Pos, "needs key=, because it is "+why, g.keyHint(fn))
		}
	}
}

// keyHint proposes an expression for key=.
func (g *graph) keyHint(fn *types.Func) string {
	const hint = "key=EXPR tells the calls in one execution apart"
	params := fn.Signature().Params()
	for i := range params.Len() {
		p := params.At(i)
		if i == 0 || p.Name() == "" || p.Name() == "_" {
			continue
		}
		if basic, ok := p.Type().Underlying().(*types.Basic); ok && basic.Info()&(types.IsString|types.IsInteger) != 0 {
			return fmt.Sprintf("%s: //restaq:step key=%s, say", hint, p.Name())
		}
	}
	return hint
}
