// Package contextescape is the check contextescape: a step's context outlives the
// step.
package contextescape

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/marked"
)

const doc = `contextescape: report contexts of steps that outlive the step

A step's context ends with the step, and what it carries, the idempotency key
among it, is that step's alone. Stored in a field or a package variable, sent on a
channel, or used by a goroutine that nobody waits for, it is used when the step is
over, by work that no record tells of.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:      "contextescape",
	Doc:       doc,
	URL:       "https://github.com/restaq/restaq/blob/main/docs/checks/contextescape.md",
	Requires:  []*analysis.Analyzer{marked.Analyzer},
	Run:       run,
	FactTypes: []analysis.Fact{new(routesFact)},
}

// routesFact says what a function does with contexts that it is given.
type routesFact struct{ Routes []route }

func (*routesFact) AFact() {}

// String lists the routes, for tests.
func (f *routesFact) String() string {
	var list []string
	for _, e := range f.Routes {
		list = append(list, strings.Join(e.Chain, " → ")+" "+e.Kind.says(e.What))
	}
	return strings.Join(list, "; ")
}

// route is a way by which a parameter of a function gets out of it. Its fields are
// exported for the encoding of facts.
type route struct {
	Param int // the parameter that gets out
	Into  int // the parameter that it is stored in, or one of the constants below
	Kind  kind
	What  string   // what it is stored in
	Chain []string // the functions that it goes through, the first one first
}

// Where a parameter may go but into another.
const (
	receiver = -1
	outside  = -2 // where the caller cannot see it
	returned = -3
)

func run(pass *analysis.Pass) (any, error) {
	c := &check{pass: pass, pkg: marked.Of(pass), routes: map[*types.Func][]route{}}
	c.summarize()
	for _, s := range c.pkg.Steps {
		if params := s.Func.Signature().Params(); params.Len() > 0 {
			c.report(s.String(), s.Func.Signature(), s.Decl.Body, params.At(0))
		}
	}
	for _, do := range c.pkg.Does() {
		if do.Func == nil {
			continue
		}
		if sig, ok := pass.TypesInfo.TypeOf(do.Func).(*types.Signature); ok && sig.Params().Len() == 1 {
			c.report(do.String(), sig, do.Func.Body, sig.Params().At(0))
		}
	}
	return nil, nil
}

type check struct {
	pass   *analysis.Pass
	pkg    *marked.Package
	routes map[*types.Func][]route
}

// summarize finds out what the functions of the package do with their parameters,
// until nothing more is found: they call each other.
func (c *check) summarize() {
	for again := true; again; {
		again = false
		for _, fn := range c.pkg.Funcs {
			found := c.function(fn)
			if len(found) > len(c.routes[fn]) {
				c.routes[fn] = found
				again = true
			}
		}
	}
	for _, fn := range c.pkg.Funcs {
		if found := c.routes[fn]; len(found) > 0 {
			c.pass.ExportObjectFact(fn, &routesFact{found})
		}
	}
}

// of returns what a function does with its parameters.
func (c *check) of(fn *types.Func) []route {
	if fn.Pkg() == c.pass.Pkg {
		return c.routes[fn]
	}
	var fact routesFact
	if fn.Pkg() == nil || !c.pass.ImportObjectFact(fn, &fact) {
		return nil
	}
	found := slices.Clone(fact.Routes)
	for i := range found {
		found[i].Chain = append([]string{c.pkg.NameOf(fn)}, found[i].Chain[1:]...)
	}
	return found
}

// function returns how the contexts and functions among a function's parameters get
// out.
func (c *check) function(fn *types.Func) []route {
	type way struct {
		param, into int
		kind        kind
	}
	var found []route
	seen := map[way]bool{}
	sig := fn.Signature()
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		if _, isFunc := p.Type().Underlying().(*types.Signature); !isFunc && !isContext(p.Type()) {
			continue
		}
		newTrace(c, sig, c.pkg.Decls[fn].Body, p).follow(func(e escape) {
			if w := (way{i, e.into, e.kind}); !seen[w] {
				seen[w] = true
				found = append(found, route{i, e.into, e.kind, e.what, append([]string{marked.Name(fn)}, e.chain...)})
			}
		})
	}
	return found
}

// report reports how a step's context gets out of its function.
func (c *check) report(subject string, sig *types.Signature, body *ast.BlockStmt, ctx *types.Var) {
	newTrace(c, sig, body, ctx).follow(func(e escape) {
		if e.into == returned {
			return // what a step returns is JSON
		}
		reason := "its context " + e.kind.says(e.what)
		if len(e.chain) > 0 {
			reason += ": " + strings.Join(e.chain, " → ")
		}
		c.pkg.Report(c.pass, marked.Finding{Pos: e.at.Pos(), End: e.at.End(), Subject: subject, Reason: reason, Hint: e.kind.hint()})
	})
}

func isContext(t types.Type) bool { return marked.IsNamed(t, "context", "Context") }
