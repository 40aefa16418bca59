package marked

import (
	"go/token"
	"regexp"
	"strings"
	"sync/atomic"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/internal/marker"
)

// Finding is what a check has found.
type Finding struct {
	// Pos is where it is, and End where that ends; NoPos if only Pos is known.
	Pos, End token.Pos

	// Subject is what it is about, as a [Handler] or [Step] prints itself; may be
	// empty.
	Subject string

	// Reason says what is wrong, in lower case and without a period.
	Reason string

	// Hint says what to do about it; may be empty.
	Hint string

	// Fixes are changes of the source that set it right and change nothing else.
	Fixes []analysis.SuggestedFix
}

// Silencer is a comment //restaq:ignore of the package.
type Silencer struct {
	marker.Silencer
	file string
	used atomic.Bool
}

// Used reports whether it has silenced a finding.
func (s *Silencer) Used() bool { return s.used.Load() }

// Silencers returns the package's silencers, in source order.
func (p *Package) Silencers() []*Silencer { return p.silencers }

// WrongSilencers returns what is wrong with comments //restaq:ignore that
// therefore silence nothing.
func (p *Package) WrongSilencers() []marker.Error { return p.wrongSilencers }

// Report reports what the analyzer of pass has found, unless a comment
// //restaq:ignore with its name silences it.
func (p *Package) Report(pass *analysis.Pass, f Finding) {
	if !p.Silenced(pass, f) {
		pass.Report(f.Diagnostic(pass))
	}
}

// Diagnostic returns the finding in the form in which the analyzer of pass reports
// it.
func (f Finding) Diagnostic(pass *analysis.Pass) analysis.Diagnostic {
	return analysis.Diagnostic{
		Pos: f.Pos, End: f.End, Category: pass.Analyzer.Name, Message: f.message(pass.Analyzer.Name),
		URL: pass.Analyzer.URL, SuggestedFixes: f.Fixes,
	}
}

// Silenced reports whether a finding of the analyzer of pass is silenced, and notes
// by which comment.
func (p *Package) Silenced(pass *analysis.Pass, f Finding) bool {
	at := p.pass.Fset.PositionFor(f.Pos, false)
	for _, s := range p.silencers {
		if s.file == at.Filename && s.Silences(pass.Analyzer.Name, at.Line) {
			s.used.Store(true)
			return true
		}
	}
	return false
}

const hintPrefix = "\n\thint: "

// message is the finding as text, in the form that restaqgen prints: it ends with
// the name of the check, for that is what one needs to silence it.
func (f Finding) message(check string) string {
	var b strings.Builder
	if f.Subject != "" {
		b.WriteString(f.Subject + ": ")
	}
	b.WriteString(f.Reason + " (" + check + ")")
	if f.Hint != "" {
		b.WriteString(hintPrefix + f.Hint)
	}
	return b.String()
}

var subject = regexp.MustCompile(`^(?:handler|step|event) [^\s:]+|^//restaq:\w+`)

// Split takes the message of a finding apart again: into what it is about, the
// reason with the name of the check, and the hint.
func Split(message string) (about, reason, hint string) {
	reason, hint, _ = strings.Cut(message, hintPrefix)
	if about = subject.FindString(reason); about != "" {
		if rest, ok := strings.CutPrefix(reason[len(about):], ": "); ok {
			return about, rest, hint
		}
	}
	return "", reason, hint
}
