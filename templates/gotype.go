package templates

import (
	"go/types"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"
)

// goType is a type as a user would write it in this file: aliases under their
// names, types of other packages qualified.
func (f *file) goType(t types.Type) *jen.Statement {
	switch t := t.(type) {
	case *types.Alias:
		if f.expands != nil && f.expands(t) {
			return f.goType(t.Rhs())
		}
		return f.typeName(t.Obj(), t.TypeArgs())
	case *types.Named:
		return f.typeName(t.Obj(), t.TypeArgs())
	case *types.Basic:
		return jen.Id(t.Name())
	case *types.Pointer:
		return jen.Op("*").Add(f.goType(t.Elem()))
	case *types.Slice:
		return jen.Index().Add(f.goType(t.Elem()))
	case *types.Array:
		return jen.Index(jen.Id(strconv.FormatInt(t.Len(), 10))).Add(f.goType(t.Elem()))
	case *types.Map:
		return jen.Map(f.goType(t.Key())).Add(f.goType(t.Elem()))
	case *types.Chan:
		return f.chanType(t)
	case *types.Signature:
		return jen.Func().Add(f.signature(t))
	case *types.Interface:
		return f.interfaceType(t)
	case *types.Struct:
		return f.structType(t)
	}
	panic("templates: no syntax for " + t.String())
}

func (f *file) typeName(obj *types.TypeName, args *types.TypeList) *jen.Statement {
	var name *jen.Statement
	if pkg := obj.Pkg(); pkg == nil {
		name = jen.Id(obj.Name())
	} else {
		name = f.qual(pkg.Path(), pkg.Name(), obj.Name())
	}
	if args.Len() == 0 {
		return name
	}
	var list []jen.Code
	for arg := range args.Types() {
		list = append(list, f.goType(arg))
	}
	return name.Types(list...)
}

func (f *file) chanType(t *types.Chan) *jen.Statement {
	elem := f.goType(t.Elem())
	switch t.Dir() {
	case types.SendOnly:
		return jen.Chan().Op("<-").Add(elem)
	case types.RecvOnly:
		return jen.Op("<-").Chan().Add(elem)
	}
	return jen.Chan().Parens(elem)
}

// signature is a function type without the word func.
func (f *file) signature(sig *types.Signature) *jen.Statement {
	var params, results []jen.Code
	for i := range sig.Params().Len() {
		t := sig.Params().At(i).Type()
		if s, ok := t.(*types.Slice); ok && sig.Variadic() && i == sig.Params().Len()-1 {
			params = append(params, jen.Op("...").Add(f.goType(s.Elem())))
			continue
		}
		params = append(params, f.goType(t))
	}
	for v := range sig.Results().Variables() {
		results = append(results, f.goType(v.Type()))
	}
	return jen.Params(params...).Add(resultList(results))
}

func resultList(results []jen.Code) jen.Code {
	switch len(results) {
	case 0:
		return jen.Null()
	case 1:
		return results[0]
	}
	return jen.Params(results...)
}

func (f *file) interfaceType(t *types.Interface) *jen.Statement {
	if t.NumExplicitMethods() == 0 && t.NumEmbeddeds() == 0 {
		return jen.Id("any")
	}
	var items []jen.Code
	for m := range t.ExplicitMethods() {
		items = append(items, jen.Id(m.Name()).Add(f.signature(m.Signature())))
	}
	for e := range t.EmbeddedTypes() {
		items = append(items, f.goType(e))
	}
	return jen.Interface(items...)
}

func (f *file) structType(t *types.Struct) *jen.Statement {
	var fields []jen.Code
	for i := range t.NumFields() {
		v := t.Field(i)
		field := f.goType(v.Type())
		if !v.Embedded() {
			field = jen.Id(v.Name()).Add(field)
		}
		if tag := t.Tag(i); tag != "" {
			field.Id(quoteTag(tag))
		}
		fields = append(fields, field)
	}
	return jen.Struct(fields...)
}

func quoteTag(tag string) string {
	if strconv.CanBackquote(tag) && !strings.Contains(tag, "\n") {
		return "`" + tag + "`"
	}
	return strconv.Quote(tag)
}
