// Package loopkey is the check loopkey: a step without key= is called in a loop,
// concurrently, or twice on one path. The generator refuses the same, by the same
// code; the check finds it where the source has changed since, and no file has to
// be generated anew.
package loopkey

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/marked"
	"github.com/restaq/restaq/internal/calls"
)

const doc = `loopkey: report steps without key= that one execution may call twice

A record is known by its step's name, and the key behind it. A second call under
the same name gets the first one's record if its inputs are the same, and else
stops the execution. A step that is called in a loop, concurrently, or twice on one
path of a handler needs key=, which tells the calls apart.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:     "loopkey",
	Doc:      doc,
	URL:      "https://github.com/restaq/restaq/blob/main/docs/checks/loopkey.md",
	Requires: []*analysis.Analyzer{marked.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	pkg := marked.Of(pass)
	p := calls.Package{
		Info: pass.TypesInfo, Files: pkg.Files,
		Position: func(pos token.Pos) token.Position { return pass.Fset.PositionFor(pos, false) },
		Callee: func(x ast.Expr) (fn, wrapped *types.Func) {
			fn = pkg.Mention(instantiated(x))
			if s := pkg.WrapperOf(fn); s != nil {
				return nil, s.Func
			}
			return fn, nil
		},
	}
	of := map[*calls.Step]*marked.Step{}
	for _, s := range pkg.Steps {
		step := &calls.Step{Func: s.Func, Keyed: s.Keyed}
		p.Steps = append(p.Steps, step)
		of[step] = s
	}
	for _, h := range pkg.Handlers {
		p.Handlers = append(p.Handlers, h.Func)
	}
	for _, r := range calls.New(p).Repetitions() {
		s := of[r.Step]
		pkg.Report(pass, marked.Finding{Pos: s.Marker.Pos, End: s.Marker.End, Subject: s.String(), Reason: r.Reason(), Hint: r.Hint})
	}
	return nil, nil
}

// instantiated returns the function of an expression that gives it types.
func instantiated(x ast.Expr) ast.Expr {
	switch generic := ast.Unparen(x).(type) {
	case *ast.IndexExpr:
		return generic.X
	case *ast.IndexListExpr:
		return generic.X
	}
	return x
}
