package nondeterminism

import (
	"go/ast"
	"go/token"
	"go/types"
)

func (f *function) block(list []ast.Stmt) {
	for _, s := range list {
		f.statement(s)
	}
}

// statement follows values through a statement.
func (f *function) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		f.value(s.X)
	case *ast.AssignStmt:
		f.assignment(s)
	case *ast.IncDecStmt:
		f.assign(s.X, f.value(s.X))
	case *ast.DeclStmt:
		if decl, ok := s.Decl.(*ast.GenDecl); ok {
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.ValueSpec); ok && len(spec.Values) > 0 {
					names := make([]ast.Expr, len(spec.Names))
					for i, name := range spec.Names {
						names[i] = name
					}
					f.assignAll(names, spec.Values)
				}
			}
		}
	case *ast.ReturnStmt:
		f.returns(s)
	case *ast.BlockStmt:
		f.block(s.List)
	case *ast.LabeledStmt:
		f.statement(s.Stmt)
	case *ast.IfStmt:
		f.branch(s)
	case *ast.ForStmt, *ast.RangeStmt:
		f.loop(s)
	case *ast.SwitchStmt:
		f.optional(s.Init)
		l := f.value(s.Tag)
		f.clauses(s, l, s.Body)
	case *ast.TypeSwitchStmt:
		f.optional(s.Init)
		f.typeSwitch(s)
	case *ast.SelectStmt:
		f.selects(s)
	case *ast.GoStmt:
		f.fault(s, fault{What: "starts a goroutine", Through: []string{"go statement"}, Hint: "what it does is lost when the process ends: do it in a step"})
		f.value(s.Call)
	case *ast.DeferStmt:
		f.value(s.Call)
	case *ast.SendStmt:
		f.channel(s, "channel send")
		f.value(s.Chan)
		f.value(s.Value)
	}
}

func (f *function) optional(s ast.Stmt) {
	if s != nil {
		f.statement(s)
	}
}

// channel notes a use of a channel.
func (f *function) channel(at ast.Node, what string) {
	f.fault(at, fault{What: "waits for other goroutines by a channel", Through: []string{what}, Hint: "a handler waits in steps alone: do it in a step"})
}

func (f *function) assignment(s *ast.AssignStmt) {
	if s.Tok == token.ASSIGN || s.Tok == token.DEFINE {
		f.assignAll(s.Lhs, s.Rhs)
		return
	}
	l := f.value(s.Lhs[0]) | f.value(s.Rhs[0])
	if basic, ok := f.typeOf(s.Lhs[0]).Underlying().(*types.Basic); ok && s.Tok == token.ADD_ASSIGN && basic.Info()&types.IsString != 0 {
		l |= f.orders
	}
	f.assign(s.Lhs[0], l)
}

func (f *function) typeOf(x ast.Expr) types.Type {
	if t := f.pass.TypesInfo.TypeOf(x); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// assignAll assigns values, or the results of the one call among them.
func (f *function) assignAll(to, values []ast.Expr) {
	if len(to) == len(values) {
		all := make([]labels, len(values))
		for i, x := range values {
			all[i] = f.value(x)
		}
		for i, x := range to {
			f.assign(x, all[i])
		}
		return
	}
	result := outcome{}
	if call, ok := ast.Unparen(values[0]).(*ast.CallExpr); ok {
		result = f.call(call)
	} else {
		result.value = f.value(values[0])
	}
	for _, x := range to {
		if isError(f.typeOf(x)) {
			f.assign(x, result.err)
		} else {
			f.assign(x, result.value)
		}
	}
}

func (f *function) returns(s *ast.ReturnStmt) {
	if len(s.Results) == 1 {
		if call, ok := ast.Unparen(s.Results[0]).(*ast.CallExpr); ok {
			if tuple, ok := f.typeOf(call).(*types.Tuple); ok {
				result := f.call(call)
				for v := range tuple.Variables() {
					if isError(v.Type()) {
						f.results.err |= result.err | f.control
					} else {
						f.results.value |= result.value | f.control
					}
				}
				return
			}
		}
	}
	for _, x := range s.Results {
		f.result(f.typeOf(x), f.value(x)|f.control)
		if f.isNil(x) { // a nil error has no type of its own
			f.results.err |= f.control
		}
	}
}

func (f *function) isNil(x ast.Expr) bool { return f.pass.TypesInfo.Types[x].IsNil() }

// branch follows both ways of an if.
func (f *function) branch(s *ast.IfStmt) {
	f.optional(s.Init)
	l := f.value(s.Cond)
	f.decides(l, s)
	outer := f.control
	f.control |= l
	before := f.now.clone()
	f.block(s.Body.List)
	then := f.now
	f.now = before
	if s.Else != nil {
		f.statement(s.Else)
		if f.ends(s.Else) {
			f.now = places{}
		}
	}
	if !f.ends(s.Body) {
		f.now.join(then)
	}
	f.control = outer
}

// loop goes through a loop twice, so that what a round leaves behind reaches the
// next one.
func (f *function) loop(s ast.Stmt) {
	outer, orders := f.control, f.orders
	f.loops = append(f.loops, s)
	switch s := s.(type) {
	case *ast.ForStmt:
		f.optional(s.Init)
		for range 2 {
			before := f.now.clone()
			l := f.value(s.Cond)
			f.decides(l, s)
			f.control |= l
			f.block(s.Body.List)
			f.optional(s.Post)
			f.now.join(before)
		}
	case *ast.RangeStmt:
		l := f.value(s.X) | f.ranges(s)
		f.decides(l&^f.ordersOnly(), s)
		f.control |= l &^ f.ordersOnly()
		for range 2 {
			before := f.now.clone()
			for _, x := range []ast.Expr{s.Key, s.Value} {
				if x != nil {
					f.assign(x, l&^f.ordersOnly())
				}
			}
			f.block(s.Body.List)
			f.now.join(before)
		}
	}
	f.loops = f.loops[:len(f.loops)-1]
	f.control, f.orders = outer, orders
}

// mapRange is what a loop over a map is called.
const mapRange = "range over a map"

// ranges notes what a loop goes through: a channel, or a map in its order.
func (f *function) ranges(s *ast.RangeStmt) labels {
	switch f.typeOf(s.X).Underlying().(type) {
	case *types.Chan:
		f.channel(s, "range over a channel")
	case *types.Map:
		f.orders |= f.source(source{at: s, names: []string{mapRange}, order: true})
	default:
		f.orders |= f.value(s.X) & f.ordersOnly()
	}
	if f.orders != 0 && f.hasStep(s.Body) {
		f.reaches(f.orders, "so does that of the steps in the loop")
	}
	return 0
}

// ordersOnly are the labels of sources of which the order alone differs.
func (f *function) ordersOnly() labels {
	var l labels
	for i, s := range f.sources {
		if s.order {
			l |= 1 << i
		}
	}
	return l
}

// clauses follows the cases of a switch.
func (f *function) clauses(s ast.Stmt, l labels, body *ast.BlockStmt) {
	for _, clause := range body.List {
		for _, x := range clause.(*ast.CaseClause).List {
			l |= f.value(x)
		}
	}
	f.decides(l, s)
	outer := f.control
	f.control |= l
	before, end := f.now.clone(), f.now.clone()
	for _, clause := range body.List {
		clause := clause.(*ast.CaseClause)
		f.now = before.clone()
		f.block(clause.Body)
		if n := len(clause.Body); n == 0 || !f.ends(clause.Body[n-1]) || isBreak(clause.Body[n-1]) {
			end.join(f.now)
		}
	}
	f.now, f.control = end, outer
}

func isBreak(s ast.Stmt) bool {
	b, ok := s.(*ast.BranchStmt)
	return ok && (b.Tok == token.BREAK || b.Tok == token.FALLTHROUGH)
}

func (f *function) typeSwitch(s *ast.TypeSwitchStmt) {
	var l labels
	switch assign := s.Assign.(type) {
	case *ast.ExprStmt:
		l = f.value(assign.X)
	case *ast.AssignStmt:
		l = f.value(assign.Rhs[0])
		for _, clause := range s.Body.List {
			if v, ok := f.pass.TypesInfo.Implicits[clause].(*types.Var); ok {
				f.now.set(v, l)
			}
		}
	}
	f.clauses(s, l, s.Body)
}

// selects follows the cases of a select. One that only looks whether the context
// has ended is fine.
func (f *function) selects(s *ast.SelectStmt) {
	fine := true
	for _, clause := range s.Body.List {
		if comm := clause.(*ast.CommClause).Comm; comm != nil && !f.asksContext(comm) {
			fine = false
		}
	}
	if !fine {
		f.fault(s, fault{What: "waits for other goroutines by a channel", Through: []string{"select"}, Hint: "a handler waits in steps alone: do it in a step"})
	}
	before, end := f.now.clone(), f.now.clone()
	for _, clause := range s.Body.List {
		clause := clause.(*ast.CommClause)
		f.now = before.clone()
		f.communication(clause.Comm)
		if assign, ok := clause.Comm.(*ast.AssignStmt); ok && !fine {
			l := f.source(source{at: s, names: []string{"select"}, what: "what select receives"})
			for _, x := range assign.Lhs {
				f.assign(x, l)
			}
		}
		f.block(clause.Body)
		end.join(f.now)
	}
	f.now = end
}

// communication looks at what the communication of a case evaluates.
func (f *function) communication(s ast.Stmt) {
	var x ast.Expr
	switch s := s.(type) {
	case *ast.SendStmt:
		f.value(s.Chan)
		f.value(s.Value)
	case *ast.ExprStmt:
		x = s.X
	case *ast.AssignStmt:
		x = s.Rhs[0]
	}
	if receive, ok := ast.Unparen(x).(*ast.UnaryExpr); ok {
		f.value(receive.X)
	}
}

// asksContext reports whether a communication is <-ctx.Done().
func (f *function) asksContext(s ast.Stmt) bool {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	receive, ok := ast.Unparen(x.X).(*ast.UnaryExpr)
	return ok && f.isDone(receive.X)
}

func (f *function) isDone(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "Done" && isContext(f.typeOf(selector.X))
}
