package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/marker"
)

// graph is who calls whom in a package.
type graph struct {
	*checker
	decls    map[*types.Func]*ast.FuncDecl
	order    []*types.Func           // in source order
	vars     map[*types.Var]ast.Expr // what package-level variables begin with
	varOrder []*types.Var            // in source order
	steps    map[*types.Func]*marked
	handlers map[*types.Func]bool

	summaries map[any]*summary          // by *types.Func or *ast.FuncLit
	stack     []*summary                // those under way
	partial   []any                     // keys of those that miss calls
	flagged   map[*marked]string        // why a step needs key=
	values    map[*types.Var][]ast.Expr // what local variables hold; nil until it is needed
}

// calls checks what steps call, and how often they are called.
func (c *checker) calls() {
	g := &graph{
		checker: c, decls: map[*types.Func]*ast.FuncDecl{}, vars: map[*types.Var]ast.Expr{}, steps: map[*types.Func]*marked{}, handlers: map[*types.Func]bool{},
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
			g.declare(decl)
		}
	}
	g.reach()
	g.keys()
}

// declare adds a declaration of the package.
func (g *graph) declare(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if fn, ok := g.src.Info.Defs[decl.Name].(*types.Func); ok && decl.Body != nil {
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
				if v, ok := g.src.Info.Defs[name].(*types.Var); ok && len(spec.Values) > 0 {
					g.vars[v] = spec.Values[min(i, len(spec.Values)-1)]
					g.varOrder = append(g.varOrder, v)
				}
			}
		}
	}
}

// target resolves a function-valued expression: to a function of the package,
// or to the wrapper of a step.
func (g *graph) target(x ast.Expr) (fn *types.Func, step *marked) {
	fn, wrapped := g.src.Callee(x)
	return fn, g.steps[wrapped]
}

// edge is a mention of something in a function, or in what a variable begins
// with.
type edge struct {
	to   types.Object
	name string
	via  *marked // the step, if it is its wrapper that is mentioned
	pos  token.Pos
}

// edges returns what a function or variable mentions, in source order.
func (g *graph) edges(from types.Object) []edge {
	var edges []edge
	mention := func(x ast.Expr) {
		switch to, step := g.target(x); {
		case step != nil:
			fn := g.src.Info.Defs[step.Func.Name]
			edges = append(edges, edge{fn, fn.Name() + "Step", step, x.Pos()})
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

// register is the name of the function that registers handlers and steps.
const register = "RegisterHandlers"

// others returns the edges of a mention that is neither function nor wrapper: to
// a package-level variable, or to all that a generated RegisterHandlers
// registers.
func (g *graph) others(x ast.Expr) []edge {
	var recv types.Type
	switch x := x.(type) {
	case *ast.Ident:
		if v, ok := g.src.Info.Uses[x].(*types.Var); ok && g.vars[v] != nil {
			return []edge{{v, v.Name(), nil, x.Pos()}}
		}
		if x.Name != register || g.src.Info.ObjectOf(x) != nil {
			return nil
		}
	case *ast.SelectorExpr:
		if x.Sel.Name != register || g.src.Info.ObjectOf(x.Sel) != nil {
			return nil
		}
		if recv = g.src.Info.TypeOf(x.X); recv == nil {
			return nil
		}
		recv = deref(recv)
	}
	var edges []edge
	for _, fn := range g.order {
		of := fn.Signature().Recv()
		if (g.steps[fn] != nil || g.handlers[fn]) && (of == nil) == (recv == nil) && (of == nil || types.Identical(deref(of.Type()), recv)) {
			edges = append(edges, edge{fn, register, g.steps[fn], x.Pos()})
		}
	}
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
			what, hint := "wrapper", "a step cannot wait for its own record: call the function itself, or make the inner part a step of its own"
			if chain[len(chain)-1] == register {
				what, hint = "registration", "which Go calls an initialization cycle: register where no step leads to, in main, say"
			}
			g.fail(m, pos, "reaches its own "+what+": "+strings.Join(chain, " → "), hint)
		}
	}
}

// pathToWrapper returns the shortest chain of names from a step's function to
// its own wrapper, and where the wrapper is mentioned; nil if there is none.
func (g *graph) pathToWrapper(start *types.Func, m *marked) ([]string, token.Pos) {
	type visit struct {
		to    types.Object
		chain []string
	}
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

// keys reports steps that need key= and have none.
func (g *graph) keys() {
	reached := maps.Clone(g.flagged)
	for _, fn := range g.order {
		g.summary(fn)
	}
	for _, v := range g.varOrder {
		(&walker{graph: g, labels: map[string]state{}}).expr(g.vars[v], state{})
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
	if params.Len() == 1 {
		return "call it in one place, or give it an input that tells the calls apart, and key= with that"
	}
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
