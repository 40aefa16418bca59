package nondeterminism

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/restaq/restaq/checks/internal/known"
	"github.com/restaq/restaq/checks/internal/marked"
)

// other returns what the results of a call depend on that is neither a step nor
// one of the runtime.
func (f *function) other(call *ast.CallExpr, fn *types.Func) outcome {
	fun := ast.Unparen(call.Fun)
	receiver := f.receiver(fun)
	args := make([]labels, len(call.Args))
	all := receiver
	for i, x := range call.Args {
		args[i] = f.input(x)
		all |= args[i]
	}
	switch {
	case known.Differs(fn):
		l := all | f.differing(call, known.Name(fn))
		if fn.Name() == "Read" && len(call.Args) > 0 {
			f.into(call.Args[0], l)
		}
		return outcome{l, all}
	case known.Waits(fn):
		f.fault(call, fault{What: "waits outside a step, or starts what runs beside it", Through: []string{known.Name(fn)}, Hint: "do it in a step; a wait that a step's failure asks for is restaq.RetryAfter"})
		l := all | f.differing(call, known.Name(fn))
		return outcome{l, all}
	case known.Guards(fn):
		if f.handler {
			f.fault(call, fault{What: "guards by a lock what other attempts change", Through: []string{known.Name(fn)}, Hint: "do it in a step"})
		} else {
			f.guarded |= f.differing(call, known.Name(fn))
		}
		return outcome{all, all}
	case known.Sorts(fn) && len(call.Args) > 0:
		f.sorts(call.Args[0])
		return outcome{}
	case known.Sorted(fn):
		return outcome{all &^ f.ordersOnly(), 0}
	case known.InMapOrder(fn):
		all |= f.source(source{at: call, names: []string{known.Name(fn)}, order: true})
		return outcome{all, all}
	}
	return f.unknown(call, fn, receiver, args, all)
}

// differing returns the label of a call whose own name is that of what differs.
func (f *function) differing(call *ast.CallExpr, name string) labels {
	return f.source(source{at: call, names: []string{name}, what: name})
}

// sorts takes the order off what a variable depends on.
func (f *function) sorts(x ast.Expr) {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && len(call.Args) == 1 { // as in sort.Sort(byName(list))
		x = call.Args[0]
	}
	at, _, ok := f.local(x)
	if !ok {
		return
	}
	orders := f.ordersOnly()
	for p := range f.now {
		if p.v == at.v && (at.field == nil || p.field == nil || p.field == at.field) {
			f.now[p] &^= orders
		}
	}
}

// unknown returns what the results of a function that is in no table depend on. A
// function of the module was looked into; of another it is taken to be all that it
// is given.
func (f *function) unknown(call *ast.CallExpr, fn *types.Func, receiver labels, args []labels, all labels) outcome {
	if !f.lookedInto(fn) {
		f.outputs(call, all)
		return outcome{all, all}
	}
	b := f.check.behaviour(fn)
	name := f.nameOf(fn)
	source := func(names []string) labels {
		if names == nil {
			return 0
		}
		last := names[len(names)-1]
		return f.source(source{at: call, names: append([]string{name}, names...), what: last, order: last == mapRange || strings.HasPrefix(last, "maps.")})
	}
	for _, found := range b.Faults {
		found.Through = append([]string{name}, found.Through...)
		f.fault(call, found)
	}
	of := func(params []int) labels {
		var l labels
		for _, param := range params {
			l |= argument(fn, receiver, args, param)
		}
		return l
	}
	for _, t := range b.Takes {
		f.reaches(argument(fn, receiver, args, t.Param), t.For)
	}
	for _, g := range b.Gives {
		l := source(g.Through) | of(g.From)
		if selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && g.Param < 0 {
			f.into(selector.X, l)
		} else if g.Param >= 0 && g.Param < len(call.Args) {
			f.into(call.Args[g.Param], l)
		}
	}
	return outcome{source(b.Value) | of(b.FromValue), source(b.Err) | of(b.FromErr)}
}

// argument returns what the arguments for a parameter depend on.
func argument(fn *types.Func, receiver labels, args []labels, param int) labels {
	if param < 0 {
		return receiver
	}
	var l labels
	for i := range args {
		if min(i, fn.Signature().Params().Len()-1) == param {
			l |= args[i]
		}
	}
	return l
}

// lookedInto reports whether a function has a body that this check has looked
// into, here or in another package of the module.
func (f *function) lookedInto(fn *types.Func) bool {
	if f.pkg.Decls[fn] != nil {
		return true
	}
	if fn.Pkg() == nil {
		return false
	}
	if fn.Pkg() == f.pass.Pkg || f.pass.Module == nil || f.pass.Module.Path == "" {
		return f.pass.ImportObjectFact(fn, new(behaviour))
	}
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return false
	}
	importPath, module := fn.Pkg().Path(), f.pass.Module.Path
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// outputs makes what a function can write through depend on all that it is given:
// its receiver, and what it is given the address of.
func (f *function) outputs(call *ast.CallExpr, all labels) {
	for _, x := range call.Args {
		if isBuffer(f.typeOf(x)) {
			f.into(x, all|f.orders)
		} else if address, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && address.Op == token.AND {
			f.into(x, all)
		}
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || f.pass.TypesInfo.Selections[selector] == nil {
		return
	}
	l := all
	if isBuffer(f.typeOf(selector.X)) {
		l |= f.orders
	}
	f.into(selector.X, l)
}

// isBuffer reports whether what is written into a value of type t stays in the
// order in which it was written.
func isBuffer(t types.Type) bool {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		t = pointer.Elem()
	}
	return marked.IsNamed(t, "strings", "Builder") || marked.IsNamed(t, "bytes", "Buffer") || marked.IsNamed(t, "hash", "Hash")
}

// nameOf names a function as the package does.
func (f *function) nameOf(fn *types.Func) string {
	if fn.Pkg() == nil || fn.Pkg() == f.pass.Pkg {
		return marked.Name(fn)
	}
	return known.Name(fn)
}
