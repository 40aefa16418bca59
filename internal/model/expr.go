package model

import "strings"

// Expr is a key= or order= expression, type-checked.
type Expr struct {
	// Parts, one behind the other, are the expression's text.
	Parts []Part

	// Result says how its value becomes a string.
	Result Result
}

// Part is a piece of an expression: a parameter, a name of an imported package,
// or other text. Exactly one of Param, Name and Text is set.
type Part struct {
	// Param is the name of a parameter, as [Param.Name] or [Handler.Param].
	Param string

	// Package and Name are an imported package's path and a name it exports,
	// written out by the user as strings.ToLower (or under a dot import alone).
	Package, Name string

	// Text is anything else, on one line, names that the user's package
	// declares included.
	Text string
}

// Result is the type of an expression, as far as it matters for turning it
// into a string.
type Result int

// The results of expressions. A type with an underlying string or integer type
// counts as that, even if it has a String method.
const (
	StringResult   Result = iota // of type string: taken as it is
	StringKind                   // of another string type: string(x)
	SignedResult                 // an integer: strconv.FormatInt(int64(x), 10)
	UnsignedResult               // an unsigned integer: strconv.FormatUint(uint64(x), 10)
	StringerResult               // a fmt.Stringer: x.String()
)

// String returns the expression under the names of its parameters and the
// packages' last path elements, for messages and tests.
func (e *Expr) String() string {
	var b strings.Builder
	for _, p := range e.Parts {
		switch {
		case p.Param != "":
			b.WriteString(p.Param)
		case p.Name != "":
			b.WriteString(p.Package[strings.LastIndexByte(p.Package, '/')+1:] + "." + p.Name)
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
