package calls

import (
	"go/ast"
	"go/types"
	"slices"
)

// expr returns the state behind the evaluation of an expression. A function
// value that is neither called nor handed to a call is taken to be called often.
func (w *walker) expr(x ast.Expr, st state) state {
	if x == nil || st == nil {
		return st
	}
	if calls, ok := w.value(x); ok {
		return w.apply(st, calls, x.Pos(), "part of a function value that may be called more than once, at "+w.where(x.Pos()))
	}
	switch x := x.(type) {
	case *ast.CallExpr:
		return w.call(x, st)
	case *ast.ParenExpr:
		return w.expr(x.X, st)
	case *ast.SelectorExpr:
		return w.expr(x.X, st)
	case *ast.StarExpr:
		return w.expr(x.X, st)
	case *ast.UnaryExpr:
		return w.expr(x.X, st)
	case *ast.TypeAssertExpr:
		return w.expr(x.X, st)
	case *ast.BinaryExpr:
		return w.expr(x.Y, w.expr(x.X, st))
	case *ast.IndexExpr:
		return w.expr(x.Index, w.expr(x.X, st))
	case *ast.SliceExpr:
		return w.expr(x.Max, w.expr(x.High, w.expr(x.Low, w.expr(x.X, st))))
	case *ast.KeyValueExpr:
		return w.expr(x.Value, w.expr(x.Key, st))
	case *ast.CompositeLit:
		for _, element := range x.Elts {
			st = w.expr(element, st)
		}
	}
	return st
}

// value returns what one call of a function value comes to. It reports whether
// x is such a value and anything is known of it.
func (w *walker) value(x ast.Expr) (state, bool) {
	x = ast.Unparen(x)
	switch v := x.(type) {
	case *ast.FuncLit:
		return w.summarize(v, v.Body, "a function literal"), true
	case *ast.Ident:
		obj, ok := w.pkg.Info.Uses[v].(*types.Var)
		if !ok {
			break
		}
		if held := w.held(obj); len(held) > 0 {
			return w.heldBy(obj, held), true
		}
		if _, ok := obj.Type().Underlying().(*types.Signature); ok && obj.Kind() == types.ParamVar {
			return state{obj: {pos: v.Pos()}}, true
		}
		return nil, false
	case *ast.SelectorExpr:
	default:
		return nil, false
	}
	fn, step := w.target(x)
	switch {
	case step != nil:
		return w.wrapper(state{}, step, x), true
	case fn != nil && w.decls[fn] != nil && !w.handlers[fn]:
		return w.summary(fn), true
	}
	return nil, false
}

// wrapper returns st after a call of a step's wrapper, which may run the step's
// function.
func (w *walker) wrapper(st state, step *Step, at ast.Expr) state {
	st = w.add(st, step, count{pos: at.Pos()}, at.Pos())
	st = w.apply(st, w.summary(step.Func), at.Pos(), "")
	return st
}

// call returns the state behind a call.
func (w *walker) call(call *ast.CallExpr, st state) state {
	fun := ast.Unparen(call.Fun)
	if selector, ok := fun.(*ast.SelectorExpr); ok {
		st = w.expr(selector.X, st)
	}
	values := map[int]state{} // of the arguments that are functions
	for i, arg := range call.Args {
		if calls, ok := w.value(arg); ok {
			values[i] = calls
		} else {
			st = w.expr(arg, st)
		}
	}
	if w.pkg.Info.Types[fun].IsType() { // a conversion: the value goes on
		for i, calls := range values {
			return w.apply(st, calls, call.Args[i].Pos(), "part of a function value that may be called more than once, at "+w.where(call.Pos()))
		}
		return st
	}
	fn, step := w.target(fun)
	switch {
	case step != nil:
		st = w.wrapper(st, step, call)
	case fn != nil && w.decls[fn] != nil:
		if w.handlers[fn] && !w.inside { // a run of its own: nothing adds up
			return st
		}
		return w.callFunction(call, fn, values, st)
	default:
		if calls, ok := w.value(fun); ok {
			st = w.apply(st, calls, call.Pos(), "")
		}
	}
	for i := range call.Args {
		if calls, ok := values[i]; ok {
			st = w.apply(st, calls, call.Args[i].Pos(), w.handedOn(fn, call))
		}
	}
	return st
}

// callFunction returns the state behind a call of a function of the package,
// whose parameters of function type stand for the arguments.
func (w *walker) callFunction(call *ast.CallExpr, fn *types.Func, values map[int]state, st state) state {
	calls := w.summary(fn)
	params := fn.Signature().Params()
	for _, what := range inOrder(calls) {
		v, isParam := what.(*types.Var)
		if !isParam {
			st = w.add(st, what, calls[what], call.Pos())
			continue
		}
		for i := range call.Args {
			argument, ok := values[i]
			if !ok || params.At(min(i, params.Len()-1)) != v {
				continue
			}
			why := ""
			if calls[what].many {
				why = "handed to " + fn.Name() + " as a function that is " + calls[what].why
			}
			st = w.apply(st, argument, call.Args[i].Pos(), why)
		}
	}
	return st
}

// handedOn says why a function that is handed to one outside the package counts
// as called often, "" if it is called once.
func (w *walker) handedOn(fn *types.Func, call *ast.CallExpr) string {
	name := ""
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	}
	if slices.Contains([]string{"Go", "TryGo", "AfterFunc"}, name) {
		return "called concurrently, at " + w.where(call.Pos())
	}
	if fn != nil && fn.Pkg() != nil && slices.Contains([]string{"sync.Do", runtime + ".Do"}, fn.Pkg().Path()+"."+fn.Name()) {
		return ""
	}
	return "part of a function handed to " + name + ", which may call it more than once, at " + w.where(call.Pos())
}

// endsPath reports whether a call never returns.
func (w *walker) endsPath(call *ast.CallExpr) bool {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		builtin, ok := w.pkg.Info.Uses[fun].(*types.Builtin)
		return ok && builtin.Name() == "panic"
	case *ast.SelectorExpr:
		fn, ok := w.pkg.Info.Uses[fun.Sel].(*types.Func)
		return ok && fn.Pkg() != nil && slices.Contains([]string{
			"os.Exit", "runtime.Goexit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln",
		}, fn.Pkg().Path()+"."+fn.Name())
	}
	return false
}
