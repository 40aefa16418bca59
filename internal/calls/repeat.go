package calls

import (
	"fmt"
	"go/types"
)

// Repetition is a step without key= that one execution may call more than once.
type Repetition struct {
	Step *Step
	Why  string // such as "called in a loop, at shop.go:12:3"
	Hint string
}

// Reason says it in full.
func (r Repetition) Reason() string { return "needs key=, because it is " + r.Why }

// Repetitions returns the steps that need key= and have none.
func (g *Graph) Repetitions() []Repetition {
	if len(g.steps) == 0 {
		return nil
	}
	for _, fn := range g.order {
		g.summary(fn)
	}
	for _, v := range g.varOrder {
		(&walker{Graph: g, labels: map[string]state{}}).expr(g.vars[v], state{})
	}
	var found []Repetition
	for _, s := range g.pkg.Steps {
		if why := g.flagged[s]; why != "" {
			found = append(found, Repetition{s, why, keyHint(s.Func)})
		}
	}
	return found
}

// keyHint proposes an expression for key=.
func keyHint(fn *types.Func) string {
	const hint = "key=EXPR tells the calls in one execution apart"
	params := fn.Signature().Params()
	if params.Len() == 1 {
		return "call it in one place, or give it an input that tells the calls apart, and key= with that"
	}
	for i := range params.Len() {
		p := params.At(i)
		if i == 0 || p.Name() == "" || p.Name() == "_" {
			continue
		}
		if basic, ok := p.Type().Underlying().(*types.Basic); ok && basic.Info()&(types.IsString|types.IsInteger) != 0 {
			return fmt.Sprintf("%s: //restaq:step key=%s, say", hint, p.Name())
		}
	}
	return hint
}
