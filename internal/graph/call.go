package graph

import (
	"go/ast"
	"go/token"
	"go/types"
)

// expr reads an expression in the order of its evaluation. If it is a call that
// is a node, or several, that is returned.
func (f *body) expr(x ast.Expr) *Node {
	if x == nil || f.dead {
		return nil
	}
	if values := f.values(x); len(values) > 0 { // neither called nor handed on
		if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
			f.expr(sel.X)
		}
		f.emitMany(CallKind, "", values)
		return nil
	}
	switch x := x.(type) {
	case *ast.CallExpr:
		return f.call(x)
	case *ast.ParenExpr:
		return f.expr(x.X)
	case *ast.SelectorExpr:
		f.expr(x.X)
	case *ast.StarExpr:
		f.expr(x.X)
	case *ast.UnaryExpr:
		f.expr(x.X)
	case *ast.TypeAssertExpr:
		f.expr(x.X)
	case *ast.BinaryExpr:
		f.binary(x)
	case *ast.IndexExpr:
		f.expr(x.X)
		f.expr(x.Index)
	case *ast.SliceExpr:
		f.expr(x.X)
		f.expr(x.Low)
		f.expr(x.High)
		f.expr(x.Max)
	case *ast.KeyValueExpr:
		f.expr(x.Key)
		f.expr(x.Value)
	case *ast.CompositeLit:
		for _, element := range x.Elts {
			f.expr(element)
		}
	}
	return nil
}

// binary reads a binary expression: behind && and || an operand may not be
// reached.
func (f *body) binary(x *ast.BinaryExpr) {
	if f.isNil(x.Y) && len(f.values(x.X)) > 0 {
		return // whether a function is nil
	}
	f.expr(x.X)
	right, _ := f.capture(func() { f.expr(x.Y) })
	switch {
	case len(right) == 0:
	case x.Op == token.LAND:
		f.emit(&Node{Kind: IfKind, Cases: []*Case{{When: text(x.X), Body: right}, {}}})
	case x.Op == token.LOR:
		f.emit(&Node{Kind: IfKind, Cases: []*Case{{When: not(x.X), Body: right}, {}}})
	default:
		f.out = append(f.out, right...)
	}
}

// call reads a call, and returns its node if it has one.
func (f *body) call(call *ast.CallExpr) *Node { return f.invoke(call, f.arguments(call)) }

// arguments reads what is evaluated before a call. Functions among the arguments
// are returned.
func (f *body) arguments(call *ast.CallExpr) map[int][]value {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		f.expr(fun.X)
	case *ast.Ident, *ast.FuncLit:
	default:
		if f.values(fun) == nil {
			f.expr(fun)
		}
	}
	functions := map[int][]value{}
	for i, arg := range call.Args {
		if values := f.values(arg); len(values) > 0 {
			functions[i] = values
			if method, ok := ast.Unparen(arg).(*ast.SelectorExpr); ok {
				f.expr(method.X)
			}
		} else {
			f.expr(arg)
		}
	}
	return functions
}

// invoke reads the call itself, and returns its node if it has one.
func (f *body) invoke(call *ast.CallExpr, functions map[int][]value) *Node {
	fun := ast.Unparen(call.Fun)
	if f.dead {
		return nil
	}
	if f.Info.Types[fun].IsType() { // a conversion: functions go on
		for _, values := range functions {
			f.emitMany(CallKind, "", values)
		}
		return nil
	}
	fn, _ := f.callee(fun)
	switch {
	case f.endsAll(fun, fn):
		f.emit(&Node{Kind: PanicKind, Text: text(call)})
		f.dead = true
		return nil
	case isDo(fn):
		return f.do(call)
	}
	if values := f.values(fun); len(values) > 0 {
		return f.oneOf(text(fun), values, call, functions)
	}
	kind := CallKind
	switch selected(fun) {
	case "Go", "TryGo", "AfterFunc":
		kind = GoKind
	}
	for i := range call.Args {
		if values := functions[i]; values != nil {
			if fn != nil && fn.FullName() == "(*sync.Once).Do" {
				f.oneOf("", values, nil, nil)
			} else {
				f.emitMany(kind, text(fun), values)
			}
		}
	}
	return nil
}

// selected returns the name that a called expression ends in.
func selected(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// do reads a call of restaq.Do, a step by name. What is in its function is the
// step's business.
func (f *body) do(call *ast.CallExpr) *Node {
	n := &Node{Kind: StepKind}
	if len(call.Args) > 1 {
		if name, ok := stringOf(f.Info.Types[call.Args[1]]); ok {
			n.Name = name
		} else {
			n.Text = text(call.Args[1])
		}
	}
	return f.emit(n)
}

// oneOf reads a call of one of functions, and returns its node.
func (f *body) oneOf(name string, values []value, call *ast.CallExpr, functions map[int][]value) *Node {
	if len(values) == 1 {
		return f.enter(name, values[0], call, functions)
	}
	n := &Node{Kind: SwitchKind, Text: name}
	for _, v := range values {
		c := &Case{When: v.String()}
		c.Body, _ = f.capture(func() { f.enter(name, v, call, functions) })
		n.Cases = append(n.Cases, c)
	}
	if matters(n) {
		return f.emit(n)
	}
	return nil
}

// String returns the name of a function, or what it is.
func (v value) String() string {
	switch {
	case v.step != nil:
		return v.step.name
	case v.fn != nil:
		return v.fn.Name()
	}
	return "a function"
}

// enter reads a call of a function, whose parameters stand for the functions
// among the arguments.
func (f *body) enter(name string, v value, call *ast.CallExpr, functions map[int][]value) *Node {
	if v.step != nil {
		f.called[v.step.name] = v.step.step
		return f.emit(&Node{Kind: StepKind, Name: v.step.name})
	}
	var key ast.Node
	var block *ast.BlockStmt
	var sig *types.Signature
	if v.fn != nil {
		decl := f.decls[v.fn]
		key, block, sig, name = decl, decl.Body, v.fn.Signature(), v.fn.Name()
		if !f.leads[v.fn] && len(functions) == 0 {
			return nil
		}
	} else {
		key, block = v.lit, v.lit.Body
		sig, _ = f.Info.TypeOf(v.lit).(*types.Signature)
		if call != nil && ast.Unparen(call.Fun) == v.lit {
			name = ""
		}
	}
	if sig == nil {
		return nil
	}
	for _, under := range f.active {
		if under == key {
			return f.emit(&Node{Kind: AgainKind, Name: name})
		}
	}
	if f.size > limit {
		return f.emit(&Node{Kind: CallKind, Name: name, Text: tooLarge})
	}
	f.size++
	was := map[*types.Var][]value{}
	if call != nil {
		was = f.bind(sig, call, functions)
	}
	nodes := f.function(key, block, sig)
	for p, values := range was {
		f.bound[p] = values
		if values == nil {
			delete(f.bound, p)
		}
	}
	if !hasStep(nodes) {
		return nil
	}
	return f.emit(&Node{Kind: CallKind, Name: name, Body: nodes})
}

// hasStep reports whether nodes hold more than early returns: a function that
// only decides something is no part of the graph.
func hasStep(nodes []*Node) bool {
	found := false
	each(nodes, func(n *Node) { found = found || n.Kind == StepKind || n.Kind == AgainKind || n.Text == tooLarge })
	return found
}

// bind lets the parameters of a function stand for the functions among a call's
// arguments, and returns what they stood for before.
func (f *body) bind(sig *types.Signature, call *ast.CallExpr, functions map[int][]value) map[*types.Var][]value {
	was := map[*types.Var][]value{}
	params := sig.Params()
	for i := range call.Args {
		if i >= params.Len() || sig.Variadic() && i >= params.Len()-1 {
			break
		}
		if _, ok := params.At(i).Type().Underlying().(*types.Signature); ok {
			was[params.At(i)] = f.bound[params.At(i)]
			f.bound[params.At(i)] = functions[i]
		}
	}
	return was
}

// tooLarge stands in the place of a body.
const tooLarge = "too large to show"

// emitMany reads functions that are handed to name: what they do may be done any
// number of times, or concurrently.
func (f *body) emitMany(kind Kind, name string, values []value) {
	for _, v := range values {
		nodes, _ := f.capture(func() { f.enter("", v, nil, nil) })
		if len(nodes) == 1 && nodes[0].Kind == CallKind && nodes[0].Name == "" {
			nodes = nodes[0].Body
		}
		if hasStep(nodes) {
			f.emit(&Node{Kind: kind, Name: name, Many: kind == CallKind, Body: nodes})
		}
	}
}

// endsAll reports whether a call ends the handler or the process.
func (f *body) endsAll(fun ast.Expr, fn *types.Func) bool {
	if id, ok := fun.(*ast.Ident); ok {
		builtin, ok := f.Info.Uses[id].(*types.Builtin)
		return ok && builtin.Name() == "panic"
	}
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return false
	}
	switch fn.Pkg().Path() + "." + fn.Name() {
	case "os.Exit", "runtime.Goexit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln":
		return true
	}
	return false
}
