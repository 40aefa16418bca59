// Package unreachable is the check unreachable: no handler runs a step.
package unreachable

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/marked"
)

const doc = `unreachable: report steps that no handler runs

The wrapper of a step is called by nothing that a handler leads to: the step is left
over, or the handler calls the wrong function. One package shows it of wrappers that
others cannot call; restaqgen check ./... sees the module, and reports exported
ones too.`

// Analyzer is the check. Its result is for [Whole].
var Analyzer = &analysis.Analyzer{
	Name:       "unreachable",
	Doc:        doc,
	URL:        "https://github.com/restaq/restaq/blob/main/docs/checks/unreachable.md",
	Requires:   []*analysis.Analyzer{marked.Analyzer},
	Run:        run,
	ResultType: reflect.TypeFor[*usage](),
}

// usage is what one package says of exported wrappers.
type usage struct {
	idle []idle               // its own that it has no use for
	used map[*types.Func]bool // those of others that it has
}

// idle is an exported wrapper that its package has no use for.
type idle struct {
	wrapper *types.Func
	finding analysis.Diagnostic
}

// Whole returns the findings about exported wrappers, by the results of [Analyzer]
// for all packages of a module, which share their objects.
func Whole(results []any) []analysis.Diagnostic {
	used := map[*types.Func]bool{}
	for _, r := range results {
		for fn := range r.(*usage).used {
			used[fn] = true
		}
	}
	var found []analysis.Diagnostic
	for _, r := range results {
		for _, i := range r.(*usage).idle {
			if !used[i.wrapper] {
				found = append(found, i.finding)
			}
		}
	}
	return found
}

func run(pass *analysis.Pass) (any, error) {
	c := &check{pass: pass, pkg: marked.Of(pass), reached: map[types.Object]bool{}, methods: map[string]bool{}}
	u := &usage{used: c.reach()}
	for _, s := range c.pkg.Steps {
		if s.Wrapper == nil || u.used[s.Wrapper] || c.reached[s.Func] { // its function called directly is what directcall reports
			continue
		}
		f := marked.Finding{
			Pos: s.Decl.Name.Pos(), End: s.Decl.Name.End(), Subject: s.String(),
			Reason: "no handler runs it: nothing that one leads to calls " + marked.Name(s.Wrapper),
			Hint:   "call it, or remove it",
		}
		if !s.Wrapper.Exported() {
			c.pkg.Report(pass, f)
		} else if !c.pkg.Silenced(pass, f) {
			u.idle = append(u.idle, idle{s.Wrapper, f.Diagnostic(pass)})
		}
	}
	return u, nil
}

type check struct {
	pass    *analysis.Pass
	pkg     *marked.Package
	reached map[types.Object]bool
	methods map[string]bool // names of methods that are called through interfaces
	queue   []types.Object
	used    map[*types.Func]bool
}

// reach returns the wrappers that handlers lead to, or may lead to: from exported
// functions, as other packages' handlers may call those, and from what runs when
// the program begins.
func (c *check) reach() map[*types.Func]bool {
	c.used = map[*types.Func]bool{}
	for _, fn := range c.pkg.Funcs {
		isInit := fn.Name() == "init" || fn.Name() == "main"
		if c.pkg.StepOf(fn) == nil && (c.pkg.Handler(fn) != nil || fn.Exported() || isInit && fn.Signature().Recv() == nil) {
			c.add(fn)
		}
	}
	for _, file := range c.pkg.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok == token.VAR {
				c.mentions(decl)
			}
		}
	}
	for len(c.queue) > 0 {
		next := c.queue[0]
		c.queue = c.queue[1:]
		if fn, ok := next.(*types.Func); ok && c.pkg.Decls[fn] != nil {
			c.mentions(c.pkg.Decls[fn].Body)
		}
	}
	return c.used
}

func (c *check) add(fn *types.Func) {
	if !c.reached[fn] {
		c.reached[fn] = true
		c.queue = append(c.queue, fn)
	}
}

// mentions takes in what is named under a node.
func (c *check) mentions(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		fn, ok := c.pass.TypesInfo.Uses[id].(*types.Func)
		if !ok {
			return true
		}
		fn = fn.Origin()
		if s := c.pkg.WrapperOf(fn); s != nil {
			c.used[fn] = true
			c.add(s.Func)
			return true
		}
		c.add(fn)
		if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) && !c.methods[fn.Name()] {
			c.methods[fn.Name()] = true
			c.implementations(fn.Name())
		}
		return true
	})
}

// implementations adds the methods of a name, and uses the wrappers of that name,
// any of which a call through an interface may mean.
func (c *check) implementations(name string) {
	for _, fn := range c.pkg.Funcs {
		if fn.Name() == name && fn.Signature().Recv() != nil {
			c.add(fn)
		}
	}
	for _, s := range c.pkg.Steps {
		if s.Wrapper != nil && s.Wrapper.Name() == name {
			c.used[s.Wrapper] = true
			c.add(s.Func)
		}
	}
}
