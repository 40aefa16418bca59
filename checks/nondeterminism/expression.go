package nondeterminism

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/restaq/restaq/checks/internal/known"
	"github.com/restaq/restaq/checks/internal/marked"
)

// value returns what an expression depends on. Contexts depend on nothing: they
// are the runtime's.
func (f *function) value(x ast.Expr) labels {
	switch x := x.(type) {
	case nil:
		return 0
	case *ast.Ident:
		return f.named(x, x)
	case *ast.SelectorExpr:
		return f.selected(x)
	case *ast.CallExpr:
		result := f.call(x)
		if isError(f.typeOf(x)) {
			return result.err
		}
		return result.value
	case *ast.FuncLit:
		return f.literal(x)
	case *ast.ParenExpr:
		return f.value(x.X)
	case *ast.StarExpr:
		return f.value(x.X)
	case *ast.TypeAssertExpr:
		return f.value(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.ARROW && !f.isDone(x.X) {
			f.channel(x, "channel receive")
			return f.value(x.X) | f.source(source{at: x, names: []string{"channel receive"}, what: "what a channel receives"})
		}
		return f.value(x.X)
	case *ast.BinaryExpr:
		return f.value(x.X) | f.value(x.Y)
	case *ast.IndexExpr:
		return f.value(x.X) | f.value(x.Index)
	case *ast.SliceExpr:
		return f.value(x.X) | f.value(x.Low) | f.value(x.High) | f.value(x.Max)
	case *ast.KeyValueExpr:
		if f.isField(x.Key) {
			return f.value(x.Value)
		}
		return f.value(x.Key) | f.value(x.Value)
	case *ast.CompositeLit:
		var l labels
		for _, element := range x.Elts {
			l |= f.value(element)
		}
		return l
	}
	return 0
}

// isField reports whether a key names a field.
func (f *function) isField(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := f.pass.TypesInfo.Uses[id].(*types.Var)
	return ok && v.IsField()
}

// named returns what the variable of a name depends on; at is the whole mention.
func (f *function) named(id *ast.Ident, at ast.Expr) labels {
	v, ok := f.pass.TypesInfo.Uses[id].(*types.Var)
	if !ok || isContext(v.Type()) {
		return 0
	}
	if v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return f.now.of(v)
	}
	switch {
	case v.Pkg().Path() == "crypto/rand" && v.Name() == "Reader":
		return f.source(source{at: at, names: []string{"rand.Reader"}, what: "rand.Reader"})
	case f.isAssigned(v):
		name := v.Name()
		if v.Pkg() != f.pass.Pkg {
			name = v.Pkg().Name() + "." + name
		}
		return f.source(source{at: at, names: []string{"variable " + name}, what: "variable " + name})
	}
	return 0
}

// selected returns what x.f depends on.
func (f *function) selected(x *ast.SelectorExpr) labels {
	if id, ok := x.X.(*ast.Ident); ok {
		if _, ok := f.pass.TypesInfo.Uses[id].(*types.PkgName); ok {
			return f.named(x.Sel, x)
		}
	}
	if isContext(f.typeOf(x)) {
		return 0
	}
	if at, _, ok := f.local(x); ok && at.field != nil && at.field.IsField() {
		f.indices(x.X)
		return f.now.field(at.v, at.field)
	}
	return f.value(x.X)
}

// indices looks at what is evaluated on the way to a field: calls and indices.
func (f *function) indices(x ast.Expr) {
	switch x := ast.Unparen(x).(type) {
	case *ast.IndexExpr:
		f.value(x.Index)
		f.indices(x.X)
	case *ast.SelectorExpr:
		f.indices(x.X)
	case *ast.StarExpr:
		f.indices(x.X)
	}
}

// literal looks into a function literal, which may be called right there or later,
// and returns what its results depend on.
func (f *function) literal(x *ast.FuncLit) labels {
	var own outcome
	outer, loops := f.results, f.loops
	f.results, f.loops = &own, nil
	before := f.now.clone()
	f.block(x.Body.List)
	f.now.join(before)
	f.results, f.loops = outer, loops
	return own.value | own.err
}

// call returns what the results of a call depend on.
func (f *function) call(call *ast.CallExpr) outcome {
	fun := ast.Unparen(call.Fun)
	if f.pass.TypesInfo.Types[fun].IsType() {
		l := f.arguments(call)
		return outcome{l, l}
	}
	if id, ok := fun.(*ast.Ident); ok {
		if b, ok := f.pass.TypesInfo.Uses[id].(*types.Builtin); ok {
			return f.builtin(b.Name(), call)
		}
	}
	fn := f.pkg.Callee(call)
	if fn == nil {
		l := f.value(fun) | f.arguments(call)
		return outcome{l, l}
	}
	if s := f.pkg.WrapperOf(fn); s != nil {
		f.receiver(fun)
		for _, x := range call.Args {
			f.reaches(f.input(x), "reaches the input of "+s.String())
		}
		return outcome{}
	}
	switch {
	case f.pkg.IsDo(call):
		return f.do(call)
	case f.pkg.StepOf(fn) != nil, known.Telemetry(fn), fn.Pkg() != nil && fn.Pkg().Path() == marked.Runtime:
		f.receiver(fun)
		f.arguments(call)
		return outcome{}
	}
	return f.other(call, fn)
}

// input returns what an argument of a step depends on.
func (f *function) input(x ast.Expr) labels {
	if isContext(f.typeOf(x)) {
		return 0
	}
	return f.value(x)
}

// receiver returns what the receiver of a method depends on.
func (f *function) receiver(fun ast.Expr) labels {
	if selector, ok := fun.(*ast.SelectorExpr); ok && f.pass.TypesInfo.Selections[selector] != nil {
		if isContext(f.typeOf(selector.X)) {
			return 0
		}
		return f.value(selector.X)
	}
	return 0
}

func (f *function) arguments(call *ast.CallExpr) labels {
	var l labels
	for _, x := range call.Args {
		l |= f.input(x)
	}
	return l
}

// do looks at a call of restaq.Do: its name, and the variables that its function
// sees, are what goes into the step.
func (f *function) do(call *ast.CallExpr) outcome {
	if len(call.Args) != 3 {
		return outcome{}
	}
	f.reaches(f.value(call.Args[1]), "reaches the name of a step of restaq.Do")
	var l labels
	if lit, ok := ast.Unparen(call.Args[2]).(*ast.FuncLit); ok {
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if at, _, ok := f.local(n); ok && at.field != nil && at.field.IsField() {
					l |= f.now.field(at.v, at.field)
					return false
				}
			case *ast.Ident:
				if v, ok := f.pass.TypesInfo.Uses[n].(*types.Var); ok && !v.IsField() && !isContext(v.Type()) {
					l |= f.now.of(v)
				}
			}
			return true
		})
	} else {
		l = f.value(call.Args[2])
	}
	f.reaches(l, "reaches a step of restaq.Do")
	return outcome{}
}

// builtin returns what a builtin function's result depends on.
func (f *function) builtin(name string, call *ast.CallExpr) outcome {
	l := f.arguments(call)
	switch name {
	case "append":
		l |= f.orders
	case "len", "cap":
		l &^= f.ordersOnly()
	case "copy":
		f.into(call.Args[0], l)
	}
	return outcome{l, l}
}

// into makes what an argument points to depend on l.
func (f *function) into(x ast.Expr, l labels) {
	x = ast.Unparen(x)
	if address, ok := x.(*ast.UnaryExpr); ok && address.Op == token.AND {
		x = address.X
	}
	if at, _, ok := f.local(x); ok && l != 0 {
		f.weaken(at, l)
	}
}
