// Package lossy is the check lossy: what a step takes or returns does not survive
// JSON whole.
package lossy

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/marked"
	"github.com/restaq/restaq/internal/eventtype"
	"github.com/restaq/restaq/internal/jsonform"
)

const doc = `lossy: report inputs and outputs of steps that JSON does not keep whole

A step's inputs and output are recorded as JSON, and its caller gets the output as
it was read back. Lost are unexported fields and those tagged json:"-"; of a value
of type any only its JSON is left, and a sum of money in a float is not exact to
begin with.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:     "lossy",
	Doc:      doc,
	URL:      "https://github.com/restaq/restaq/blob/main/docs/checks/lossy.md",
	Requires: []*analysis.Analyzer{marked.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	c := &check{pass: pass, pkg: marked.Of(pass), events: eventtype.NewCatalog()}
	for _, s := range c.pkg.Steps {
		for _, p := range s.Inputs() {
			label := "input " + p.Name()
			if p.Name() == "" || p.Name() == "_" {
				label = "input"
			}
			c.value(s.String(), label, p.Name(), p.Type(), p.Pos())
		}
		if out := s.Output(); out != nil {
			pos := out.Pos()
			if out.Name() == "" {
				pos = s.Decl.Type.Results.List[0].Pos()
			}
			c.value(s.String(), "output", out.Name(), out.Type(), pos)
		}
	}
	for _, do := range c.pkg.Does() {
		if results, ok := pass.TypesInfo.TypeOf(do.Call).(*types.Tuple); ok && results.Len() == 2 {
			c.value(do.String(), "output", "", results.At(0).Type(), do.Call.Pos())
		}
	}
	return nil, nil
}

type check struct {
	pass   *analysis.Pass
	pkg    *marked.Package
	events *eventtype.Catalog
}

// value reports what is lost of a value of type t.
func (c *check) value(subject, label, name string, t types.Type, pos token.Pos) {
	report := func(path, reason, hint string) {
		if path != "" {
			path += " "
		}
		c.pkg.Report(c.pass, marked.Finding{Pos: pos, Subject: subject, Reason: label + ": " + path + reason, Hint: hint})
	}
	if fault := jsonform.Find(t, c.pass.Pkg, c.events.IsFamily); fault != nil {
		report(fault.Path, fault.Reason, fault.Hint)
		return
	}
	for _, l := range losses(t, name, c.pass.Pkg) {
		report(l.path, l.reason, l.hint)
	}
}
