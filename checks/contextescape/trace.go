package contextescape

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// kind is a kind of escape.
type kind int

const (
	stored     kind = iota // in a field or a variable
	sent                   // on a channel
	concurrent             // in a goroutine that nobody waits for
	later                  // in a function that a timer calls
)

// says is what the context does, behind "its context".
func (k kind) says(what string) string {
	switch k {
	case sent:
		return "is sent on the channel " + what
	case concurrent:
		return "is used by a goroutine that it does not wait for"
	case later:
		return "is used by a function that " + what + " calls later"
	}
	return "is stored in " + what + ", which outlives it"
}

// hint says what to do about it.
func (k kind) hint() string {
	switch k {
	case concurrent, later:
		return "wait for it before the step returns; what is to go on behind the step takes context.WithoutCancel(ctx)"
	case sent:
		return "send what is to be done without the context, or wait for it"
	}
	return "hand it to what needs it as a parameter"
}

// escape is a place where a context gets out of a function.
type escape struct {
	at    ast.Node
	into  int // as in route
	kind  kind
	what  string
	chain []string
}

// trace follows one parameter through a function.
type trace struct {
	*check
	sig  *types.Signature
	body *ast.BlockStmt

	held    map[*types.Var]bool // local variables that hold the parameter
	origins map[*types.Var]int  // local variables that point into a parameter, or outside
	changed bool
}

func newTrace(c *check, sig *types.Signature, body *ast.BlockStmt, param *types.Var) *trace {
	return &trace{check: c, sig: sig, body: body, held: map[*types.Var]bool{param: true}, origins: map[*types.Var]int{}}
}

// follow calls found for each escape, in source order.
func (t *trace) follow(found func(escape)) {
	for t.changed = true; t.changed; {
		t.changed = false
		ast.Inspect(t.body, func(n ast.Node) bool { t.node(n, func(escape) {}); return true })
	}
	ast.Inspect(t.body, func(n ast.Node) bool { t.node(n, found); return true })
}

// node takes in what one node does.
func (t *trace) node(n ast.Node, found func(escape)) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		t.assign(n.Lhs, n.Rhs, found)
	case *ast.ValueSpec:
		names := make([]ast.Expr, len(n.Names))
		for i, name := range n.Names {
			names[i] = name
		}
		t.assign(names, n.Values, found)
	case *ast.SendStmt:
		if _, shared := t.pointsInto(n.Chan); t.holds(n.Value) && (shared || !t.waits()) {
			found(escape{at: n, into: outside, kind: sent, what: types.ExprString(n.Chan)})
		}
	case *ast.GoStmt:
		if t.used(n.Call) && !t.waits() {
			found(escape{at: n, into: outside, kind: concurrent})
		}
	case *ast.CallExpr:
		t.call(n, found)
	case *ast.ReturnStmt:
		for _, x := range n.Results {
			if t.holds(x) && !isContext(t.typeOf(x)) {
				found(escape{at: n, into: returned, kind: stored})
			}
		}
	}
}

// assign takes in an assignment.
func (t *trace) assign(lhs, rhs []ast.Expr, found func(escape)) {
	for i, to := range lhs {
		switch {
		case len(rhs) == len(lhs):
			if t.holds(rhs[i]) {
				t.store(to, to, stored, types.ExprString(to), nil, found)
			}
			t.point(to, rhs[i])
		case len(rhs) == 1 && t.holds(rhs[0]) && t.carries(t.typeOf(to)):
			t.store(to, to, stored, types.ExprString(to), nil, found)
		}
	}
}

// carries reports whether a value of type typ, one of several that a call has made
// of a context, is a context.
func (t *trace) carries(typ types.Type) bool { return typ != nil && isContext(typ) }

// store takes in that what an expression names has got the context.
func (t *trace) store(to ast.Expr, at ast.Node, k kind, what string, chain []string, found func(escape)) {
	r := t.root(to)
	if r.outside() {
		found(escape{at, r.into, k, what, chain})
	} else if r.local != nil && !t.held[r.local] {
		t.held[r.local] = true
		t.changed = true
	}
}

// point takes in that a local variable may point into a parameter, or outside.
func (t *trace) point(to, from ast.Expr) {
	id, ok := ast.Unparen(to).(*ast.Ident)
	if !ok {
		return
	}
	v := t.variable(id)
	if v == nil || !t.isLocal(v) || !pointing(v.Type()) {
		return
	}
	from = ast.Unparen(from)
	if address, ok := from.(*ast.UnaryExpr); ok && address.Op == token.AND {
		from = ast.Unparen(address.X)
	}
	switch from.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr, *ast.SliceExpr, *ast.TypeAssertExpr:
	default:
		return
	}
	into, known := t.pointsInto(from)
	if _, is := t.origins[v]; known && !is {
		t.origins[v] = into
		t.changed = true
	}
}

// pointsInto returns the parameter that the value of an expression points into, or
// outside. It reports whether it does at all.
func (t *trace) pointsInto(x ast.Expr) (int, bool) {
	v, _ := t.base(x)
	switch {
	case v == nil:
		return 0, false
	case t.isLocal(v):
		into, ok := t.origins[v]
		return into, ok
	}
	if i, ok := t.param(v); ok {
		return i, true
	}
	return outside, true
}

// pointing reports whether what has a type shares what it refers to with its
// copies.
func pointing(typ types.Type) bool {
	switch typ.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice, *types.Chan, *types.Interface:
		return true
	}
	return false
}

// call takes in a call.
func (t *trace) call(call *ast.CallExpr, found func(escape)) {
	fn := t.pkg.Callee(call)
	if fn == nil {
		return
	}
	hasReceiver := fn.Signature().Recv() != nil
	path := ""
	if fn.Pkg() != nil {
		path = fn.Pkg().Path()
	}
	switch {
	case hasReceiver && (fn.Name() == "Go" || fn.Name() == "TryGo") && slices.ContainsFunc(call.Args, t.holds):
		if !t.waits() {
			found(escape{at: call, into: outside, kind: concurrent})
		}
		return
	case path == "time" && fn.Name() == "AfterFunc" && len(call.Args) == 2 && t.holds(call.Args[1]):
		found(escape{at: call, into: outside, kind: later, what: "time.AfterFunc"})
		return
	}
	for _, e := range t.of(fn) {
		if e.Into == returned || e.Param >= len(call.Args) || !t.holds(call.Args[e.Param]) {
			continue
		}
		switch {
		case e.Into == outside:
			found(escape{call, outside, e.Kind, e.What, e.Chain})
		case e.Into == receiver:
			if selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
				t.into(selector.X, call, e, found)
			}
		case e.Into < len(call.Args):
			t.into(call.Args[e.Into], call, e, found)
		}
	}
}

// into takes in that a call stores the context in what x points to.
func (t *trace) into(x ast.Expr, call *ast.CallExpr, e route, found func(escape)) {
	if address, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && address.Op == token.AND {
		x = address.X
	}
	v, _ := t.base(x)
	if into, ok := t.pointsInto(x); ok {
		found(escape{call, into, e.Kind, e.What, e.Chain})
	} else if v != nil && !t.held[v] {
		t.held[v] = true
		t.changed = true
	}
}

// holds reports whether the value of an expression is the context, one made of it,
// or has it in it.
func (t *trace) holds(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return t.held[t.variable(x)]
	case *ast.UnaryExpr:
		return x.Op == token.AND && t.holds(x.X)
	case *ast.StarExpr:
		return t.holds(x.X)
	case *ast.CompositeLit:
		for _, element := range x.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				element = pair.Value
			}
			if t.holds(element) {
				return true
			}
		}
	case *ast.FuncLit:
		return t.used(x.Body)
	case *ast.SelectorExpr:
		return t.holds(x.X) && isContext(t.typeOf(x))
	case *ast.IndexExpr:
		return t.holds(x.X) && isContext(t.typeOf(x))
	case *ast.TypeAssertExpr:
		return t.holds(x.X)
	case *ast.CallExpr:
		return t.makes(x)
	}
	return false
}

// makes reports whether what a call returns has the context in it: it is a context,
// or the function is one of the module that returns what it is given.
func (t *trace) makes(call *ast.CallExpr) bool {
	if t.pass.TypesInfo.Types[call.Fun].IsType() {
		return len(call.Args) == 1 && t.holds(call.Args[0])
	}
	given := slices.IndexFunc(call.Args, t.holds)
	if given < 0 {
		return false
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if builtin, ok := t.pass.TypesInfo.Uses[id].(*types.Builtin); ok {
			return builtin.Name() == "append"
		}
	}
	fn := t.pkg.Callee(call)
	if fn == nil {
		return false
	}
	if fn.Pkg() != nil && fn.Pkg().Path() == "context" && fn.Name() == "WithoutCancel" {
		return false // it is to outlive the step, on purpose
	}
	for _, e := range t.of(fn) {
		if e.Into == returned && e.Param < len(call.Args) && t.holds(call.Args[e.Param]) {
			return true
		}
	}
	results := fn.Signature().Results()
	for result := range results.Variables() {
		if isContext(result.Type()) {
			return true
		}
	}
	return false
}

// used reports whether anything under a node names what holds the context, other
// than to make one of it that may outlive it.
func (t *trace) used(root ast.Node) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if fn := t.pkg.Callee(n); fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "context" && fn.Name() == "WithoutCancel" {
				return false
			}
		case *ast.Ident:
			found = found || t.held[t.variable(n)]
		}
		return !found
	})
	return found
}

// waits reports whether the function waits for something: it calls a method Wait,
// or receives from a channel that is no timer's and no context's. For what, is not
// looked into.
func (t *trace) waits() bool {
	found := false
	ast.Inspect(t.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.UnaryExpr:
			if _, isCall := ast.Unparen(n.X).(*ast.CallExpr); n.Op == token.ARROW && !isCall {
				found = true
			}
		case *ast.RangeStmt:
			if typ := t.typeOf(n.X); typ != nil {
				_, isChan := typ.Underlying().(*types.Chan)
				found = found || isChan
			}
		case *ast.CallExpr:
			if fn := t.pkg.Callee(n); fn != nil && fn.Signature().Recv() != nil && fn.Name() == "Wait" {
				found = true
			}
		}
		return !found
	})
	return found
}

func (t *trace) typeOf(x ast.Expr) types.Type { return t.pass.TypesInfo.TypeOf(x) }
