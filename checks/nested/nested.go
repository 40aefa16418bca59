// Package nested is the check nested: a step runs another step within itself.
package nested

import (
	"go/ast"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/leads"
	"github.com/restaq/restaq/checks/internal/marked"
)

const doc = `nested: report steps that run other steps

A step's record stands for all that it did. Once it is there, the step within is
not asked for any more; until then the outer step fails and runs again as a whole
whenever the inner one does. In a step with a transaction it is an error. A handler
is what runs steps; a step calls functions.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:     "nested",
	Doc:      doc,
	URL:      "https://github.com/restaq/restaq/blob/main/docs/checks/nested.md",
	Requires: []*analysis.Analyzer{marked.Analyzer, leads.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	pkg, functions := marked.Of(pass), leads.Of(pass)
	report := func(subject string, body ast.Node) {
		for _, lead := range functions.In(body) {
			reason := "runs a step within itself: " + strings.Join(lead.Chain, " → ")
			hint := "run it from the handler, behind this step"
			if lead.Step != nil {
				reason = "runs " + lead.Step.String() + " within itself"
				hint = "run it from the handler, or call its function, " + marked.Name(lead.Step.Func) + ", to have it as a part of this step"
			}
			pkg.Report(pass, marked.Finding{Pos: lead.At.Pos(), End: lead.At.End(), Subject: subject, Reason: reason, Hint: hint})
		}
	}
	for _, s := range pkg.Steps {
		report(s.String(), s.Decl.Body)
	}
	for _, do := range pkg.Does() {
		if do.Func != nil {
			report(do.String(), do.Func.Body)
		} else if lead, ok := functions.Lead(ast.Unparen(do.Call.Args[2])); ok {
			pkg.Report(pass, marked.Finding{
				Pos: lead.At.Pos(), End: lead.At.End(), Subject: do.String(),
				Reason: "runs a step within itself: " + strings.Join(lead.Chain, " → "),
				Hint:   "run it from the handler, behind this step",
			})
		}
	}
	return nil, nil
}
