package calls

import (
	"go/ast"
	"go/token"
)

// walker follows the paths through one function body.
type walker struct {
	*Graph
	frames []*frame
	exits  state            // where return statements stand
	labels map[string]state // what goto statements bring to labels
	back   bool             // a goto changed the state of a label
	inside bool             // the body is that of a handler or step
}

// frame is a statement that break or continue can leave.
type frame struct {
	label     string
	loop      bool
	breaks    state
	continues state
	falls     state // into the next case
}

// body returns what a run of the body comes to, over all its paths.
func (w *walker) body(body *ast.BlockStmt) state {
	var end state
	for range 4 { // each round of gotos can raise a count once
		w.back = false
		end = w.block(body.List, state{})
		if !w.back {
			break
		}
	}
	if end = join(end, w.exits); end == nil {
		return state{}
	}
	return end
}

func (w *walker) block(list []ast.Stmt, st state) state {
	for _, s := range list {
		st = w.stmt(s, st, "")
	}
	return st
}

// stmt returns the state behind a statement; label is the one before it.
func (w *walker) stmt(s ast.Stmt, st state, label string) state {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return w.stmt(s.Stmt, join(st, w.labels[s.Label.Name]), s.Label.Name)
	case *ast.BlockStmt:
		return w.block(s.List, st)
	case *ast.IfStmt:
		st = w.expr(s.Cond, w.simple(s.Init, st))
		then := w.block(s.Body.List, st)
		if s.Else != nil {
			st = w.stmt(s.Else, st, "")
		}
		return join(then, st)
	case *ast.ForStmt:
		return w.loop(label, w.simple(s.Init, st), s.Cond, s.Post, s.Body, s.Cond != nil)
	case *ast.RangeStmt:
		return w.loop(label, w.expr(s.X, st), nil, nil, s.Body, true)
	case *ast.SwitchStmt:
		return w.cases(label, w.expr(s.Tag, w.simple(s.Init, st)), s.Body.List, false)
	case *ast.TypeSwitchStmt:
		return w.cases(label, w.simple(s.Assign, w.simple(s.Init, st)), s.Body.List, false)
	case *ast.SelectStmt:
		return w.cases(label, st, s.Body.List, true)
	case *ast.BranchStmt:
		return w.branch(s, st)
	case *ast.ReturnStmt:
		for _, x := range s.Results {
			st = w.expr(x, st)
		}
		w.exits = join(w.exits, st)
		return nil
	}
	return w.simple(s, st)
}

// simple returns the state behind a statement without statements in it.
func (w *walker) simple(s ast.Stmt, st state) state {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok && w.endsPath(call) {
			w.expr(s.X, st)
			return nil
		}
		return w.expr(s.X, st)
	case *ast.AssignStmt:
		st = w.assigned(s.Lhs, s.Rhs, st)
		for _, x := range s.Lhs {
			if _, ok := x.(*ast.Ident); !ok { // a variable's value is not asked for
				st = w.expr(x, st)
			}
		}
	case *ast.DeclStmt:
		if decl, ok := s.Decl.(*ast.GenDecl); ok {
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.ValueSpec); ok {
					st = w.assigned(expressions(spec.Names), spec.Values, st)
				}
			}
		}
	case *ast.GoStmt:
		calls := w.expr(s.Call, state{})
		return w.apply(st, calls, s.Pos(), "called concurrently, at "+w.where(s.Pos()))
	case *ast.DeferStmt:
		return w.expr(s.Call, st)
	case *ast.SendStmt:
		return w.expr(s.Value, w.expr(s.Chan, st))
	case *ast.IncDecStmt:
		return w.expr(s.X, st)
	}
	return st
}

// assigned returns the state behind the evaluation of an assignment's values.
// Function values that a variable holds are counted where that is called.
func (w *walker) assigned(to, values []ast.Expr, st state) state {
	for i, x := range values {
		if !w.isHeld(to, values, i) {
			st = w.expr(x, st)
		} else if method, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
			st = w.expr(method.X, st)
		}
	}
	return st
}

// loop returns the state behind a loop. Whether it can end by its condition is
// said by ends.
func (w *walker) loop(label string, st state, cond ast.Expr, post ast.Stmt, body *ast.BlockStmt, ends bool) state {
	head := st
	for {
		f := &frame{label: label, loop: true}
		in := w.expr(cond, head)
		w.frames = append(w.frames, f)
		out := join(w.block(body.List, in), f.continues)
		w.frames = w.frames[:len(w.frames)-1]
		next := join(head, w.simple(post, out))
		if equal(next, head) {
			if ends {
				return join(in, f.breaks)
			}
			return f.breaks
		}
		head = next
	}
}

// cases returns the state behind a switch or select.
func (w *walker) cases(label string, st state, clauses []ast.Stmt, isSelect bool) state {
	f := &frame{label: label}
	w.frames = append(w.frames, f)
	var end state
	hasDefault := isSelect // which runs one of its cases
	for _, clause := range clauses {
		var in state
		var body []ast.Stmt
		switch clause := clause.(type) {
		case *ast.CaseClause:
			for _, x := range clause.List {
				st = w.expr(x, st)
			}
			hasDefault = hasDefault || clause.List == nil
			in, body = join(st, f.falls), clause.Body
		case *ast.CommClause:
			in, body = w.simple(clause.Comm, st), clause.Body
		}
		f.falls = nil
		end = join(end, w.block(body, in))
	}
	w.frames = w.frames[:len(w.frames)-1]
	if !hasDefault {
		end = join(end, st)
	}
	return join(end, f.breaks)
}

// branch takes the state to where a break, continue, goto or fallthrough leads.
func (w *walker) branch(s *ast.BranchStmt, st state) state {
	label := ""
	if s.Label != nil {
		label = s.Label.Name
	}
	switch s.Tok {
	case token.GOTO:
		if next := join(w.labels[label], st); !equal(next, w.labels[label]) {
			w.labels[label], w.back = next, true
		}
	case token.FALLTHROUGH:
		if len(w.frames) > 0 {
			f := w.frames[len(w.frames)-1]
			f.falls = join(f.falls, st)
		}
	default:
		for i := len(w.frames) - 1; i >= 0; i-- {
			f := w.frames[i]
			if label != "" && f.label != label || s.Tok == token.CONTINUE && !f.loop {
				continue
			}
			if s.Tok == token.CONTINUE {
				f.continues = join(f.continues, st)
			} else {
				f.breaks = join(f.breaks, st)
			}
			break
		}
	}
	return nil
}
