package graph

import (
	"go/ast"
	"go/token"
	"maps"
)

// forStmt reads a for loop. A condition with calls in it becomes part of the
// body.
func (f *body) forStmt(s *ast.ForStmt, label string) {
	f.simple(s.Init)
	n := &Node{Kind: LoopKind, Name: label, Text: loopText(s), Endless: s.Cond == nil}
	before := maps.Clone(f.errs)
	n.Body, _ = f.capture(func() {
		tests, _ := f.capture(func() { f.expr(s.Cond) })
		if len(tests) > 0 {
			f.out = append(tests, &Node{Kind: IfKind, Cases: []*Case{{When: not(s.Cond), Body: []*Node{{Kind: BreakKind}}}, {}}})
			n.Text, n.Endless = "", true
		}
		f.list(s.Body.List)
		if leaves(&Node{Kind: LoopKind, Name: label, Body: f.out}, ContinueKind) {
			f.dead = false
		}
		if !f.dead && s.Post != nil {
			f.simple(s.Post)
		}
	})
	f.errs = f.errs.join(before)
	f.loop(n)
}

// rangeStmt reads a range loop. One over a function hands it the body.
func (f *body) rangeStmt(s *ast.RangeStmt, label string) {
	f.expr(s.X)
	n := &Node{Kind: LoopKind, Name: label, Text: rangeText(s)}
	before := maps.Clone(f.errs)
	n.Body, _ = f.capture(func() { f.list(s.Body.List) })
	f.errs = f.errs.join(before)
	f.loop(n)
}

// loop emits a loop, if it matters.
func (f *body) loop(n *Node) {
	n.Body = trimmed(n.Body, func(m *Node) bool { return m.Kind == ContinueKind && (m.Name == "" || m.Name == n.Name) })
	if matters(n) {
		f.emit(n)
	}
	f.dead = n.Endless && !leaves(n, BreakKind)
}

// not is the text of a condition's opposite.
func not(x ast.Expr) string {
	x = ast.Unparen(x)
	if negation, ok := x.(*ast.UnaryExpr); ok && negation.Op == token.NOT {
		return text(negation.X)
	}
	if _, ok := x.(*ast.BinaryExpr); ok {
		return "!(" + text(x) + ")"
	}
	return "!" + text(x)
}
