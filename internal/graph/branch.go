package graph

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"strings"
)

// ifStmt reads an if. One that only returns an error that is there is no branch
// of the graph: the call whose error it is fails.
func (f *body) ifStmt(s *ast.IfStmt) {
	f.simple(s.Init)
	f.expr(s.Cond)
	failed := f.isFailure(s.Cond)
	before := f.errs
	then, errs, thenDead := f.path(before, func() { f.where(s.Cond, s.Body.List) })
	els, elsErrs, elsDead := f.path(before, func() {
		if s.Else != nil {
			f.stmt(s.Else, "")
		}
	})
	f.errs = errs.join(elsErrs)
	if failed != nil && len(then) == 1 && then[0].Kind == ReturnKind && then[0].Fails {
		before.fail(failed)
		f.out, f.dead = append(f.out, els...), elsDead
		return
	}
	f.dead = thenDead && elsDead
	if len(then) == 0 && len(els) == 0 {
		return
	}
	n := &Node{Kind: IfKind, Cases: []*Case{{When: text(s.Cond), Body: then}}}
	if _, chain := s.Else.(*ast.IfStmt); chain && len(els) == 1 && els[0].Kind == IfKind {
		n.Cases = append(n.Cases, els[0].Cases...)
	} else {
		n.Cases = append(n.Cases, &Case{Body: els})
	}
	f.emit(n)
}

// where reads statements that run where a condition holds.
func (f *body) where(cond ast.Expr, list []ast.Stmt) {
	was := maps.Clone(f.nonNil)
	for _, v := range f.knownIn(cond) {
		f.nonNil[v] = true
	}
	f.list(list)
	f.nonNil = was
}

// isFailure returns the variable err of a condition err != nil, nil if it is
// another.
func (f *body) isFailure(cond ast.Expr) *types.Var {
	cmp, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || cmp.Op != token.NEQ || !f.isNil(cmp.Y) {
		return nil
	}
	if v := f.variable(cmp.X); v != nil && (isError(v.Type()) || f.errors[v]) {
		return v
	}
	return nil
}

// knownIn returns the errors that are not nil where a condition holds.
func (f *body) knownIn(cond ast.Expr) []*types.Var {
	if cond == nil {
		return nil
	}
	if both, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && both.Op == token.LAND {
		return append(f.knownIn(both.X), f.knownIn(both.Y)...)
	}
	if v := f.isFailure(cond); v != nil {
		return []*types.Var{v}
	}
	return nil
}

// cases reads the clauses of a switch or select into n.
func (f *body) cases(n *Node, clauses []ast.Stmt) {
	passes := n.Kind == SwitchKind // all cases can be passed by
	ends := true
	before, behind := f.errs, failures{}
	var tests []*Node // calls in the cases' expressions
	for i, clause := range clauses {
		c := &Case{}
		var list []ast.Stmt
		var cond ast.Expr
		switch clause := clause.(type) {
		case *ast.CaseClause:
			found, _ := f.capture(func() {
				for _, x := range clause.List {
					f.expr(x)
				}
			})
			if len(found) > 0 && i > 0 {
				found = []*Node{{Kind: IfKind, Cases: []*Case{{When: "an earlier case is taken"}, {Body: found}}}}
			}
			tests = append(tests, found...)
			passes = passes && clause.List != nil
			c.When, list = texts(clause.List), clause.Body
			if n.Text == "" && len(clause.List) == 1 {
				cond = clause.List[0]
			}
		case *ast.CommClause:
			found, _ := f.capture(func() { f.simple(clause.Comm) })
			tests = append(tests, found...)
			c.When, list = stmtText(clause.Comm), clause.Body
		}
		dead := false
		f.falls = false
		var errs failures
		c.Body, errs, dead = f.path(before, func() { f.where(cond, list) })
		behind = behind.join(errs)
		c.Falls, f.falls = f.falls, false
		ends = ends && dead
		n.Cases = append(n.Cases, c)
	}
	if f.errs = behind; passes {
		f.errs = behind.join(before)
	}
	f.out = append(f.out, tests...)
	if passes {
		n.Cases = append(n.Cases, &Case{})
	}
	broken := leaves(n, BreakKind)
	for _, c := range n.Cases {
		if !c.Falls {
			c.Body = trimmed(c.Body, func(m *Node) bool { return m.Kind == BreakKind && (m.Name == "" || m.Name == n.Name) })
		}
	}
	if matters(n) {
		f.emit(n)
	}
	f.dead = ends && !passes && !broken
}

// branch reads a break, continue, goto or fallthrough.
func (f *body) branch(s *ast.BranchStmt) {
	label := ""
	if s.Label != nil {
		label = s.Label.Name
	}
	switch s.Tok {
	case token.FALLTHROUGH:
		f.falls = true
	case token.BREAK:
		f.emit(&Node{Kind: BreakKind, Name: label})
	case token.CONTINUE:
		f.emit(&Node{Kind: ContinueKind, Name: label})
	case token.GOTO:
		f.emit(&Node{Kind: GotoKind, Name: label})
	}
	f.dead = true
}

// leaves reports whether a break or continue (kind) within n is about n itself.
func leaves(n *Node, kind Kind) bool {
	found := false
	jumps(n, func(jump *Node, own bool) { found = found || own && jump.Kind == kind })
	return found
}

// matters reports whether anything in a loop, switch or select matters to the
// function around it: not if all that is there are jumps within.
func matters(n *Node) bool {
	found := false
	jumps(n, func(_ *Node, own bool) { found = found || !own })
	inside(n, func(m *Node) {
		switch m.Kind {
		case IfKind, SwitchKind, SelectKind, LoopKind, LabelKind, BreakKind, ContinueKind:
		default:
			found = true
		}
	})
	return found
}

// inside calls f for each node within n.
func inside(n *Node, f func(*Node)) {
	each(n.Body, f)
	for _, c := range n.Cases {
		each(c.Body, f)
	}
}

// jumps calls f for each break and continue within n that is about n itself, or
// about something around it.
func jumps(n *Node, f func(jump *Node, own bool)) {
	type around struct{ loop, broken bool } // whether continue and break are about a node within n
	var walk func(nodes []*Node, in around, labels string)
	walk = func(nodes []*Node, in around, labels string) {
		for _, m := range nodes {
			switch m.Kind {
			case BreakKind, ContinueKind:
				switch {
				case m.Name != "" && strings.Contains(labels, "\n"+m.Name+"\n"), m.Name == "" && (m.Kind == BreakKind && in.broken || m.Kind == ContinueKind && in.loop):
				case m.Name != "":
					f(m, m.Name == n.Name)
				default:
					f(m, m.Kind == BreakKind || n.Kind == LoopKind)
				}
			case LoopKind:
				walk(m.Body, around{true, true}, labels+"\n"+m.Name+"\n")
			case SwitchKind, SelectKind:
				for _, c := range m.Cases {
					walk(c.Body, around{in.loop, true}, labels+"\n"+m.Name+"\n")
				}
			case IfKind:
				for _, c := range m.Cases {
					walk(c.Body, in, labels)
				}
			} // jumps do not leave functions
		}
	}
	walk(n.Body, around{}, "")
	for _, c := range n.Cases {
		walk(c.Body, around{}, "")
	}
}
