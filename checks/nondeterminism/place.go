package nondeterminism

import (
	"go/ast"
	"go/types"
	"maps"
)

// place is where a value is kept: in a variable, or, if field is not nil, in that
// field of one, or behind it.
type place struct {
	v     *types.Var
	field *types.Var
}

// places says what the values depend on that are kept in places.
type places map[place]labels

// of returns what a variable with all that it holds depends on.
func (p places) of(v *types.Var) labels {
	l := p[place{v, nil}]
	for at, more := range p {
		if at.v == v {
			l |= more
		}
	}
	return l
}

// field returns what a field of a variable depends on.
func (p places) field(v, field *types.Var) labels { return p[place{v, nil}] | p[place{v, field}] }

// set makes a variable depend on l alone.
func (p places) set(v *types.Var, l labels) {
	for at := range p {
		if at.v == v {
			delete(p, at)
		}
	}
	if l != 0 {
		p[place{v, nil}] = l
	}
}

// add makes a place depend on l, too.
func (p places) add(at place, l labels) {
	if l != 0 {
		p[at] |= l
	}
}

// join adds what the places of another path depend on.
func (p places) join(other places) {
	for at, l := range other {
		p[at] |= l
	}
}

func (p places) clone() places { return maps.Clone(p) }

// local returns the place that an expression is, and whether it is one that is
// kept in a local variable or parameter. Whole says that it is the variable itself.
func (f *function) local(x ast.Expr) (at place, whole, ok bool) {
	id, isIdent := f.rootOf(x).(*ast.Ident)
	if !isIdent {
		return place{}, false, false
	}
	v, isVar := f.pass.TypesInfo.ObjectOf(id).(*types.Var)
	if !isVar || v.IsField() || v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return place{}, false, false
	}
	at.v = v
	for y := ast.Unparen(x); ; {
		switch e := y.(type) {
		case *ast.SelectorExpr:
			at.field, _ = f.pass.TypesInfo.ObjectOf(e.Sel).(*types.Var)
			y = ast.Unparen(e.X)
			continue
		case *ast.IndexExpr:
			y = ast.Unparen(e.X)
			continue
		case *ast.SliceExpr:
			y = ast.Unparen(e.X)
			continue
		case *ast.StarExpr:
			y = ast.Unparen(e.X)
			continue
		}
		return at, ast.Unparen(x) == ast.Expr(id), true
	}
}

// assign makes what an expression names depend on l.
func (f *function) assign(x ast.Expr, l labels) {
	l |= f.control
	at, whole, ok := f.local(x)
	switch {
	case !ok:
		return
	case whole:
		f.now.set(at.v, l)
	default:
		f.weaken(at, l)
	}
}

// weaken makes a place depend on l as well as on what it did. What is written
// behind a parameter the caller has, too.
func (f *function) weaken(at place, l labels) {
	f.now.add(at, l)
	if i, ok := f.params[at.v]; ok {
		f.gives[f.sources[i].param] |= l
	}
}
