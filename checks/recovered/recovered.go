// Package recovered is the check recovered: a handler recovers from a panic and
// goes on as if nothing had happened.
package recovered

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/leads"
	"github.com/restaq/restaq/checks/internal/marked"
)

const doc = `recovered: report handlers that swallow panics

The runtime records a panic with its stack as a failed attempt, and tries again. A
handler that recovers hides it: the attempt counts as completed, and the steps
behind the panic never run. To recover is fine where the panic becomes the error
that the handler returns, or goes on as a panic; a step may recover as it likes.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:      "recovered",
	Doc:       doc,
	URL:       "https://github.com/restaq/restaq/blob/main/docs/checks/recovered.md",
	Requires:  []*analysis.Analyzer{marked.Analyzer, leads.Analyzer},
	Run:       run,
	FactTypes: []analysis.Fact{new(swallows), new(shields)},
}

// swallows says of a function that it recovers and hides the panic when it is
// deferred.
type swallows struct{}

func (*swallows) AFact() {}

func (*swallows) String() string { return "swallows panics" }

// shields says of a function that it defers one that swallows panics, so that it
// hides those of the functions that it is given.
type shields struct{}

func (*shields) AFact() {}

func (*shields) String() string { return "shields from panics" }

func run(pass *analysis.Pass) (any, error) {
	c := &check{pass: pass, pkg: marked.Of(pass), leads: leads.Of(pass)}
	for _, fn := range c.pkg.Funcs {
		decl := c.pkg.Decls[fn]
		if c.recovers(decl.Body) != nil && !c.letsOut(decl.Body, c.pointers(decl.Type)) {
			pass.ExportObjectFact(fn, new(swallows))
		}
	}
	for _, fn := range c.pkg.Funcs {
		decl := c.pkg.Decls[fn]
		if len(c.hidden(scope{typ: decl.Type, body: decl.Body})) > 0 {
			pass.ExportObjectFact(fn, new(shields))
		}
	}
	for _, fn := range c.pkg.Funcs {
		if c.pkg.StepOf(fn) == nil && (c.pkg.Handler(fn) != nil || c.leads.Chain(fn) != nil) {
			c.function(fn)
		}
	}
	return nil, nil
}

type check struct {
	pass  *analysis.Pass
	pkg   *marked.Package
	leads *leads.Functions
}

// function reports what a handler, or a function that runs steps, hides.
func (c *check) function(fn *types.Func) {
	decl := c.pkg.Decls[fn]
	subject, who := "", marked.Name(fn)+", which runs steps, "
	if h := c.pkg.Handler(fn); h != nil {
		subject, who = h.String(), ""
	}
	report := func(at ast.Node, what, hint string) {
		c.pkg.Report(c.pass, marked.Finding{Pos: at.Pos(), End: at.End(), Subject: subject, Reason: who + what, Hint: hint})
	}
	scopes := []scope{{typ: decl.Type, body: decl.Body}}
	c.pkg.Walk(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if len(c.leads.In(n.Body)) > 0 {
				scopes = append(scopes, scope{n.Type, n.Body, decl})
			}
		case *ast.CallExpr:
			callee := c.pkg.Callee(n)
			if callee != nil && c.leads.Chain(callee) == nil && c.pass.ImportObjectFact(callee, new(shields)) && c.givesSteps(n) {
				report(n.Fun, "gives steps to "+c.pkg.NameOf(callee)+", which recovers from their panics and hides them",
					"leave the panic to the runtime, which records it with its stack and tries again")
			}
		}
		return true
	})
	for _, s := range scopes {
		for _, h := range c.hidden(s) {
			what := "recovers from a panic and hides it, so that the attempt counts as completed"
			if h.through != nil {
				what += ": " + marked.Name(fn) + " → " + c.pkg.NameOf(h.through)
			}
			report(h.at, what, "leave the panic to the runtime, which records it with its stack and tries again, or return it as an error")
		}
	}
}

// givesSteps reports whether an argument of a call runs steps.
func (c *check) givesSteps(call *ast.CallExpr) bool {
	for _, x := range call.Args {
		if len(c.leads.In(x)) > 0 {
			return true
		}
	}
	return false
}

// scope is a function with what it defers: a declared one, or a literal in one.
type scope struct {
	typ    *ast.FuncType
	body   *ast.BlockStmt
	around *ast.FuncDecl // nil for a declared function
}

// hiding is a place where a panic is hidden.
type hiding struct {
	at      ast.Node
	through *types.Func // the deferred function, if it is declared elsewhere
}

// hidden returns where the deferred calls of a function hide panics.
func (c *check) hidden(s scope) []hiding {
	var found []hiding
	own(s.body, func(n ast.Node) {
		d, ok := n.(*ast.DeferStmt)
		if !ok {
			return
		}
		if lit, ok := ast.Unparen(d.Call.Fun).(*ast.FuncLit); ok {
			at := c.recovers(lit.Body)
			if at != nil && !c.letsOut(lit.Body, c.results(s), c.pointers(lit.Type)) {
				found = append(found, hiding{at: at})
			}
			return
		}
		fn := c.pkg.Callee(d.Call)
		if fn != nil && c.pass.ImportObjectFact(fn, new(swallows)) {
			found = append(found, hiding{d.Call, fn})
		}
	})
	return found
}
