package schema

import (
	"cmp"
	"fmt"
	"slices"
)

// Position is where in a schema file something stands.
type Position struct {
	File      string
	Pointer   string // JSON pointer, "" for the root
	Line, Col int    // from 1; Col counts bytes
}

// String returns file:line:col.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Problem is one thing that is wrong with a schema, or, as a warning, one that
// the user should know of.
type Problem struct {
	Position
	Message string
	Warning bool // the output is good nevertheless
	Widened bool // a warning that a type says less than the schema
}

// String returns one line: file:line:col: message (at #pointer).
func (p Problem) String() string {
	kind := ""
	if p.Warning {
		kind = "warning: "
	}
	where := ""
	if p.Line > 0 {
		where = " (at #" + p.Pointer + ")"
	}
	return p.Position.String() + ": " + kind + p.Message + where
}

// Problems is a list of problems.
type Problems []Problem

// Errorf adds an error.
func (ps *Problems) Errorf(at Position, format string, args ...any) {
	*ps = append(*ps, Problem{Position: at, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning.
func (ps *Problems) Warnf(at Position, format string, args ...any) {
	*ps = append(*ps, Problem{Position: at, Message: fmt.Sprintf(format, args...), Warning: true})
}

// Widenf adds a warning that a type says less than the schema.
func (ps *Problems) Widenf(at Position, format string, args ...any) {
	*ps = append(*ps, Problem{Position: at, Message: fmt.Sprintf(format, args...), Warning: true, Widened: true})
}

// Failed reports whether there is an error among the problems.
func (ps Problems) Failed() bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return !p.Warning })
}

// Sorted returns the problems by position, each once.
func (ps Problems) Sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line, a.Col-b.Col, cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(ps)
}
