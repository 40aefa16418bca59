// Package directcall is the check directcall: a handler calls the function of a
// step where it means its wrapper, so that nothing is recorded and every attempt
// does it again.
package directcall

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/marked"
)

const doc = `directcall: report handlers that call a step's function in place of its wrapper

What is called directly is no step: it is not recorded, and every attempt of the
execution runs it again. The wrapper has the function's name with "Step" behind
it. The call may stand in the handler or in a function of the package that it
calls; within another step, a direct call is right.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:     "directcall",
	Doc:      doc,
	URL:      "https://github.com/restaq/restaq/blob/main/docs/checks/directcall.md",
	Requires: []*analysis.Analyzer{marked.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	c := &check{pass: pass, pkg: marked.Of(pass), reported: map[token.Pos]bool{}}
	inSteps := c.reachedFromSteps()
	for _, h := range c.pkg.Handlers {
		for _, visit := range c.reach(h.Func) {
			c.body(h, visit, inSteps[visit.fn])
		}
	}
	return nil, nil
}

type check struct {
	pass     *analysis.Pass
	pkg      *marked.Package
	reported map[token.Pos]bool // by where a function's name stands
}

// visit is a function and the names of those that lead to it, itself the last.
type visit struct {
	fn    *types.Func
	chain []string
}

// reach returns from and the functions of the package that it leads to without
// going through a step, nearest first.
func (c *check) reach(from *types.Func) []visit {
	found := []visit{{from, []string{marked.Name(from)}}}
	seen := map[*types.Func]bool{from: true}
	for i := 0; i < len(found); i++ {
		v := found[i]
		c.pkg.Walk(c.pkg.Decls[v.fn].Body, func(n ast.Node) bool {
			x, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			to := c.pkg.Mention(x)
			if to != nil && !seen[to] && c.pkg.Decls[to] != nil && c.pkg.StepOf(to) == nil && c.pkg.Handler(to) == nil {
				seen[to] = true
				found = append(found, visit{to, append(slices.Clone(v.chain), marked.Name(to))})
			}
			return true
		})
	}
	return found
}

// reachedFromSteps returns the functions that steps lead to. Their calls are right
// when a step makes them.
func (c *check) reachedFromSteps() map[*types.Func]bool {
	reached := map[*types.Func]bool{}
	for _, s := range c.pkg.Steps {
		for _, v := range c.reach(s.Func) {
			reached[v.fn] = true
		}
	}
	return reached
}

// body reports the calls of steps' functions in a function that the handler leads
// to.
func (c *check) body(h *marked.Handler, v visit, inStep bool) {
	called := map[ast.Expr]bool{}
	c.pkg.Walk(c.pkg.Decls[v.fn].Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called[ast.Unparen(n.Fun)] = true
		case *ast.SelectorExpr:
			c.mention(h, v, n, called[n], inStep)
		case *ast.Ident:
			c.mention(h, v, n, called[n], inStep)
		}
		return true
	})
}

// mention reports x if it is a step's function.
func (c *check) mention(h *marked.Handler, v visit, x ast.Expr, called, inStep bool) {
	s := c.pkg.StepOf(c.pkg.Mention(x))
	id, _ := x.(*ast.Ident)
	if selector, ok := x.(*ast.SelectorExpr); ok {
		id = selector.Sel
	}
	if s == nil || c.reported[id.Pos()] {
		return
	}
	c.reported[id.Pos()] = true
	f := marked.Finding{Pos: x.Pos(), End: x.End(), Subject: h.String()}
	what := "calls"
	if !called {
		what = "hands on"
	}
	f.Reason = what + " the function of " + s.String() + ", so that nothing is recorded"
	if len(v.chain) > 1 {
		f.Reason += ": " + strings.Join(append(slices.Clone(v.chain), s.Func.Name()), " → ")
	}
	if s.Wrapper != nil {
		f.Hint = "its wrapper is " + s.Wrapper.Name()
	}
	if s.Wrapper != nil && !inStep && sameButTransaction(s) && (s.Decl != nil || s.Wrapper.Exported()) {
		f.Fixes = []analysis.SuggestedFix{{
			Message:   "call " + s.Wrapper.Name(),
			TextEdits: []analysis.TextEdit{{Pos: id.Pos(), End: id.End(), NewText: []byte(s.Wrapper.Name())}},
		}}
	}
	c.pkg.Report(c.pass, f)
}

// sameButTransaction reports whether a step's wrapper takes what its function
// does. One without the transaction would need other arguments.
func sameButTransaction(s *marked.Step) bool {
	return types.Identical(s.Func.Signature().Params(), s.Wrapper.Signature().Params())
}
