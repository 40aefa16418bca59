// Package ignorederror is the check ignorederror: the error of a step is dropped,
// so that the handler goes on as if the step were done.
package ignorederror

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/leads"
	"github.com/restaq/restaq/checks/internal/marked"
)

const doc = `ignorederror: report steps whose error nobody looks at

A step that failed is not done: it runs again with the next attempt, and there is
one only if the handler returns an error. Going on without the step on purpose is
fine, where the error is looked at.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:     "ignorederror",
	Doc:      doc,
	URL:      "https://github.com/restaq/restaq/blob/main/docs/checks/ignorederror.md",
	Requires: []*analysis.Analyzer{marked.Analyzer, leads.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	pkg := marked.Of(pass)
	for _, fn := range pkg.Funcs {
		decl := pkg.Decls[fn]
		c := &check{pass: pass, pkg: pkg, leads: leads.Of(pass), held: held(pass, decl.Body), listed: listed(decl.Body)}
		c.function(decl.Type, decl.Body)
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				c.function(lit.Type, lit.Body)
			}
			return true
		})
	}
	return nil, nil
}

// check looks at one declared function and the literals in it.
type check struct {
	pass  *analysis.Pass
	pkg   *marked.Package
	leads *leads.Functions
	held  map[*types.Var]ast.Expr

	listed map[ast.Node]bool // statements in a list of statements
}

// step says whose error a call returns, "" if it is no step's: the step, or the
// chain of functions that hands the error on.
func (c *check) step(call *ast.CallExpr) string {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr: // restaq.Do[T]
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	case *ast.Ident:
		if v, ok := c.pass.TypesInfo.Uses[x].(*types.Var); ok && c.held[v] != nil {
			fun = c.held[v]
		}
	}
	lead, ok := c.leads.Lead(fun)
	if !ok || !c.returnsError(call) {
		return ""
	}
	if lead.Step != nil {
		return lead.Step.String()
	}
	return strings.Join(lead.Chain, " → ")
}

// returnsError reports whether the last result of a call is an error.
func (c *check) returnsError(call *ast.CallExpr) bool {
	t := c.pass.TypesInfo.TypeOf(call)
	if tuple, ok := t.(*types.Tuple); ok {
		if tuple.Len() == 0 {
			return false
		}
		t = tuple.At(tuple.Len() - 1).Type()
	}
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// function looks at the statements of one function, less those of the literals in
// it.
func (c *check) function(typ *ast.FuncType, body *ast.BlockStmt) {
	var flow *flow // made when it is needed
	ast.Inspect(body, func(n ast.Node) bool {
		var dropped ast.Expr
		var to *ast.Ident
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ExprStmt:
			dropped = n.X
		case *ast.GoStmt:
			dropped = n.Call
		case *ast.DeferStmt:
			dropped = n.Call
		case *ast.AssignStmt:
			dropped, to = last(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			names := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				names[i] = name
			}
			dropped, to = last(names, n.Values)
		}
		if assign, ok := n.(*ast.AssignStmt); ok && len(assign.Lhs) == len(assign.Rhs) && len(assign.Rhs) > 1 {
			for i := range assign.Rhs { // a, err := f(), step()
				if to, ok := assign.Lhs[i].(*ast.Ident); ok {
					c.result(typ, body, n, assign.Rhs[i], to, &flow)
				}
			}
			return true
		}
		if dropped != nil {
			c.result(typ, body, n, dropped, to, &flow)
		}
		return true
	})
}

// last returns the call that an assignment takes its values from, and the name
// that its last result goes to; nil if there is no such name.
func last(lhs, rhs []ast.Expr) (ast.Expr, *ast.Ident) {
	if len(rhs) != 1 {
		return nil, nil
	}
	if to, ok := lhs[len(lhs)-1].(*ast.Ident); ok {
		return rhs[0], to
	}
	return nil, nil // a field or an element: who knows who reads that
}

// result reports x if it is a step's call whose error nobody looks at: it is
// dropped, or goes to a variable that is not read.
func (c *check) result(typ *ast.FuncType, body *ast.BlockStmt, at ast.Node, x ast.Expr, to *ast.Ident, f **flow) {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return
	}
	step := c.step(call)
	if step == "" {
		return
	}
	finding := marked.Finding{Pos: call.Pos(), End: call.End(), Hint: "return it, or handle it and say so"}
	if rest, ok := strings.CutPrefix(step, "step "); ok {
		finding.Subject, step = "step "+rest, "its error"
	} else {
		step = "the error of " + step
	}
	if to == nil || to.Name == "_" {
		finding.Reason = step + " is dropped"
		finding.Fixes = c.fix(typ, at, call)
		c.pkg.Report(c.pass, finding)
		return
	}
	v, ok := c.pass.TypesInfo.ObjectOf(to).(*types.Var)
	if !ok {
		return
	}
	if *f == nil {
		*f = newFlow(c.pass, typ, body)
	}
	if !(*f).read(v, at) {
		finding.Reason = step + " is kept in " + to.Name + ", at which nobody looks"
		c.pkg.Report(c.pass, finding)
	}
}

// fix returns the error, where that is all that the function returns and nothing
// else is done with what the call returns.
func (c *check) fix(typ *ast.FuncType, at ast.Node, call *ast.CallExpr) []analysis.SuggestedFix {
	if _, several := c.pass.TypesInfo.TypeOf(call).(*types.Tuple); several || !c.listed[at] {
		return nil
	}
	if typ.Results == nil || len(typ.Results.List) != 1 || len(typ.Results.List[0].Names) > 1 {
		return nil
	}
	if t := c.pass.TypesInfo.TypeOf(typ.Results.List[0].Type); !types.Identical(t, types.Universe.Lookup("error").Type()) {
		return nil
	}
	switch at := at.(type) {
	case *ast.ExprStmt:
	case *ast.AssignStmt:
		if len(at.Lhs) != 1 {
			return nil
		}
	default:
		return nil
	}
	return []analysis.SuggestedFix{{
		Message: "return the error",
		TextEdits: []analysis.TextEdit{
			{Pos: at.Pos(), End: call.Pos(), NewText: []byte("if err := ")},
			{Pos: call.End(), End: at.End(), NewText: []byte("; err != nil {\n\treturn err\n}")},
		},
	}}
}

// listed returns the statements that stand in a list of statements, where several
// can stand for one.
func listed(body *ast.BlockStmt) map[ast.Node]bool {
	found := map[ast.Node]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		for _, s := range list {
			found[s] = true
		}
		return true
	})
	return found
}

// held returns the local variables of a function that are assigned once, to the
// name of a function or method.
func held(pass *analysis.Pass, body *ast.BlockStmt) map[*types.Var]ast.Expr {
	values := map[*types.Var]ast.Expr{}
	times := map[*types.Var]int{}
	assign := func(to, from []ast.Expr) {
		for i, x := range to {
			id, ok := x.(*ast.Ident)
			if !ok {
				continue
			}
			v, ok := pass.TypesInfo.ObjectOf(id).(*types.Var)
			if !ok {
				continue
			}
			times[v]++
			if len(to) == len(from) {
				values[v] = ast.Unparen(from[i])
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			assign(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) == len(n.Names) {
					assign([]ast.Expr{name}, n.Values[i:i+1])
				}
			}
		}
		return true
	})
	for v := range values {
		if times[v] > 1 {
			delete(values, v)
		}
	}
	return values
}
