package marked

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/restaq/restaq/internal/naming"
)

// wrapperSuffix is what a wrapper's name has behind its function's.
const wrapperSuffix = "Step"

// Handler returns the handler of the package whose function fn is, or nil.
func (p *Package) Handler(fn *types.Func) *Handler { return p.handlers[fn] }

// StepOf returns the step whose function fn is, be it of this package or of one
// that it imports; nil if it is none's.
func (p *Package) StepOf(fn *types.Func) *Step {
	if s := p.known(fn); s != nil {
		if s.Func == fn {
			return s
		}
		return nil
	}
	if fn == nil || fn.Pkg() == nil || fn.Pkg() == p.pass.Pkg {
		return nil
	}
	s := &Step{Func: fn, Wrapper: beside(fn, wrapperSuffix), Name: naming.Kebab(fn.Name())}
	var fact stepFact
	switch {
	case p.pass.ImportObjectFact(fn, &fact):
		s.Name, s.Keyed, s.Pure = fact.Name, fact.Keyed, fact.Pure
	case s.Wrapper == nil || !p.isOutput(s.Wrapper):
		return nil
	}
	return s
}

// WrapperOf returns the step whose wrapper fn is, be it of this package or of one
// that it imports; nil if it is none's.
func (p *Package) WrapperOf(fn *types.Func) *Step {
	if s := p.known(fn); s != nil {
		if s.Wrapper == fn {
			return s
		}
		return nil
	}
	if fn == nil || fn.Pkg() == nil || fn.Pkg() == p.pass.Pkg || !p.isOutput(fn) {
		return nil
	}
	return p.StepOf(beside(fn, ""))
}

func (p *Package) known(fn *types.Func) *Step {
	if fn == nil {
		return nil
	}
	return p.steps[fn]
}

// isOutput reports whether restaqgen wrote the file that declares fn.
func (p *Package) isOutput(fn *types.Func) bool {
	return filepath.Base(p.pass.Fset.PositionFor(fn.Pos(), false).Filename) == generatedNames[0]
}

// beside returns the function or method of the same receiver that has fn's name
// with suffix; with "", the one that has it without "Step". Nil if there is none.
func beside(fn *types.Func, suffix string) *types.Func {
	name := fn.Name() + suffix
	if suffix == "" {
		var ok bool
		if name, ok = strings.CutSuffix(fn.Name(), wrapperSuffix); !ok {
			return nil
		}
	}
	if recv := receiver(fn); recv != nil {
		for method := range recv.Methods() {
			if method.Name() == name {
				return method
			}
		}
		return nil
	}
	if fn.Signature().Recv() != nil || fn.Pkg() == nil {
		return nil
	}
	other, _ := fn.Pkg().Scope().Lookup(name).(*types.Func)
	return other
}

// receiver returns the named type that fn is a method of, nil for a function and
// for the method of an interface literal.
func receiver(fn *types.Func) *types.Named {
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil
	}
	t := types.Unalias(recv.Type())
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	named, _ := t.(*types.Named)
	if named != nil {
		named = named.Origin()
	}
	return named
}

// Callee returns the function or method that a call calls, be it through an
// interface; nil for a conversion, a builtin, and a function value. Of a generic
// function it is the declared one.
func (p *Package) Callee(call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(p.pass.TypesInfo, call).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// Mention returns the function or method that an identifier or a selector names,
// called or not; nil if it names something else.
func (p *Package) Mention(x ast.Expr) *types.Func {
	var id *ast.Ident
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return nil
	}
	fn, _ := p.pass.TypesInfo.Uses[id].(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// IsDo reports whether a call is one of restaq.Do, whose last argument is a step.
func (p *Package) IsDo(call *ast.CallExpr) bool {
	fn := p.Callee(call)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == Runtime && fn.Name() == "Do" && fn.Signature().Recv() == nil
}

// Walk calls visit for each node under root in source order, as [ast.Inspect]
// does without its nils, but for the function that restaq.Do is given, which is a
// step. What visit returns false for is not entered.
func (p *Package) Walk(root ast.Node, visit func(ast.Node) bool) {
	steps := map[ast.Node]bool{}
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil || steps[n] {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok && p.IsDo(call) && len(call.Args) > 0 {
			steps[call.Args[len(call.Args)-1]] = true
		}
		return visit(n)
	})
}
