// Package leads finds out which functions run steps: they mention a wrapper or call
// restaq.Do, or lead to a function of the module that does.
package leads

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/marked"
)

// Analyzer finds the functions that run steps. Its result is a [*Functions].
//
// What is called through an interface or a variable outside the function is not
// followed.
var Analyzer = &analysis.Analyzer{
	Name:       "leads",
	Doc:        "find functions that run steps",
	Requires:   []*analysis.Analyzer{marked.Analyzer},
	Run:        run,
	ResultType: reflect.TypeFor[*Functions](),
	FactTypes:  []analysis.Fact{new(chainFact)},
}

// Of returns the result for the package of a pass whose analyzer requires
// [Analyzer].
func Of(pass *analysis.Pass) *Functions { return pass.ResultOf[Analyzer].(*Functions) }

// Functions knows which functions run steps. It may be read by many at the same
// time.
type Functions struct {
	pass  *analysis.Pass
	pkg   *marked.Package
	chain map[*types.Func][]string
}

// Lead is a mention of something that runs a step.
type Lead struct {
	// At is the mention.
	At ast.Expr

	// Chain are the names from what is mentioned to the step: the name of a wrapper
	// or "restaq.Do" is the last.
	Chain []string

	// Step is the step whose wrapper is mentioned, nil if it is another function.
	Step *marked.Step
}

// Direct reports whether the mention is of the step itself.
func (l Lead) Direct() bool { return len(l.Chain) == 1 }

// chainFact says that a function runs steps, and through whom.
type chainFact struct{ Chain []string }

func (*chainFact) AFact() {}

func run(pass *analysis.Pass) (any, error) {
	f := &Functions{pass: pass, pkg: marked.Of(pass), chain: map[*types.Func][]string{}}
	callers := map[*types.Func][]*types.Func{}
	var found []*types.Func
	for _, fn := range f.pkg.Funcs {
		f.mentions(f.pkg.Decls[fn].Body, func(x ast.Expr) {
			if callee := f.pkg.Mention(x); f.pkg.Decls[callee] != nil && f.pkg.Handler(callee) == nil {
				callers[callee] = append(callers[callee], fn)
			} else if lead, ok := f.Lead(x); ok {
				f.add(fn, lead.Chain, &found)
			}
		})
	}
	for len(found) > 0 { // level by level, so that chains are short
		next := []*types.Func(nil)
		for _, fn := range found {
			for _, caller := range callers[fn] {
				f.add(caller, f.chain[fn], &next)
			}
		}
		found = next
	}
	for _, fn := range f.pkg.Funcs {
		if chain := f.Chain(fn); chain != nil {
			pass.ExportObjectFact(fn, &chainFact{chain})
		}
	}
	return f, nil
}

// add notes that a function leads to a step by a chain, and puts it into found,
// unless that is known.
func (f *Functions) add(fn *types.Func, chain []string, found *[]*types.Func) {
	if f.chain[fn] == nil {
		f.chain[fn] = append([]string{marked.Name(fn)}, chain...)
		*found = append(*found, fn)
	}
}

// Chain returns the names from a function to a step that it runs, its own first;
// nil if it runs none, or is a handler: who names that registers it, and runs
// nothing.
func (f *Functions) Chain(fn *types.Func) []string {
	if fn == nil || f.pkg.Handler(fn) != nil {
		return nil
	}
	if fn.Pkg() == f.pass.Pkg {
		return f.chain[fn]
	}
	var fact chainFact
	if fn.Pkg() != nil && f.pass.ImportObjectFact(fn, &fact) {
		return append([]string{f.pkg.NameOf(fn)}, fact.Chain[1:]...)
	}
	return nil
}

// In returns what under root runs steps, in source order, less what is in the
// function that restaq.Do is given.
func (f *Functions) In(root ast.Node) []Lead {
	var leads []Lead
	f.mentions(root, func(x ast.Expr) {
		if lead, ok := f.Lead(x); ok {
			leads = append(leads, lead)
		}
	})
	return leads
}

// mentions calls visit for each identifier and selector under root.
func (f *Functions) mentions(root ast.Node, visit func(ast.Expr)) {
	seen := map[token.Pos]bool{} // the names that a selector has spoken for
	f.pkg.Walk(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			seen[n.Sel.Pos()] = true
			visit(n)
		case *ast.Ident:
			if !seen[n.Pos()] {
				visit(n)
			}
		}
		return true
	})
}

// Lead returns what an identifier or a selector leads to.
func (f *Functions) Lead(x ast.Expr) (Lead, bool) {
	fn := f.pkg.Mention(x)
	if fn == nil {
		return Lead{}, false
	}
	if s := f.pkg.WrapperOf(fn); s != nil {
		return Lead{x, []string{f.pkg.NameOf(fn)}, s}, true
	}
	if fn.Pkg() != nil && fn.Pkg().Path() == marked.Runtime && fn.Name() == "Do" && fn.Signature().Recv() == nil {
		return Lead{x, []string{"restaq.Do"}, nil}, true
	}
	if chain := f.Chain(fn); chain != nil {
		return Lead{x, chain, nil}, true
	}
	return Lead{}, false
}
