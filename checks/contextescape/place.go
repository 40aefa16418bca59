package contextescape

import (
	"go/ast"
	"go/types"
)

// place is where something is stored.
type place struct {
	local *types.Var // the local variable that it is or is part of, or nil
	into  int        // the parameter that it belongs to, or outside, where local is nil
	known bool
}

func (p place) outside() bool { return p.known && p.local == nil }

// root returns where a value goes that is assigned to an expression.
func (t *trace) root(x ast.Expr) place {
	v, through := t.base(x)
	if v == nil {
		return place{}
	}
	if t.isLocal(v) {
		if into, ok := t.origins[v]; ok && through {
			return place{into: into, known: true}
		}
		return place{local: v, known: true}
	}
	if i, ok := t.param(v); ok {
		if through {
			return place{into: i, known: true}
		}
		return place{local: v, known: true} // the function's own copy
	}
	return place{into: outside, known: true}
}

// base returns the variable that an expression begins with, and whether the way
// from it goes through a pointer, a map or a slice; nil if it begins with none.
func (t *trace) base(x ast.Expr) (v *types.Var, through bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return t.variable(x), false
	case *ast.SelectorExpr:
		selection := t.pass.TypesInfo.Selections[x]
		if selection == nil { // of a package
			return t.variable(x.Sel), false
		}
		v, through = t.base(x.X)
		return v, through || selection.Indirect()
	case *ast.IndexExpr:
		v, through = t.base(x.X)
		if typ := t.typeOf(x.X); typ != nil {
			_, isArray := typ.Underlying().(*types.Array)
			through = through || !isArray
		}
		return v, through
	case *ast.StarExpr:
		v, _ = t.base(x.X)
		return v, true
	case *ast.SliceExpr:
		return t.base(x.X)
	case *ast.TypeAssertExpr:
		return t.base(x.X)
	}
	return nil, false
}

func (t *trace) variable(id *ast.Ident) *types.Var {
	v, _ := t.pass.TypesInfo.ObjectOf(id).(*types.Var)
	return v
}

// isLocal reports whether a variable is declared in the function's body.
func (t *trace) isLocal(v *types.Var) bool {
	return t.body.Pos() <= v.Pos() && v.Pos() <= t.body.End() && !v.IsField()
}

// param returns the number of a parameter, receiver for that.
func (t *trace) param(v *types.Var) (int, bool) {
	if v == t.sig.Recv() {
		return receiver, true
	}
	for i := range t.sig.Params().Len() {
		if t.sig.Params().At(i) == v {
			return i, true
		}
	}
	return 0, false
}
