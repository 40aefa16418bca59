// Package problem holds what is wrong with a user's code or files: positioned,
// collected, sorted, and printed for people or for editors.
//
//	billing/billing.go:12:1: step record-payment: has no error result
//		hint: add an error as the last result
package problem

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Problem is one thing that stops generation.
type Problem struct {
	// Pos is where it is; the zero position if it lies in no file. Line and
	// column count from 1, columns in bytes; zero means unknown.
	Pos token.Position

	// Subject is what it is about, such as "step record-payment" or
	// "handler billing.Billing.ChargeSucceeded"; may be empty.
	Subject string

	// Reason says what is wrong, in lower case and without a period.
	Reason string

	// Hint says what to do about it; may be empty, and may have several lines.
	Hint string

	// Rule is the name of the rule that it comes of, and Verdict what that says
	// of it; both may be empty.
	Rule, Verdict string

	// Note says that it stops nothing.
	Note bool
}

// String formats p with its file name as it stands in Pos.
func (p Problem) String() string { return p.format(p.Pos.Filename) }

func (p Problem) format(file string) string {
	var b strings.Builder
	switch {
	case file != "" && p.Pos.Line > 0 && p.Pos.Column > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", file, p.Pos.Line, p.Pos.Column)
	case file != "" && p.Pos.Line > 0:
		fmt.Fprintf(&b, "%s:%d: ", file, p.Pos.Line)
	case file != "":
		fmt.Fprintf(&b, "%s: ", file)
	}
	if p.Subject != "" {
		b.WriteString(p.Subject + ": ")
	}
	b.WriteString(p.Reason)
	if p.Rule != "" && p.Verdict != "" {
		b.WriteString(" [" + p.Rule + ": " + p.Verdict + "]")
	}
	if p.Hint != "" {
		for i, line := range strings.Split(p.Hint, "\n") {
			if i == 0 {
				b.WriteString("\n\thint: " + line)
			} else {
				b.WriteString("\n\t      " + line)
			}
		}
	}
	return b.String()
}

// List is a collection of problems.
type List []Problem

// Add appends a problem.
func (l *List) Add(p Problem) { *l = append(*l, p) }

// Stops reports whether any of the list is more than a note.
func (l List) Stops() bool {
	return slices.ContainsFunc(l, func(p Problem) bool { return !p.Note })
}

// Sort orders the list by file, position, subject and reason, and drops equal
// problems.
func (l *List) Sort() {
	slices.SortStableFunc(*l, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Subject, b.Subject),
			cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.Hint, b.Hint),
		)
	})
	*l = slices.CompactFunc(*l, func(a, b Problem) bool {
		a.Pos.Offset, b.Pos.Offset = 0, 0
		return a == b
	})
}

// Write prints the list, with file names relative to dir where that is
// shorter. Dir must be absolute; empty leaves the names as they are.
func (l List) Write(w io.Writer, dir string) error {
	for _, p := range l {
		if _, err := fmt.Fprintln(w, p.format(relative(dir, p.Pos.Filename))); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON prints the list as a JSON array of objects with the members file,
// line, column, subject, reason, hint, rule, verdict and note, of which all but
// reason are left out when unknown. File names are as [List.Write] prints them. An empty list is
// an empty array.
func (l List) WriteJSON(w io.Writer, dir string) error {
	type entry struct {
		File    string `json:"file,omitempty"`
		Line    int    `json:"line,omitempty"`
		Column  int    `json:"column,omitempty"`
		Subject string `json:"subject,omitempty"`
		Reason  string `json:"reason"`
		Hint    string `json:"hint,omitempty"`
		Rule    string `json:"rule,omitempty"`
		Verdict string `json:"verdict,omitempty"`
		Note    bool   `json:"note,omitempty"`
	}
	entries := make([]entry, len(l))
	for i, p := range l {
		entries[i] = entry{relative(dir, p.Pos.Filename), p.Pos.Line, p.Pos.Column, p.Subject, p.Reason, p.Hint, p.Rule, p.Verdict, p.Note}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(entries)
}

// relative returns file as seen from dir, if that is shorter.
func relative(dir, file string) string {
	if dir == "" || !filepath.IsAbs(file) {
		return file
	}
	if rel, err := filepath.Rel(dir, file); err == nil && len(rel) < len(file) {
		return rel
	}
	return file
}
