package check

import (
	"go/types"
	"strings"

	"github.com/restaq/restaq/internal/calls"
	"github.com/restaq/restaq/internal/marker"
)

// loopkey is the name of the check that finds the same in go vet.
const loopkey = "loopkey"

// calls checks what steps call, and how often they are called.
func (c *checker) calls() {
	pkg := calls.Package{Info: c.src.Info, Callee: c.src.Callee, Position: c.src.Position}
	of := map[*calls.Step]*marked{}
	for _, m := range c.marked {
		if m.Func == nil {
			continue
		}
		fn, ok := c.src.Info.Defs[m.Func.Name].(*types.Func)
		switch {
		case !ok:
		case m.Marker.Verb == marker.Step:
			s := &calls.Step{Func: fn, Keyed: m.Marker.Key.Text != ""}
			pkg.Steps = append(pkg.Steps, s)
			of[s] = m
		case m.Marker.Verb == marker.On:
			pkg.Handlers = append(pkg.Handlers, fn)
		}
	}
	if len(pkg.Steps) == 0 {
		return
	}
	for _, file := range c.src.Files {
		pkg.Files = append(pkg.Files, file.Syntax)
	}
	graph := calls.New(pkg)
	reached := map[*calls.Step]bool{}
	for _, circle := range graph.Circles() {
		reached[circle.Step] = true // a key would not help
		what, hint := "wrapper", "a step cannot wait for its own record: call the function itself, or make the inner part a step of its own"
		if circle.Registers() {
			what, hint = "registration", "which Go calls an initialization cycle: register where no step leads to, in main, say"
		}
		c.fail(of[circle.Step], circle.At, "reaches its own "+what+": "+strings.Join(circle.Names, " → "), hint)
	}
	for _, r := range graph.Repetitions() {
		if m := of[r.Step]; !reached[r.Step] && !c.silenced(loopkey, m) {
			c.fail(m, m.Marker.Pos, r.Reason()+" ("+loopkey+")", r.Hint)
		}
	}
}

// silenced reports whether a comment //restaq:ignore silences a check where a
// declaration's marker stands.
func (c *checker) silenced(check string, m *marked) bool {
	silencers, _ := marker.Silencers(c.src.Fset, m.file.Syntax)
	for _, s := range silencers {
		if s.Silences(check, c.src.Position(m.Marker.Pos).Line) {
			return true
		}
	}
	return false
}
