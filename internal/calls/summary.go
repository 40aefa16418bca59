package calls

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math"
	"slices"
)

// count says how often something is called on some path: once, or more often.
type count struct {
	many bool
	why  string    // of many, to stand behind "it is "
	pos  token.Pos // of the first call
}

// state holds, for a point in a function, the greatest count over the paths
// that lead to it, by what is called: a step (*Step), or a parameter of
// function type (*types.Var). Nil means that no path leads there. States are
// never changed in place.
type state map[any]count

// summary is what one call of a function comes to.
//
// Functions are summarized depth first. One that is met again while it is under
// way counts for nothing there, and whatever lies between on the stack calls
// itself through it: those summaries miss calls, and are forgotten when the one
// that they began in is whole.
type summary struct {
	calls     state
	underWay  bool
	recursive bool
	depth     int // on the stack
	low       int // the least depth of what it was found to lead back to
}

// join returns the greatest counts of both.
func join(a, b state) state {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	joined := maps.Clone(a)
	for what, n := range b {
		if old, ok := joined[what]; !ok || n.many && !old.many {
			joined[what] = n
		}
	}
	return joined
}

// equal reports whether two states count alike.
func equal(a, b state) bool {
	return (a == nil) == (b == nil) && maps.EqualFunc(a, b, func(x, y count) bool { return x.many == y.many })
}

// add returns st after a call of what at pos. What is called more than once is
// noted, if it is a step without key=.
func (g *Graph) add(st state, what any, n count, pos token.Pos) state {
	if st == nil {
		return nil
	}
	m, isStep := what.(*Step)
	if isStep && m.Keyed {
		return st
	}
	added := maps.Clone(st)
	old, again := st[what]
	switch {
	case old.many:
		return st
	case n.many:
		added[what] = n
	case again && old.pos == pos:
		added[what] = count{true, "called in a loop, at " + g.where(pos), pos}
	case again:
		added[what] = count{true, fmt.Sprintf("called twice on one path, at %s and %s", g.where(old.pos), g.where(pos)), old.pos}
	default:
		added[what] = count{pos: pos}
	}
	if isStep && added[what].many && g.flagged[m] == "" {
		g.flagged[m] = added[what].why
	}
	return added
}

// apply returns st after everything in calls, as one call at pos. If why is not
// empty, it says why all of them count as many.
func (g *Graph) apply(st, calls state, pos token.Pos, why string) state {
	for _, what := range inOrder(calls) {
		n := calls[what]
		if why != "" && !n.many {
			n = count{true, why, n.pos}
		}
		st = g.add(st, what, n, pos)
	}
	return st
}

// inOrder returns what is called in the order of the first calls.
func inOrder(calls state) []any {
	keys := slices.Collect(maps.Keys(calls))
	slices.SortFunc(keys, func(a, b any) int { return int(calls[a].pos) - int(calls[b].pos) })
	return keys
}

// summary returns what one call of a function of the package comes to.
func (g *Graph) summary(fn *types.Func) state {
	decl := g.decls[fn]
	if decl == nil {
		return state{}
	}
	return g.summarize(fn, decl.Body, fn.Name())
}

// summarize returns what one run of a body comes to. A function that calls
// itself counts each call as many.
func (g *Graph) summarize(key any, body *ast.BlockStmt, name string) state {
	if s := g.summaries[key]; s != nil {
		return g.met(s)
	}
	s := &summary{underWay: true, depth: len(g.stack), low: len(g.stack)}
	g.summaries[key] = s
	g.stack = append(g.stack, s)
	forget := len(g.partial)
	w := &walker{Graph: g, labels: map[string]state{}}
	if fn, ok := key.(*types.Func); ok {
		w.inside = g.handlers[fn] || g.steps[fn] != nil
	}
	s.calls = w.body(body)
	if s.recursive {
		s.calls = g.apply(state{}, s.calls, body.Pos(), fmt.Sprintf("called in %s, which calls itself, at %s", name, g.where(body.Pos())))
	}
	s.underWay = false
	g.stack = g.stack[:s.depth]
	if s.low < s.depth {
		g.partial = append(g.partial, key)
		g.leadsBack(s.low)
		return s.calls
	}
	for _, key := range g.partial[forget:] {
		delete(g.summaries, key)
	}
	g.partial = g.partial[:forget]
	s.low = math.MaxInt // it is whole
	return s.calls
}

// met returns what a call of a function comes to whose summary was begun.
func (g *Graph) met(s *summary) state {
	if !s.underWay {
		g.leadsBack(s.low)
		return s.calls
	}
	for _, between := range g.stack[s.depth:] {
		between.recursive = true
	}
	g.leadsBack(s.depth)
	return state{}
}

// leadsBack notes that the summary under way leads to one at a depth of the
// stack, if that is under way, too.
func (g *Graph) leadsBack(depth int) {
	if n := len(g.stack); n > 0 {
		top := g.stack[n-1]
		top.low = min(top.low, depth)
	}
}
