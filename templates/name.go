package templates

import (
	"go/scanner"
	"go/token"
	"path"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// avoided returns the names that imports of a generated file must not have:
// those that the package declares, in the user's files or in ours, and those of
// parameters in whose reach imported names are used.
func avoided(p *model.Package) map[string]bool {
	avoid := map[string]bool{"rt": true, "in": true, "e": true, "d": true, "v": true, "key": true, "start": true, "i": true}
	for _, name := range p.Types.Scope().Names() {
		avoid[name] = true
	}
	for _, e := range p.Events {
		avoid[e.Const] = true
	}
	add := func(f *model.Func, expr *model.Expr) {
		avoid[f.Ctx], avoid[f.RecvParam] = true, true
		for _, suffix := range model.Suffixes {
			avoid[f.Stem+suffix] = true
		}
		for name := range identifiers(expr) {
			avoid[name] = true
		}
	}
	for _, g := range p.Groups {
		avoid[g.Param] = true
		avoid["RegisterHandlers"] = avoid["RegisterHandlers"] || g.Type == nil
		for _, h := range g.Handlers {
			avoid[h.Param] = true
			add(&h.Func, h.Order)
		}
		for _, s := range g.Steps {
			avoid[s.Wrapper] = avoid[s.Wrapper] || s.Recv == nil
			add(&s.Func, s.Key)
		}
	}
	return avoid
}

// identifiers returns the identifiers in an expression's own text, which may be
// declared in it.
func identifiers(expr *model.Expr) map[string]bool {
	found := map[string]bool{}
	if expr == nil {
		return found
	}
	for _, part := range expr.Parts {
		src := []byte(part.Text)
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, func(token.Position, string) {}, 0)
		for {
			_, tok, text := s.Scan()
			if tok == token.EOF {
				break
			}
			if tok == token.IDENT {
				found[text] = true
			}
		}
	}
	return found
}

// qual is a name of another package, or of this one, which it imports under a
// name that nothing else has. Clause is the name in the other's package clause,
// if that is known.
func (f *file) qual(importPath, clause, name string) *jen.Statement {
	if importPath == f.pkg.Path {
		return jen.Id(name)
	}
	if _, ok := f.imports[importPath]; !ok {
		f.addImport(importPath, clause)
	}
	return jen.Qual(importPath, name)
}

func (f *file) addImport(importPath, clause string) {
	if clause == "" {
		clause = f.clause(importPath)
	}
	name := clause
	for n := 2; f.avoid[name] || jen.IsReservedWord(name); n++ {
		name = clause + strconv.Itoa(n)
	}
	f.avoid[name] = true
	f.imports[importPath] = name
	if name == clause && name == path.Base(importPath) {
		f.ImportName(importPath, name)
	} else {
		f.ImportAlias(importPath, name)
	}
}

// clause returns the name in a package's clause, as far as the user's package
// knows it.
func (f *file) clause(importPath string) string {
	if name := f.pkg.Imports[importPath]; name != "" {
		return name
	}
	for _, p := range f.pkg.Types.Imports() {
		if p.Path() == importPath {
			return p.Name()
		}
	}
	return path.Base(importPath)
}

func (f *file) runtime(name string) *jen.Statement { return f.qual(runtimePath, "restaq", name) }

func (f *file) context() *jen.Statement { return f.qual("context", "context", "Context") }

// free returns name, or a variation of it that is not among the used ones.
func free(name string, used ...string) string {
	is := map[string]bool{}
	for _, u := range used {
		is[u] = true
	}
	unique := name
	for n := 2; is[unique]; n++ {
		unique = name + strconv.Itoa(n)
	}
	return unique
}
