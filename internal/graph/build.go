package graph

import (
	"go/ast"
	"go/types"
	"strings"
	"time"

	"github.com/restaq/restaq/internal/model"
)

const runtimePath = "github.com/restaq/restaq/runtime"

// limit is how many nodes a handler's graph may have before functions are no
// longer looked into: helpers that call each other twice grow without bound.
const limit = 10_000

// Of returns the graph of a package, which was built from source.
func Of(p *model.Package, source *model.Source) *Graph {
	g := &Graph{Package: p.Path, Handlers: map[string]*Handler{}}
	handlers := p.Handlers()
	if len(handlers) == 0 {
		return g
	}
	b := newBuilder(p, source)
	for _, h := range handlers {
		g.Handlers[h.FullName] = b.handler(h)
	}
	return g
}

// builder builds the graphs of one package's handlers.
type builder struct {
	*model.Source
	steps map[*types.Func]*marked // those of other packages too; nil for a function that is none
	decls map[*types.Func]*ast.FuncDecl
	held  map[*types.Var][]ast.Expr // functions that variables hold
	leads map[*types.Func]bool      // whether a function leads to steps

	errors map[*types.Var]bool    // variables that are errors, though the type checker did not find out
	bound  map[*types.Var][]value // what parameters stand for, in a call
	active []ast.Node             // bodies that are being read
	size   int                    // nodes of the handler so far
	called map[string]Step        // steps of the handler so far
}

// marked is a step and its name.
type marked struct {
	name string
	step Step
}

func newBuilder(p *model.Package, source *model.Source) *builder {
	b := &builder{
		Source: source, steps: map[*types.Func]*marked{}, decls: map[*types.Func]*ast.FuncDecl{}, bound: map[*types.Var][]value{}, errors: map[*types.Var]bool{},
	}
	for _, s := range p.Steps() {
		step := Step{
			Func: funcName(s.Obj), Attempts: s.Attempts, Backoff: interval(s.Backoff.Min, s.Backoff.Max), Timeout: duration(s.Timeout), Pure: s.Pure,
		}
		if s.Key != nil {
			step.Key = short(s.Key.String())
		}
		if s.TxType != nil {
			step.Tx = types.TypeString(s.TxType, (*types.Package).Name)
		}
		b.steps[s.Obj] = &marked{s.Record, step}
	}
	for _, file := range source.Files {
		for _, decl := range file.Syntax.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok && decl.Body != nil {
				if fn, ok := source.Info.Defs[decl.Name].(*types.Func); ok {
					b.decls[fn] = decl
				}
			}
		}
	}
	b.findHeld()
	b.findLeads()
	return b
}

// handler returns what a handler does.
func (b *builder) handler(h *model.Handler) *Handler {
	b.size, b.called = 0, map[string]Step{}
	g := &Handler{Version: Version, Attempts: h.Attempts, Backoff: interval(h.Backoff.Min, h.Backoff.Max), Timeout: duration(h.Timeout), Flow: []*Node{}}
	for _, e := range h.Events {
		g.Events = append(g.Events, e.Type)
	}
	if h.Order != nil {
		g.Order = short(h.Order.String())
	}
	if decl := b.decls[h.Obj]; decl != nil {
		if body := b.function(decl, decl.Body, h.Obj.Signature()); body != nil {
			g.Flow = body
		}
	}
	g.Steps = b.called
	return g
}

// funcName returns the name of a function within its package.
func funcName(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Name()
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + fn.Name()
	}
	return fn.Name()
}

// interval returns a backoff as its option has it; "" for none.
func interval(from, to time.Duration) string {
	if from == 0 && to == 0 {
		return ""
	}
	return duration(from) + ".." + duration(to)
}

// duration returns a duration without units that are zero: 10m and not 10m0s;
// "" for none.
func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// variable returns the variable that an expression is, nil if it is none.
func (b *builder) variable(x ast.Expr) *types.Var {
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if v, ok := b.Info.ObjectOf(id).(*types.Var); ok {
			return v
		}
	}
	return nil
}

// isDo reports whether fn is restaq.Do.
func isDo(fn *types.Func) bool {
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == runtimePath && fn.Name() == "Do" && fn.Signature().Recv() == nil
}
