// Package sideeffect is the check sideeffect: a handler reaches out of the process
// outside a step, so that every attempt does it again.
package sideeffect

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/chain"
	"github.com/restaq/restaq/checks/internal/known"
	"github.com/restaq/restaq/checks/internal/marked"
)

const doc = `sideeffect: report I/O that a handler does outside a step

What a handler does between its steps, each attempt of the execution does again: a
request is sent twice, a row is written twice. In a step it is done once, and its
result is recorded. Network, databases, files, programs and the clients of known
services are looked for, in the handler and in the functions of the module that it
calls. Logging, metrics and tracing are fine.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:      "sideeffect",
	Doc:       doc,
	URL:       "https://github.com/restaq/restaq/blob/main/docs/checks/sideeffect.md",
	Requires:  []*analysis.Analyzer{marked.Analyzer},
	FactTypes: []analysis.Fact{new(effect)},
	Run:       run,
}

// effect is the fact that a function reaches out of the process: the names from
// what it calls to what does it.
type effect struct{ Through []string }

func (*effect) AFact() {}

func (e *effect) String() string { return strings.Join(e.Through, " → ") }

func run(pass *analysis.Pass) (any, error) {
	pkg := marked.Of(pass)
	if !pkg.Inside {
		return nil, nil
	}
	finder := &chain.Finder{
		Pkg:    pkg,
		Ignore: known.Telemetry,
		Does: func(fn *types.Func, at ast.Expr) string {
			if !known.Effect(fn) || onStandardStream(pass.TypesInfo, at) {
				return ""
			}
			return known.Name(fn)
		},
		Imported: func(fn *types.Func) []string {
			var e effect
			if fn.Pkg() == nil || fn.Pkg() == pass.Pkg || !pass.ImportObjectFact(fn, &e) {
				return nil
			}
			return append([]string{known.Name(fn)}, e.Through...)
		},
	}
	chains := finder.Find()
	for _, fn := range pkg.Funcs {
		if found := chains.Of(fn); found != nil {
			pass.ExportObjectFact(fn, &effect{found[1:]})
		}
	}
	for _, h := range pkg.Handlers {
		for _, site := range chains.Sites(h.Decl.Body) {
			pkg.Report(pass, marked.Finding{
				Pos: site.At.Pos(), End: site.At.End(), Subject: h.String(),
				Reason: "does I/O outside a step, which every attempt repeats: " + strings.Join(slices.Concat([]string{marked.Name(h.Func)}, site.Chain), " → "),
				Hint:   hint(pkg, site),
			})
		}
	}
	return nil, nil
}

// hint says how to make a step of it.
func hint(pkg *marked.Package, site chain.Site) string {
	if pkg.Decls[site.Func] != nil && canBeStep(site.Func.Signature()) {
		return "make it a step: mark " + marked.Name(site.Func) + " with //restaq:step, and call " + site.Func.Name() + "Step"
	}
	return "do it in a function marked //restaq:step, and call its wrapper; or in restaq.Do"
}

// canBeStep reports whether a function has the form of a step.
func canBeStep(sig *types.Signature) bool {
	params, results := sig.Params(), sig.Results()
	return params.Len() > 0 && marked.IsNamed(params.At(0).Type(), "context", "Context") && !sig.Variadic() && sig.TypeParams() == nil &&
		(results.Len() == 1 || results.Len() == 2) &&
		types.Identical(types.Unalias(results.At(results.Len()-1).Type()), types.Universe.Lookup("error").Type())
}

// onStandardStream reports whether a method is called on os.Stdout or its like,
// which people read as they do logs.
func onStandardStream(info *types.Info, at ast.Expr) bool {
	selector, ok := at.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	stream, ok := ast.Unparen(selector.X).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := info.Uses[stream.Sel].(*types.Var)
	return ok && v.Pkg() != nil && v.Pkg().Path() == "os" && (v.Name() == "Stdout" || v.Name() == "Stderr")
}
