// Package checks lists the checks of handlers and steps, each a go/analysis
// analyzer in a folder of its own, named after it. They report the same in
// restaqgen check, in go vet -vettool=$(go tool -n restaqvet) and in golangci-lint.
//
// docs/checks has a page on each.
package checks

import (
	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/contextescape"
	"github.com/restaq/restaq/checks/directcall"
	"github.com/restaq/restaq/checks/ignore"
	"github.com/restaq/restaq/checks/ignorederror"
	"github.com/restaq/restaq/checks/internal/marked"
	"github.com/restaq/restaq/checks/loopkey"
	"github.com/restaq/restaq/checks/lossy"
	"github.com/restaq/restaq/checks/nested"
	"github.com/restaq/restaq/checks/nondeterminism"
	"github.com/restaq/restaq/checks/recovered"
	"github.com/restaq/restaq/checks/sideeffect"
	"github.com/restaq/restaq/checks/unreachable"
	"github.com/restaq/restaq/checks/wrongevent"
)

// All returns the checks. The last one is [ignore], which requires all others.
func All() []*analysis.Analyzer {
	all := []*analysis.Analyzer{
		contextescape.Analyzer,
		directcall.Analyzer,
		ignorederror.Analyzer,
		loopkey.Analyzer,
		lossy.Analyzer,
		nested.Analyzer,
		nondeterminism.Analyzer,
		recovered.Analyzer,
		sideeffect.Analyzer,
		unreachable.Analyzer,
		wrongevent.Analyzer,
	}
	return append(all, ignore.New(all))
}

// Whole returns, by check, what finds out what only all packages of a module
// together show, from the results that the check has for each.
func Whole() map[*analysis.Analyzer]func(results []any) []analysis.Diagnostic {
	return map[*analysis.Analyzer]func(results []any) []analysis.Diagnostic{unreachable.Analyzer: unreachable.Whole}
}

// Split takes the message of a finding apart: into what it is about, such as
// "step record-payment" or "", the reason with the name of the check in brackets,
// and a hint or "".
func Split(message string) (about, reason, hint string) { return marked.Split(message) }
