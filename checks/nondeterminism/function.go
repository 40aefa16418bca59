package nondeterminism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/restaq/restaq/checks/internal/marked"
)

// labels says which sources a value depends on, a bit for each.
type labels uint64

// maxSources is how many sources of a function are told apart.
const maxSources = 64

// source is where a value that differs comes from.
type source struct {
	at    ast.Node // nil for a parameter
	names []string // the names from what is called here to what differs
	order bool     // it is the order alone that differs, and sorting helps
	what  string   // what differs, such as "time.Now"
	param int      // of a parameter: its index, -1 for the receiver
}

// function is the look into one function.
type function struct {
	*check
	fn      *types.Func
	handler bool
	decl    *ast.FuncDecl
	sources []source
	params  map[*types.Var]int // to the indices in sources

	steps []token.Pos // where steps are run, in source order
	sites []site
	takes []taken

	reached labels // those for which a fault was noted

	now     places
	control labels     // of the branches that lead here
	orders  labels     // of the loops over maps that lead here
	loops   []ast.Node // that lead here
	guarded labels     // of what locks guard
	results *outcome   // of the function or the literal that is looked into
	whole   outcome
	gives   map[int]labels
}

// outcome is what results depend on.
type outcome struct{ value, err labels }

func newFunction(c *check, fn *types.Func, decl *ast.FuncDecl) *function {
	f := &function{check: c, fn: fn, decl: decl, handler: c.pkg.Handler(fn) != nil, params: map[*types.Var]int{}, now: places{}, gives: map[int]labels{}}
	f.results = &f.whole
	for _, lead := range c.leads.In(decl.Body) {
		f.steps = append(f.steps, lead.At.Pos())
	}
	if f.handler {
		return f
	}
	add := func(v *types.Var, index int) {
		if v != nil && !isContext(v.Type()) {
			f.params[v] = len(f.sources)
			f.now[place{v, nil}] = f.source(source{param: index})
		}
	}
	add(fn.Signature().Recv(), -1)
	for i := range fn.Signature().Params().Len() {
		if len(f.sources) < maxSources/2 {
			add(fn.Signature().Params().At(i), i)
		}
	}
	return f
}

func isContext(t types.Type) bool { return marked.IsNamed(t, "context", "Context") }

// source adds a source, unless it was met before, and returns its label. Those
// beyond what can be told apart share the last one.
func (f *function) source(s source) labels {
	if s.at != nil {
		if i := slices.IndexFunc(f.sources, func(o source) bool { return o.at == s.at && o.order == s.order }); i >= 0 {
			return 1 << i
		}
	}
	if len(f.sources) == maxSources {
		return 1 << (maxSources - 1)
	}
	f.sources = append(f.sources, s)
	return 1 << (len(f.sources) - 1)
}

// body looks into the function's body.
func (f *function) body() {
	f.block(f.decl.Body.List)
	if named := f.fn.Signature().Results(); f.decl.Type.Results != nil {
		for v := range named.Variables() { // for returns without values
			if v.Name() != "" {
				f.result(v.Type(), f.now.of(v))
			}
		}
	}
}

// behaviour is what there is to know of the function for its callers.
func (f *function) behaviour() *behaviour {
	b := &behaviour{Takes: f.takes}
	for _, s := range f.sites {
		if !slices.ContainsFunc(b.Faults, func(o fault) bool { return o.What == s.What }) {
			b.Faults = append(b.Faults, s.fault)
		}
	}
	b.Value, b.FromValue = f.names(f.whole.value|f.guarded), f.from(f.whole.value)
	b.Err, b.FromErr = f.names(f.whole.err), f.from(f.whole.err)
	for param, l := range f.gives {
		if g := (given{param, f.names(l), f.from(l)}); g.Through != nil || g.From != nil {
			b.Gives = append(b.Gives, g)
		}
	}
	slices.SortFunc(b.Gives, func(x, y given) int { return x.Param - y.Param })
	return b
}

// names returns the names of the nearest of sources, nil if they are only
// parameters.
func (f *function) names(l labels) []string {
	var nearest []string
	for i, s := range f.sources {
		if l&(1<<i) != 0 && s.at != nil && (nearest == nil || len(s.names) < len(nearest)) {
			nearest = s.names
		}
	}
	return nearest
}

// from returns the parameters among sources.
func (f *function) from(l labels) []int {
	var params []int
	for i, s := range f.sources {
		if l&(1<<i) != 0 && s.at == nil {
			params = append(params, s.param)
		}
	}
	return params
}

// reaches notes that a value reaches a step, or decides about steps.
func (f *function) reaches(l labels, what string) {
	for i, s := range f.sources {
		switch {
		case l&(1<<i) == 0 || f.reached&(1<<i) != 0:
		case s.at != nil:
			f.reached |= 1 << i
			f.fault(s.at, fault{What: s.differs() + ", and " + what, Through: s.names, Hint: s.hint()})
		case s.param >= 0 && !slices.ContainsFunc(f.takes, func(t taken) bool { return t.Param == s.param }):
			f.takes = append(f.takes, taken{s.param, what})
		}
	}
}

// fault notes a fault.
func (f *function) fault(at ast.Node, found fault) { f.sites = append(f.sites, site{found, at}) }

// differs says what is the matter with a source.
func (s source) differs() string {
	switch {
	case s.order:
		return "the order of a map differs between attempts"
	case strings.HasPrefix(s.what, "sync.") && (strings.HasSuffix(s.what, "Lock") || strings.HasSuffix(s.what, ".Do")):
		return "what " + s.what + " guards differs between attempts"
	case strings.HasPrefix(s.what, "variable "):
		return s.what + " is assigned while the program runs"
	}
	return s.what + " differs between attempts"
}

// hint says what to do about a source.
func (s source) hint() string {
	switch {
	case s.order:
		return "go through the keys in order: slices.Sorted(maps.Keys(m))"
	case strings.HasPrefix(s.what, "time."):
		return "get it in a step, whose result is recorded, or use a time of the event"
	}
	return "get it in a step, whose result is recorded"
}

// result adds to what the results depend on.
func (f *function) result(t types.Type, l labels) {
	if isError(t) {
		f.results.err |= l
	} else {
		f.results.value |= l
	}
}

func isError(t types.Type) bool {
	return types.Identical(types.Unalias(t), types.Universe.Lookup("error").Type())
}

// decides notes that l decides whether what is in a statement runs.
func (f *function) decides(l labels, s ast.Node) {
	if l == 0 || len(f.steps) == 0 {
		return
	}
	if f.hasStep(s) || f.leaves(s, false, false) && f.stepFollows(s) {
		f.reaches(l, "decides about steps")
	}
}

// hasStep reports whether steps are run under a node.
func (f *function) hasStep(n ast.Node) bool {
	return slices.ContainsFunc(f.steps, func(pos token.Pos) bool { return n.Pos() <= pos && pos < n.End() })
}

// stepFollows reports whether steps can be run behind a node.
func (f *function) stepFollows(n ast.Node) bool {
	return f.steps[len(f.steps)-1] >= n.End() || slices.ContainsFunc(f.loops, f.hasStep)
}

// leaves reports whether a statement has another one that leaves it. InLoop and
// inBreakable say whether a continue or a break there stays within.
func (f *function) leaves(s ast.Node, inLoop, inBreakable bool) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Label != nil || n.Tok == token.CONTINUE && !inLoop || n.Tok == token.BREAK && !inBreakable
		case *ast.ExprStmt:
			found = found || f.ends(n)
		case *ast.ForStmt:
			found = found || f.leaves(n.Body, true, true)
			return false
		case *ast.RangeStmt:
			found = found || f.leaves(n.Body, true, true)
			return false
		case *ast.SwitchStmt:
			found = found || f.leaves(n.Body, inLoop, true)
			return false
		case *ast.TypeSwitchStmt:
			found = found || f.leaves(n.Body, inLoop, true)
			return false
		case *ast.SelectStmt:
			found = found || f.leaves(n.Body, inLoop, true)
			return false
		}
		return !found
	})
	return found
}

// ends reports whether a statement is one that the function does not go on behind.
func (f *function) ends(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.BlockStmt:
		return len(s.List) > 0 && f.ends(s.List[len(s.List)-1])
	case *ast.ExprStmt:
		call, ok := ast.Unparen(s.X).(*ast.CallExpr)
		if !ok {
			return false
		}
		if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
			b, ok := f.pass.TypesInfo.Uses[id].(*types.Builtin)
			return ok && b.Name() == "panic"
		}
		fn := f.pkg.Callee(call)
		return fn != nil && fn.Pkg() != nil && (fn.Pkg().Path() == "os" && fn.Name() == "Exit" || fn.Pkg().Path() == "runtime" && fn.Name() == "Goexit")
	}
	return false
}
