package graph

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// body reads one function's body. Nodes are appended to out; what cannot be
// reached is not read.
type body struct {
	*builder
	sig    *types.Signature
	out    []*Node
	dead   bool                // no path leads on
	falls  bool                // the case that is read falls into the next
	gotos  map[string]bool     // labels that goto statements name
	errs   failures            // the calls whose error a variable may have
	nonNil map[*types.Var]bool // variables that are known not to be nil
}

// function returns the nodes of a function's body, without returns where it
// would end anyway. It is nil if the function is being read already.
func (b *builder) function(key ast.Node, block *ast.BlockStmt, sig *types.Signature) []*Node {
	for _, under := range b.active {
		if under == key {
			return nil
		}
	}
	b.active = append(b.active, key)
	defer func() { b.active = b.active[:len(b.active)-1] }()
	f := &body{builder: b, sig: sig, gotos: map[string]bool{}, errs: failures{}, nonNil: map[*types.Var]bool{}}
	ast.Inspect(block, func(n ast.Node) bool {
		if s, ok := n.(*ast.BranchStmt); ok && s.Tok == token.GOTO && s.Label != nil {
			f.gotos[s.Label.Name] = true
		}
		_, nested := n.(*ast.FuncLit)
		return !nested
	})
	f.list(block.List)
	return trimmed(f.out, func(n *Node) bool { return n.Kind == ReturnKind && !n.Fails })
}

// emit appends a node and returns it.
func (f *body) emit(n *Node) *Node {
	f.size++
	f.out = append(f.out, n)
	return n
}

// capture returns the nodes that read appends, and whether a path leads on
// behind them.
func (f *body) capture(read func()) (nodes []*Node, dead bool) {
	out, was := f.out, f.dead
	f.out = nil
	read()
	nodes, dead = f.out, f.dead
	f.out, f.dead = out, was
	return nodes, dead
}

func (f *body) list(list []ast.Stmt) {
	for _, s := range list {
		f.stmt(s, "")
	}
}

// stmt reads a statement; label is the one before it.
func (f *body) stmt(s ast.Stmt, label string) {
	if s, ok := s.(*ast.LabeledStmt); ok {
		if f.gotos[s.Label.Name] {
			f.dead, f.errs = false, failures{}
			f.emit(&Node{Kind: LabelKind, Name: s.Label.Name})
		}
		f.stmt(s.Stmt, s.Label.Name)
		return
	}
	if f.dead {
		return
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		f.list(s.List)
	case *ast.IfStmt:
		f.ifStmt(s)
	case *ast.SwitchStmt:
		f.simple(s.Init)
		f.expr(s.Tag)
		f.cases(&Node{Kind: SwitchKind, Name: label, Text: text(s.Tag)}, s.Body.List)
	case *ast.TypeSwitchStmt:
		f.simple(s.Init)
		f.simple(s.Assign)
		f.cases(&Node{Kind: SwitchKind, Name: label, Text: stmtText(s.Assign)}, s.Body.List)
	case *ast.SelectStmt:
		f.cases(&Node{Kind: SelectKind, Name: label}, s.Body.List)
	case *ast.ForStmt:
		f.forStmt(s, label)
	case *ast.RangeStmt:
		f.rangeStmt(s, label)
	case *ast.BranchStmt:
		f.branch(s)
	case *ast.ReturnStmt:
		f.returnStmt(s)
	default:
		f.simple(s)
		return
	}
	// What is known of variables within is of no use behind.
	within := func(v *types.Var) bool { return s.Pos() <= v.Pos() && v.Pos() < s.End() }
	maps.DeleteFunc(f.errs, func(v *types.Var, _ []*Node) bool { return within(v) })
	maps.DeleteFunc(f.nonNil, func(v *types.Var, _ bool) bool { return within(v) })
}

// failures are the calls whose error a variable may have.
type failures map[*types.Var][]*Node

// fail notes that the error of a variable is returned.
func (e failures) fail(v *types.Var) {
	for _, call := range e[v] {
		call.Fails = true
	}
}

// join returns the failures of both: where two paths meet.
func (e failures) join(other failures) failures {
	joined := maps.Clone(e)
	for v, calls := range other {
		for _, call := range calls {
			if !slices.Contains(joined[v], call) {
				joined[v] = append(slices.Clip(joined[v]), call)
			}
		}
	}
	return joined
}

// path reads one of several ways on, from what is known before, and returns its
// nodes and what is known behind it: nothing if no path leads on.
func (f *body) path(before failures, read func()) (nodes []*Node, behind failures, dead bool) {
	f.errs = maps.Clone(before)
	nodes, dead = f.capture(read)
	if dead {
		return nodes, failures{}, true
	}
	return nodes, f.errs, false
}

// simple reads a statement without statements in it.
func (f *body) simple(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		f.expr(s.X)
	case *ast.AssignStmt:
		for _, x := range s.Lhs {
			if f.variable(x) == nil {
				f.expr(x)
			}
		}
		f.assign(s.Lhs, s.Rhs)
	case *ast.DeclStmt:
		if decl, ok := s.Decl.(*ast.GenDecl); ok {
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.ValueSpec); ok {
					names := make([]ast.Expr, len(spec.Names))
					for i, name := range spec.Names {
						names[i] = name
					}
					f.assign(names, spec.Values)
				}
			}
		}
	case *ast.GoStmt:
		f.later(s.Call, GoKind)
	case *ast.DeferStmt:
		f.later(s.Call, DeferKind)
	case *ast.SendStmt:
		f.expr(s.Chan)
		f.expr(s.Value)
	case *ast.IncDecStmt:
		f.expr(s.X)
	}
}

// assign reads the values of an assignment. Functions that a variable holds are
// read where it is called.
func (f *body) assign(to, values []ast.Expr) {
	var call *Node
	for i, x := range values {
		if len(to) == len(values) {
			if v := f.variable(to[i]); v != nil && f.holds(v, x) {
				if method, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
					f.expr(method.X)
				}
				continue
			}
		}
		call = f.expr(x)
	}
	for i, x := range to {
		if v := f.variable(x); v != nil {
			delete(f.errs, v)
			delete(f.nonNil, v)
			if len(values) == 1 && call != nil && (isError(v.Type()) || i == len(to)-1 && isUnknown(v.Type())) {
				f.errs[v] = []*Node{call}
				f.errors[v] = true
			}
		}
	}
}

// holds reports whether x is among the functions that v holds.
func (f *body) holds(v *types.Var, x ast.Expr) bool {
	for _, held := range f.held[v] {
		if held == ast.Unparen(x) {
			return true
		}
	}
	return false
}

// later reads a go or defer statement: what the call is made of now, the call
// itself as a node.
func (f *body) later(call *ast.CallExpr, kind Kind) {
	arguments := f.arguments(call)
	nodes, _ := f.capture(func() { f.invoke(call, arguments) })
	if len(nodes) == 1 && nodes[0].Kind == CallKind && nodes[0].Name == "" && !nodes[0].Many {
		nodes = nodes[0].Body // a literal that is called at once
	}
	if hasStep(nodes) {
		f.emit(&Node{Kind: kind, Body: nodes})
	}
}

// returnStmt reads a return. If it returns the error of a call, that fails.
func (f *body) returnStmt(s *ast.ReturnStmt) {
	var call *Node
	for _, x := range s.Results {
		call = f.expr(x)
	}
	n := &Node{Kind: ReturnKind}
	if results := f.sig.Results(); len(s.Results) > 0 && results.Len() > 0 && isError(results.At(results.Len()-1).Type()) {
		last := s.Results[len(s.Results)-1]
		v := f.variable(last)
		switch {
		case call != nil:
			call.Fails = true
		case f.errs[v] != nil && !f.nonNil[v]:
			f.errs.fail(v)
		case !f.isNil(last):
			n.Text = text(last)
			n.Fails = f.nonNil[v] || f.certain(last)
		}
	}
	if f.dead {
		return // a call in it does not come back
	}
	f.emit(n)
	f.dead = true
}

// certain reports whether an error is none that may be nil.
func (f *body) certain(x ast.Expr) bool {
	x = ast.Unparen(x)
	switch x := x.(type) {
	case *ast.UnaryExpr, *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		fn, _ := f.callee(x.Fun)
		if fn == nil || fn.Pkg() == nil {
			return false
		}
		switch fn.Pkg().Path() + "." + fn.Name() {
		case "errors.New", "fmt.Errorf":
			return true
		case runtimePath + ".Permanent", runtimePath + ".RetryAfter":
			return len(x.Args) > 0 && (f.certain(x.Args[0]) || f.nonNil[f.variable(x.Args[0])])
		case "errors.Join":
			for _, arg := range x.Args {
				if f.certain(arg) || f.nonNil[f.variable(arg)] {
					return true
				}
			}
		}
	case *ast.Ident:
		v := f.variable(x)
		return v != nil && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() // a sentinel
	case *ast.SelectorExpr:
		v, ok := f.Info.Uses[x.Sel].(*types.Var)
		return ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
	}
	return false
}

var errorType = types.Universe.Lookup("error").Type()

// isUnknown reports whether the type checker did not find out a type: that of
// what a wrapper returns, which is not declared.
func isUnknown(t types.Type) bool { return t == types.Typ[types.Invalid] }

// isNil reports whether x is nil.
func (b *builder) isNil(x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok || id.Name != "nil" {
		return false
	}
	obj := b.Info.Uses[id]
	return obj == nil || obj == types.Universe.Lookup("nil")
}

func isError(t types.Type) bool { return t != nil && types.Identical(t, errorType) }

// trimmed returns nodes without those at their end, or at the end of the
// branches there, that go where the end leads anyway.
func trimmed(nodes []*Node, needless func(*Node) bool) []*Node {
	for len(nodes) > 0 {
		last := nodes[len(nodes)-1]
		if needless(last) {
			nodes = nodes[:len(nodes)-1]
			continue
		}
		if last.Kind != IfKind && last.Kind != SwitchKind && last.Kind != SelectKind {
			return nodes
		}
		empty := true
		for _, c := range last.Cases {
			if !c.Falls {
				c.Body = trimmed(c.Body, needless)
			}
			empty = empty && len(c.Body) == 0
		}
		if !empty {
			return nodes
		}
		nodes = nodes[:len(nodes)-1]
	}
	return nodes
}
