package marker

import (
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestFindTiesMarkersToDeclarations(t *testing.T) {
	const src = `// Package p.
//
//restaq:step
package p

import (
	//restaq:step
	"context"
)

// F is a handler.
//
//restaq:on a.b
func F(ctx context.Context) error {
	//restaq:step
	return nil
}

//restaq:step
//restaq:step other
func g() {}

//restaq:on a.b
//restaq:step
func h() {}

//restaq:on a.b
//restaq:on a.c
func i() {}

//restaq:event a.b
type T struct {
	//restaq:step
	F int
}

type (
	//restaq:event a.c
	U struct{}

	V struct{}
)

//restaq:event a.d
type (
	W struct{}
)

//restaq:event a.e
func j() {}

//restaq:step
type X struct{}

//restaq:step

func k() {}

//restaq:step
var y int

// restaq:step
func l() {}

//restaq:stpe
func m() {}

//restaq:was a b
//restaq:step
//restaq:was b c
func o() {}

//restaq:was a
func p() {}

//restaq:was a
type Y struct{}

//restaq:convert a
//restaq:was b
func q() {}

//restaq:convert a
//restaq:convert b
func r() {}

//restaq:convert a
//restaq:step
func s() {}

func n() {} //restaq:step
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	decls, loose := Find(file)
	var b strings.Builder
	write := func(errs []Error) {
		for _, e := range errs {
			fmt.Fprintf(&b, "  %d: %s", fset.Position(e.Pos).Line, e.Reason)
			if e.Hint != "" {
				fmt.Fprintf(&b, " (%s)", e.Hint)
			}
			b.WriteByte('\n')
		}
	}
	for _, d := range decls {
		if d.Func != nil {
			fmt.Fprintf(&b, "func %s:", d.Func.Name.Name)
		} else {
			fmt.Fprintf(&b, "type %s:", d.Type.Name.Name)
		}
		if d.Marker != nil {
			fmt.Fprintf(&b, " %s", d.Marker.Verb)
		}
		for _, old := range d.Was {
			fmt.Fprintf(&b, " was %s", old.Text)
		}
		b.WriteByte('\n')
		write(d.Errors)
	}
	b.WriteString("loose:\n")
	write(loose)
	const hint = " (a marker stands in the comment directly above a function or a type, without a blank line between)\n"
	want := `func F: on
func g: step
  20: second marker //restaq:step on one declaration
func h: on
  24: a function is a handler or a step, not both
func i: on
  28: second marker //restaq:on on one function (list all event types in one marker)
type T: event
type U: event
func j:
  49: //restaq:event marks a struct type, and this is a function
type X:
  52: //restaq:step marks a function, and this is a type
func l:
  62: a marker has no space behind the slashes (write //restaq:step)
func m:
  65: unknown marker //restaq:stpe (did you mean //restaq:step?)
func o: step was a was b was c
  70: name b is given twice
func p: was a
  73: marks neither a handler nor a step (//restaq:was stands beside //restaq:on or //restaq:step)
type Y:
  76: //restaq:was marks a function, and this is a type
func q: convert was b
  80: marks neither a handler nor a step (//restaq:was stands beside //restaq:on or //restaq:step)
func r: convert
  84: second marker //restaq:convert on one function (a converter is for one step)
func s: convert
  88: a converter is neither a handler nor a step
loose:
  3: marks nothing: it stands on the package clause` + hint +
		`  7: marks nothing: it stands on the declaration of an import` + hint +
		`  15: marks nothing: it stands inside function F` + hint +
		`  33: marks nothing: it stands inside a type declaration` + hint +
		`  44: marks nothing: it stands on a group of types (move it to the one type that it is for)
  55: marks nothing: it stands apart from function k` + hint +
		`  59: marks nothing: it stands on the declaration of a variable` + hint +
		`  91: marks nothing: no declaration follows it` + hint
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSilencersAreForTheirLineAndTheOneBelowTheirComment(t *testing.T) {
	const src = `package p

//restaq:ignore loopkey runs once, whatever the loop says
//restaq:step
func f() {
	g() //restaq:ignore sideeffect "it's" fine
	//restaq:ignore directcall
	g()
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	silencers, errs := Silencers(fset, file)
	for _, s := range silencers {
		got = append(got, fmt.Sprintf("%s %d-%d %s", s.Check.Text, s.From, s.To, s.Reason))
		if !s.Silences(s.Check.Text, s.To) || s.Silences(s.Check.Text, s.To+1) || s.Silences("other", s.From) {
			t.Errorf("%s silences other lines or checks", s.Check.Text)
		}
	}
	want := []string{"loopkey 3-5 runs once, whatever the loop says", `sideeffect 6-7 "it's" fine`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	decls, loose := Find(file)
	if len(decls) != 1 || decls[0].Marker.Verb != Step || len(decls[0].Errors) != 0 {
		t.Errorf("a silencer changed what its neighbour marks: %+v", decls)
	}
	if len(loose) != 1 || loose[0].Reason != "//restaq:ignore directcall says no reason" || !slices.Equal(loose, errs) {
		t.Errorf("errors %+v and %+v, want that of the silencer without a reason", loose, errs)
	}
}
