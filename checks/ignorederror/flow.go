package ignorederror

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/cfg"
)

// flow follows the paths through one function.
type flow struct {
	pass   *analysis.Pass
	graph  *cfg.CFG
	body   *ast.BlockStmt
	named  map[*types.Var]bool // the function's named results
	shared map[*types.Var]bool // who reads them cannot be told
}

func newFlow(pass *analysis.Pass, typ *ast.FuncType, body *ast.BlockStmt) *flow {
	f := &flow{pass: pass, body: body, named: map[*types.Var]bool{}, shared: map[*types.Var]bool{}}
	f.graph = cfg.New(body, f.mayReturn)
	if typ.Results != nil {
		for _, field := range typ.Results.List {
			for _, name := range field.Names {
				if v, ok := pass.TypesInfo.Defs[name].(*types.Var); ok {
					f.named[v] = true
				}
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					f.share(id)
				}
				return true
			})
			return false
		case *ast.UnaryExpr:
			if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND {
				f.share(id)
			}
		}
		return true
	})
	return f
}

func (f *flow) share(id *ast.Ident) {
	if v, ok := f.pass.TypesInfo.Uses[id].(*types.Var); ok {
		f.shared[v] = true
	}
}

// mayReturn reports whether a call can return.
func (f *flow) mayReturn(call *ast.CallExpr) bool {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		builtin, ok := f.pass.TypesInfo.Uses[fun].(*types.Builtin)
		return !ok || builtin.Name() != "panic"
	case *ast.SelectorExpr:
		fn, ok := f.pass.TypesInfo.Uses[fun.Sel].(*types.Func)
		return !ok || fn.Pkg() == nil || !ends[fn.Pkg().Path()+"."+fn.Name()]
	}
	return true
}

var ends = map[string]bool{
	"os.Exit": true, "runtime.Goexit": true,
	"log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true, "log.Panic": true, "log.Panicf": true, "log.Panicln": true,
}

// read reports whether what the statement at assigns to v is read on any path
// behind it, or may be, for all that can be told. A blank assignment reads nothing.
func (f *flow) read(v *types.Var, at ast.Node) bool {
	if f.shared[v] || v.Pos() < f.body.Pos() && !f.named[v] || v.Pos() > f.body.End() {
		return true // a parameter, or a variable of the function around
	}
	for _, b := range f.graph.Blocks {
		for i, n := range b.Nodes {
			if n == at {
				return f.from(b, i+1, v, map[*cfg.Block]bool{})
			}
		}
	}
	return true // in code that is not reached
}

// from reports whether v is read on a path that begins in a block.
func (f *flow) from(b *cfg.Block, i int, v *types.Var, seen map[*cfg.Block]bool) bool {
	for _, n := range b.Nodes[i:] {
		reads, writes := f.uses(n, v)
		if reads {
			return true
		}
		if writes {
			return false
		}
	}
	for _, next := range b.Succs {
		if !seen[next] {
			seen[next] = true
			if f.from(next, 0, v, seen) {
				return true
			}
		}
	}
	return false
}

// uses reports whether a node of the graph reads v, and whether it writes v
// thereafter.
func (f *flow) uses(n ast.Node, v *types.Var) (reads, writes bool) {
	switch n := n.(type) {
	case *ast.ReturnStmt:
		if n.Results == nil && f.named[v] {
			return true, false
		}
	case *ast.AssignStmt:
		if isBlank(n.Lhs) && len(n.Rhs) == 1 {
			if id, ok := ast.Unparen(n.Rhs[0]).(*ast.Ident); ok && f.pass.TypesInfo.Uses[id] == v {
				return false, false
			}
		}
		for _, x := range n.Rhs {
			reads = reads || f.mentions(x, v)
		}
		for _, x := range n.Lhs {
			id, ok := ast.Unparen(x).(*ast.Ident)
			switch {
			case !ok:
				reads = reads || f.mentions(x, v)
			case f.pass.TypesInfo.ObjectOf(id) != v:
			case n.Tok == token.ASSIGN || n.Tok == token.DEFINE:
				writes = true
			default:
				reads = true
			}
		}
		return reads, writes
	case *ast.ValueSpec:
		for _, x := range n.Values {
			reads = reads || f.mentions(x, v)
		}
		return reads, false
	}
	return f.mentions(n, v), false
}

func isBlank(list []ast.Expr) bool {
	if len(list) != 1 {
		return false
	}
	id, ok := list[0].(*ast.Ident)
	return ok && id.Name == "_"
}

// mentions reports whether v is used under a node.
func (f *flow) mentions(root ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && f.pass.TypesInfo.Uses[id] == v {
			found = true
		}
		return !found
	})
	return found
}
