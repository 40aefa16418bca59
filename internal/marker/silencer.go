package marker

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// Silencer is a comment //restaq:ignore, which silences one check on some lines.
type Silencer struct {
	// Pos and End are where the comment begins and ends.
	Pos, End token.Pos

	// Check is the name of the check.
	Check Word

	// Reason is why it is silenced, never empty.
	Reason string

	// From and To are the first and the last line that it is for: its own, and,
	// behind whatever else stands in the same comment, the one below that.
	From, To int
}

// Silences reports whether a finding of a check on a line of the silencer's file
// is silenced.
func (s *Silencer) Silences(check string, line int) bool {
	return s.Check.Text == check && s.From <= line && line <= s.To
}

// Silencers returns the silencers of a file, in source order, and the errors of
// those that are not among them because they are wrong. [Find] returns the errors
// too.
func Silencers(fset *token.FileSet, file *ast.File) (found []Silencer, errors []Error) {
	for _, group := range file.Comments {
		for _, c := range group.List {
			d, ok := ast.ParseDirective(c.Pos(), c.Text)
			if !ok || d.Tool != "restaq" || d.Name != Ignore {
				continue
			}
			s, errs := silencer(d)
			if errors = append(errors, errs...); len(errs) > 0 {
				continue
			}
			s.End = c.End()
			s.From = fset.PositionFor(c.Pos(), false).Line
			s.To = fset.PositionFor(group.End(), false).Line + 1
			found = append(found, s)
		}
	}
	return found, errors
}

var checkName = regexp.MustCompile(`^[a-z]+$`)

// silencer reads a directive of the verb ignore.
func silencer(d ast.Directive) (Silencer, []Error) {
	fail := func(pos token.Pos, reason, hint string) (Silencer, []Error) {
		return Silencer{}, []Error{{Pos: pos, Reason: reason, Hint: hint}}
	}
	const form = "//restaq:ignore CHECK REASON"
	check, reason := d.Args, ""
	if i := strings.IndexAny(d.Args, " \t"); i >= 0 {
		check, reason = d.Args[:i], strings.TrimSpace(d.Args[i:])
	}
	switch {
	case check == "":
		return fail(d.Slash, "//restaq:ignore says neither which check nor why", form)
	case !checkName.MatchString(check):
		return fail(d.ArgsPos, fmt.Sprintf("the name of a check is written in small letters: %q is none", check), form)
	case reason == "":
		return fail(d.ArgsPos, "//restaq:ignore "+check+" says no reason", "//restaq:ignore "+check+" REASON")
	}
	return Silencer{Pos: d.Slash, Check: Word{check, d.ArgsPos}, Reason: reason}, nil
}
