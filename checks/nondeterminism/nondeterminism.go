// Package nondeterminism is the check nondeterminism: what a handler does between
// its steps comes out otherwise in the next attempt.
//
// Each function of the module is looked into once, callees first, and leaves a
// fact behind, a [behaviour]. The order of the files follows the work: function.go
// looks into one function, statement.go and expression.go follow values through
// its body, place.go says where values are kept, state.go finds the variables that
// are assigned while the program runs.
package nondeterminism

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/internal/known"
	"github.com/restaq/restaq/checks/internal/leads"
	"github.com/restaq/restaq/checks/internal/marked"
)

const doc = `nondeterminism: report what comes out otherwise in a handler's next attempt

Each attempt runs the handler from its beginning and gets the records of the steps
that are completed. It must come to the same steps with the same inputs. Clocks,
random numbers, the order of maps, the environment and variables that are assigned
while the program runs are reported where they reach the input of a step or decide
about steps, goroutines, channels and locks wherever they are used. What happens
in a step is recorded, and fine; so is what is only logged.`

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:      "nondeterminism",
	Doc:       doc,
	URL:       "https://github.com/restaq/restaq/blob/main/docs/checks/nondeterminism.md",
	Requires:  []*analysis.Analyzer{marked.Analyzer, leads.Analyzer},
	FactTypes: []analysis.Fact{new(behaviour), new(assigned)},
	Run:       run,
}

// behaviour is the fact about a function that its calls bring something into a
// handler that differs between attempts.
type behaviour struct {
	// Faults are what the function does itself, whatever its caller makes of it.
	Faults []fault

	// Value and Err are the names from what it calls to what its results depend
	// on, its error apart. FromValue and FromErr are the parameters that they
	// depend on, -1 for the receiver.
	Value, Err         []string
	FromValue, FromErr []int

	// Takes are the parameters that reach a step, or decide about steps.
	Takes []taken

	// Gives are the parameters through which it hands out something.
	Gives []given
}

func (*behaviour) AFact() {}

func (b *behaviour) String() string {
	var texts []string
	for _, f := range b.Faults {
		texts = append(texts, f.What+": "+strings.Join(f.Through, " → "))
	}
	if b.Value != nil {
		texts = append(texts, "returns "+strings.Join(b.Value, " → "))
	}
	for _, t := range b.Takes {
		texts = append(texts, "takes "+t.For)
	}
	return strings.Join(texts, "; ")
}

func (b *behaviour) empty() bool {
	return len(b.Faults)+len(b.Value)+len(b.Err)+len(b.FromValue)+len(b.FromErr)+len(b.Takes)+len(b.Gives) == 0
}

// fault is something that is wrong wherever it happens.
type fault struct {
	What    string   // such as "starts a goroutine"
	Through []string // the names from a callee to what does it
	Hint    string
}

// taken is a parameter that reaches a step.
type taken struct {
	Param int
	For   string // such as "reaches the input of step pay"
}

// given is a parameter, -1 for the receiver, that something is written through:
// what differs, by the names from a callee, and what other parameters hold.
type given struct {
	Param   int
	Through []string
	From    []int
}

func run(pass *analysis.Pass) (any, error) {
	c := &check{
		pass: pass, pkg: marked.Of(pass), leads: leads.Of(pass),
		of: map[*types.Func]*behaviour{}, sites: map[*types.Func][]site{},
	}
	if !c.pkg.Inside {
		return nil, nil
	}
	c.assigned = c.findAssigned()
	for _, fn := range c.pkg.Funcs {
		if b := c.behaviour(fn); !b.empty() && c.pkg.Handler(fn) == nil {
			pass.ExportObjectFact(fn, b)
		}
	}
	for _, h := range c.pkg.Handlers {
		c.report(h)
	}
	return nil, nil
}

// check is the check of one package.
type check struct {
	pass     *analysis.Pass
	pkg      *marked.Package
	leads    *leads.Functions
	assigned map[*types.Var]bool
	of       map[*types.Func]*behaviour
	sites    map[*types.Func][]site
}

// site is a fault and where it comes into a function.
type site struct {
	fault
	at ast.Node
}

// behaviour returns what is known of a function, looking into it if it is one of
// the package. A function that is being looked into is taken to be harmless.
func (c *check) behaviour(fn *types.Func) *behaviour {
	if b := c.of[fn]; b != nil {
		return b
	}
	b := &behaviour{}
	decl := c.pkg.Decls[fn]
	switch {
	case known.Telemetry(fn) || c.pkg.StepOf(fn) != nil || c.pkg.WrapperOf(fn) != nil:
	case decl != nil:
		c.of[fn] = b
		f := newFunction(c, fn, decl)
		f.body()
		*b = *f.behaviour()
		c.sites[fn] = f.sites
	case fn.Pkg() != nil && fn.Pkg() != c.pass.Pkg:
		c.pass.ImportObjectFact(fn, b)
	}
	c.of[fn] = b
	return b
}

// report reports what was found in a handler.
func (c *check) report(h *marked.Handler) {
	sites := c.sites[h.Func]
	slices.SortStableFunc(sites, func(a, b site) int { return cmp.Compare(a.at.Pos(), b.at.Pos()) })
	type key struct {
		pos  token.Pos
		what string
	}
	seen := map[key]bool{}
	for _, s := range sites {
		if k := (key{s.at.Pos(), s.What}); !seen[k] {
			seen[k] = true
			end := s.at.End()
			if !s.short() {
				end = token.NoPos
			}
			c.pkg.Report(c.pass, marked.Finding{
				Pos: s.at.Pos(), End: end, Subject: h.String(), Hint: s.Hint,
				Reason: s.What + ": " + strings.Join(append([]string{marked.Name(h.Func)}, s.Through...), " → "),
			})
		}
	}
}

// short reports whether the whole of a site is what a finding is about; a
// statement with others in it is not.
func (s site) short() bool {
	_, ok := s.at.(ast.Expr)
	return ok
}
