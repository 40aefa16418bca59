// Package wrongevent is the check wrongevent: what a handler takes is not what its
// event types bring.
package wrongevent

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/marked"
	"github.com/restaq/restaq/internal/eventtype"
)

const doc = `wrongevent: report handlers that take another event than they are subscribed to

The type of the event parameter has to fit the event types in //restaq:on: the
struct of the one event type, the family of several, a struct of the user's own, or
restaq.Event. restaqgen refuses what does not fit in the same words. Of a family,
type switches and assertions are looked at, too: a case for an event that the
handler is not subscribed to, or for a pointer, is one that never comes.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:     "wrongevent",
	Doc:      doc,
	URL:      "https://github.com/restaq/restaq/blob/main/docs/checks/wrongevent.md",
	Requires: []*analysis.Analyzer{marked.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	c := &check{pass: pass, pkg: marked.Of(pass), events: eventtype.NewCatalog()}
	for _, file := range c.pkg.Files {
		c.events.Mark(pass.Pkg, file)
	}
	for _, h := range c.pkg.Handlers {
		c.handler(h)
	}
	return nil, nil
}

type check struct {
	pass   *analysis.Pass
	pkg    *marked.Package
	events *eventtype.Catalog
}

func (c *check) handler(h *marked.Handler) {
	params := h.Func.Signature().Params()
	if params.Len() != 2 {
		return // restaqgen says so
	}
	var wanted []string
	for _, t := range h.Marker.Types {
		wanted = append(wanted, t.Text)
	}
	event := params.At(1)
	_, misfits := c.events.Fit(c.pass.Pkg, event.Type(), wanted)
	for _, m := range misfits {
		c.pkg.Report(c.pass, marked.Finding{Pos: event.Pos(), Subject: h.String(), Reason: m.Reason, Hint: m.Hint})
	}
	if len(misfits) > 0 || !types.IsInterface(event.Type()) {
		return
	}
	asked := func(x ast.Expr) {
		if t := c.pass.TypesInfo.TypeOf(x); t != nil {
			c.asked(h, event.Type(), t, x, wanted)
		}
	}
	ast.Inspect(h.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSwitchStmt:
			if c.switchesOn(n) == event {
				for _, clause := range n.Body.List {
					for _, x := range clause.(*ast.CaseClause).List {
						asked(x)
					}
				}
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil && c.variable(n.X) == event {
				asked(n.Type)
			}
		}
		return true
	})
}

// asked reports a type that the event is never of.
func (c *check) asked(h *marked.Handler, family, t types.Type, x ast.Expr, wanted []string) {
	comes, misfit := c.events.Comes(c.pass.Fset, family, t, wanted)
	if comes {
		return
	}
	f := marked.Finding{Pos: x.Pos(), End: x.End(), Subject: h.String(), Reason: misfit.Reason, Hint: misfit.Hint}
	if star, ok := ast.Unparen(x).(*ast.StarExpr); ok && misfit.Pointer {
		f.Fixes = []analysis.SuggestedFix{{
			Message:   misfit.Hint,
			TextEdits: []analysis.TextEdit{{Pos: star.Pos(), End: star.X.Pos()}},
		}}
	}
	c.pkg.Report(c.pass, f)
}

// switchesOn returns the variable whose type a switch is about, nil if it is about
// another expression.
func (c *check) switchesOn(s *ast.TypeSwitchStmt) *types.Var {
	var x ast.Expr
	switch assign := s.Assign.(type) {
	case *ast.AssignStmt:
		x = assign.Rhs[0]
	case *ast.ExprStmt:
		x = assign.X
	}
	if assert, ok := x.(*ast.TypeAssertExpr); ok {
		return c.variable(assert.X)
	}
	return nil
}

func (c *check) variable(x ast.Expr) *types.Var {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := c.pass.TypesInfo.Uses[id].(*types.Var)
	return v
}
