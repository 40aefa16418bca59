package shape

import (
	"cmp"
	"go/types"
	"slices"
	"strings"
)

// Guarded returns the named types below the given ones whose declarations
// decide what they look like as JSON, and which the package from can write out:
// they are declared in a package that inModule says is the user's, and every
// name in their declarations can be used in from. They are in the order of
// their names, from's own first. The types in also are among them.
func Guarded(from *types.Package, inModule func(*types.Package) bool, roots []types.Type, also []*types.Named) []*types.Named {
	w := walker{from: from, inModule: inModule, found: map[string]*types.Named{}, seen: map[string]bool{}}
	for _, t := range roots {
		w.walk(t)
	}
	for _, t := range also {
		w.found[types.TypeString(t, nil)] = t
	}
	guarded := make([]*types.Named, 0, len(w.found))
	for _, t := range w.found {
		guarded = append(guarded, t)
	}
	name := func(t *types.Named) string { return types.TypeString(t, types.RelativeTo(from)) }
	slices.SortFunc(guarded, func(a, b *types.Named) int {
		return cmp.Or(
			cmp.Compare(b2i(a.Obj().Pkg() != from), b2i(b.Obj().Pkg() != from)),
			cmp.Compare(name(a), name(b)),
		)
	})
	return guarded
}

// Expands reports whether from can write out what an alias stands for, and the
// alias is declared in a package that inModule says is the user's.
func Expands(from *types.Package, inModule func(*types.Package) bool, t *types.Alias) bool {
	pkg := t.Obj().Pkg()
	w := walker{from: from}
	return pkg == from || pkg != nil && inModule(pkg) && w.canWrite(t.Rhs(), pkg)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

type walker struct {
	from     *types.Package
	inModule func(*types.Package) bool
	found    map[string]*types.Named
	seen     map[string]bool
}

func (w *walker) walk(t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		w.named(t)
	case *types.Pointer:
		w.walk(t.Elem())
	case *types.Slice:
		w.walk(t.Elem())
	case *types.Array:
		w.walk(t.Elem())
	case *types.Map:
		w.walk(t.Key())
		w.walk(t.Elem())
	case *types.Struct:
		for v := range t.Fields() {
			w.walk(v.Type())
		}
	}
}

func (w *walker) named(t *types.Named) {
	key := types.TypeString(t, nil)
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	for arg := range t.TypeArgs().Types() {
		w.walk(arg)
	}
	pkg := t.Obj().Pkg()
	if pkg == nil || EventPackage(pkg) || marshals(t) || hasMethod(t, "MarshalText") || hasMethod(t, "UnmarshalText") {
		return
	}
	if _, ok := t.Underlying().(*types.Interface); ok {
		return
	}
	if w.inModule(pkg) && w.canName(t) && w.canWrite(t.Underlying(), pkg) {
		w.found[key] = t
	}
	w.walk(t.Underlying())
}

// canWrite reports whether from can write out the type literal t, which stands
// in pkg.
func (w *walker) canWrite(t types.Type, pkg *types.Package) bool {
	switch t := t.(type) {
	case *types.Alias, *types.Named:
		return w.canName(t)
	case *types.Basic:
		return t.Kind() != types.UnsafePointer && t.Kind() != types.Invalid
	case *types.Pointer:
		return w.canWrite(t.Elem(), pkg)
	case *types.Slice:
		return w.canWrite(t.Elem(), pkg)
	case *types.Array:
		return w.canWrite(t.Elem(), pkg)
	case *types.Chan:
		return w.canWrite(t.Elem(), pkg)
	case *types.Map:
		return w.canWrite(t.Key(), pkg) && w.canWrite(t.Elem(), pkg)
	case *types.Struct:
		for v := range t.Fields() {
			if !v.Exported() && pkg != w.from || !w.canWrite(v.Type(), pkg) {
				return false
			}
		}
		return true
	case *types.Signature:
		return w.canWriteAll(t.Params(), pkg) && w.canWriteAll(t.Results(), pkg)
	case *types.Interface:
		for m := range t.Methods() {
			if !m.Exported() && pkg != w.from || !w.canWrite(m.Signature(), pkg) {
				return false
			}
		}
		for e := range t.EmbeddedTypes() {
			if !w.canWrite(e, pkg) {
				return false
			}
		}
		return t.IsMethodSet()
	}
	return false
}

func (w *walker) canWriteAll(list *types.Tuple, pkg *types.Package) bool {
	for v := range list.Variables() {
		if !w.canWrite(v.Type(), pkg) {
			return false
		}
	}
	return true
}

// canName reports whether from can use the name of t, and of its arguments.
func (w *walker) canName(t types.Type) bool {
	var obj *types.TypeName
	var args *types.TypeList
	switch t := t.(type) {
	case *types.Alias:
		obj, args = t.Obj(), t.TypeArgs()
	case *types.Named:
		obj, args = t.Obj(), t.TypeArgs()
	}
	for arg := range args.Types() {
		if !w.canWrite(arg, w.from) {
			return false
		}
	}
	pkg := obj.Pkg()
	switch {
	case pkg == nil:
		return true
	case obj.Parent() != pkg.Scope():
		return false // declared in a function
	case pkg == w.from:
		return true
	}
	return obj.Exported() && pkg.Name() != "main" && importable(pkg.Path(), w.from.Path())
}

// importable reports whether the rule on internal folders lets from import path.
func importable(path, from string) bool {
	parent, ok := "", false
	if i := strings.LastIndex("/"+path+"/", "/internal/"); i >= 0 {
		parent, ok = path[:max(i-1, 0)], true
	}
	return !ok || parent == "" || from == parent || strings.HasPrefix(from, parent+"/")
}

// CanName reports whether from can write the type t.
func CanName(from *types.Package, t types.Type) bool {
	w := walker{from: from}
	return w.canWrite(t, from)
}

// CanGuard reports whether from can write the type t, and where t is a named
// struct also what it stands for, so that a guard can hold it fast.
func CanGuard(from *types.Package, t types.Type) bool {
	w := walker{from: from}
	if !w.canWrite(t, from) {
		return false
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return true
	}
	_, isStruct := named.Underlying().(*types.Struct)
	return !isStruct || w.canWrite(named.Underlying(), named.Obj().Pkg())
}
