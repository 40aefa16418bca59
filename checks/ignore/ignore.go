// Package ignore is the check ignore: it reports comments //restaq:ignore that
// silence nothing, be it that the finding is gone or that the check has another
// name. A silencer that stays behind would hide the next finding on its line.
package ignore

import (
	"fmt"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/marked"
	"github.com/restaq/restaq/internal/marker"
)

const doc = `ignore: report comments //restaq:ignore that silence nothing

A check is silenced on a line, with a reason, by a comment on that line or the
line above it:

	//restaq:ignore CHECK REASON

When there is nothing to silence any more, the comment is to go, too.`

// New returns the check for all others, checks. It requires them, so that it runs
// when they have.
func New(checks []*analysis.Analyzer) *analysis.Analyzer {
	names := make([]string, len(checks))
	known := map[string]bool{}
	for i, a := range checks {
		names[i] = a.Name
		known[a.Name] = true
	}
	run := func(pass *analysis.Pass) (any, error) {
		pkg := marked.Of(pass)
		for _, e := range pkg.WrongSilencers() {
			pkg.Report(pass, marked.Finding{Pos: e.Pos, Reason: e.Reason, Hint: e.Hint})
		}
		for _, s := range pkg.Silencers() {
			f := marked.Finding{Pos: s.Pos, End: s.End, Subject: "//restaq:ignore"}
			switch name := s.Check.Text; {
			case !known[name]:
				f.Reason = "there is no check " + name
				if near := marker.Nearest(name, names); near != "" {
					f.Hint = fmt.Sprintf("did you mean %s?", near)
				}
			case !s.Used():
				f.Reason = fmt.Sprintf("silences nothing: %s has nothing to say of line %d or %d", name, s.From, s.To)
				f.Hint = "remove it"
				f.Fixes = []analysis.SuggestedFix{{Message: "remove it", TextEdits: []analysis.TextEdit{{Pos: s.Pos, End: s.End}}}}
			default:
				continue
			}
			pkg.Report(pass, f)
		}
		return nil, nil
	}
	return &analysis.Analyzer{
		Name: "ignore", Doc: doc, URL: "https://github.com/restaq/restaq/blob/main/docs/checks/ignore.md",
		Requires: append([]*analysis.Analyzer{marked.Analyzer}, checks...), Run: run,
	}
}
