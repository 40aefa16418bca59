package graph_test

import (
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/graph"
	reader "github.com/restaq/restaq/runtime/graph"
)

// A program is a random handler: its source, and what a run of it does.
type program struct {
	rand   *rand.Rand
	names  int
	budget int
}

// statement is a part of a program.
type statement struct {
	source string
	run    func(*run) jump
}

// jump is how a statement ends: "" goes on, else by break, continue, return or
// goto; a label says which.
type jump struct{ how, label string }

// run is one run of a program, which decides by chance.
type run struct {
	rand    *rand.Rand
	steps   []string
	defers  []func(*run) jump
	rounds  int
	failing bool // what the function returns is an error
}

func (r *run) chance(of int) bool { return r.rand.IntN(of) == 0 }

func (p *program) name(kind string) string {
	p.names++
	return fmt.Sprintf("%s%d", kind, p.names)
}

// around is what jumps can be about.
type around struct {
	loops, breakable bool
	labels           []string // of loops
}

func (p *program) block(depth int, in around) statement {
	var all []statement
	for range 1 + p.rand.IntN(4) {
		all = append(all, p.statement(depth, in))
	}
	return sequence(all)
}

func sequence(all []statement) statement {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.source)
	}
	return statement{b.String(), func(r *run) jump {
		for _, s := range all {
			if j := s.run(r); j.how != "" {
				return j
			}
		}
		return jump{}
	}}
}

// step is a call of a step, in one of the forms in which steps are called.
func (p *program) step() statement {
	name := fmt.Sprintf("s%d", p.rand.IntN(steps))
	call := name + `Step(ctx, "")`
	does := func(r *run) { r.steps = append(r.steps, name) }
	switch p.rand.IntN(5) {
	case 0:
		return statement{"_ = " + call + "\n", func(r *run) jump { does(r); return jump{} }}
	case 1:
		return statement{"if c() && " + call + " == nil || c() {\nn++\n}\n", func(r *run) jump {
			if r.chance(2) {
				does(r)
			}
			return jump{}
		}}
	case 2:
		return statement{"if err := " + call + "; err != nil {\nif c() {\nreturn nil\n}\nreturn err\n}\n", func(r *run) jump {
			does(r)
			if r.chance(5) {
				r.failing = r.chance(2)
				return jump{how: "return"}
			}
			return jump{}
		}}
	}
	return statement{"if err := " + call + "; err != nil {\nreturn err\n}\n", func(r *run) jump {
		does(r)
		if r.chance(6) {
			r.failing = true
			return jump{how: "return"}
		}
		return jump{}
	}}
}

const steps = 12

func (p *program) statement(depth int, in around) statement {
	if p.budget--; depth <= 0 || p.budget < 0 {
		return p.step()
	}
	switch p.rand.IntN(14) {
	case 0, 1:
		then, els := p.block(depth-1, in), p.block(depth-1, in)
		return statement{"if c() {\n" + then.source + "} else {\n" + els.source + "}\n", func(r *run) jump {
			if r.chance(2) {
				return then.run(r)
			}
			return els.run(r)
		}}
	case 2:
		first, second := p.block(depth-1, in), p.block(depth-1, in)
		return statement{"if c() {\n" + first.source + "} else if c() {\n" + second.source + "}\n", func(r *run) jump {
			switch r.rand.IntN(3) {
			case 0:
				return first.run(r)
			case 1:
				return second.run(r)
			}
			return jump{}
		}}
	case 3, 4, 5:
		return p.loop(depth, in)
	case 6, 7:
		return p.choice(depth, in)
	case 8:
		return p.leave(in)
	case 9:
		label, body := p.name("retry"), p.block(depth-1, in)
		return statement{label + ":\n" + body.source + "if c() {\ngoto " + label + "\n}\n", func(r *run) jump {
			for {
				if j := body.run(r); j.how != "" {
					return j
				}
				if r.rounds++; r.rounds > 20 || r.chance(2) {
					return jump{}
				}
			}
		}}
	case 10:
		label, body := p.name("past"), p.block(depth-1, in)
		return statement{"if c() {\ngoto " + label + "\n}\n" + body.source + label + ":\nn++\n", func(r *run) jump {
			if r.chance(2) {
				return jump{}
			}
			return body.run(r)
		}}
	case 11:
		body := p.block(depth-1, around{})
		return statement{"defer func() error {\n" + body.source + "return nil\n}()\n", func(r *run) jump {
			r.defers = append(r.defers, body.run)
			return jump{}
		}}
	case 12, 13:
		return p.call(depth)
	}
	return p.step()
}

// call is a call of a function literal, whose error is returned, or not.
func (p *program) call(depth int) statement {
	// There is a step in it: what else fails is not shown.
	body := sequence([]statement{p.step(), p.block(depth-1, around{})})
	enter := func(r *run) (failed bool) {
		inner := &run{rand: r.rand, rounds: r.rounds}
		inner.function(body)
		r.steps, r.rounds = append(r.steps, inner.steps...), inner.rounds
		return inner.failing
	}
	literal := "func() error {\n" + body.source + "return nil\n}()"
	if p.rand.IntN(2) == 0 {
		return statement{"_ = " + literal + "\n", func(r *run) jump { enter(r); return jump{} }}
	}
	return statement{"if err := " + literal + "; err != nil {\nreturn err\n}\n", func(r *run) jump {
		if enter(r) {
			r.failing = true
			return jump{how: "return"}
		}
		return jump{}
	}}
}

// function runs the body of a function and what it defers.
func (r *run) function(body statement) {
	body.run(r)
	for i := len(r.defers) - 1; i >= 0; i-- {
		inner := &run{rand: r.rand, rounds: r.rounds}
		inner.function(statement{run: r.defers[i]})
		r.steps, r.rounds = append(r.steps, inner.steps...), inner.rounds
	}
}

func (p *program) loop(depth int, in around) statement {
	label := p.name("loop")
	inner := around{loops: true, breakable: true, labels: append(append([]string{}, in.labels...), label)}
	body := p.block(depth-1, inner)
	head, endless := "for range 3 {\n", false
	if p.rand.IntN(3) == 0 {
		head, endless = "for {\n", true
		body = sequence([]statement{body, {"if c() {\nbreak\n}\n", func(r *run) jump {
			if r.chance(2) {
				return jump{how: "break"}
			}
			return jump{}
		}}})
	}
	return statement{label + ":\n" + head + body.source + "}\n", func(r *run) jump {
		for endless || !r.chance(3) {
			if r.rounds++; r.rounds > 40 {
				return jump{how: "stuck"}
			}
			switch j := body.run(r); {
			case j.how == "break" && (j.label == "" || j.label == label):
				return jump{}
			case j.how == "" || j.how == "continue" && (j.label == "" || j.label == label):
			default:
				return j
			}
		}
		return jump{}
	}}
}

func (p *program) choice(depth int, in around) statement {
	inner := in
	inner.breakable = true
	var b strings.Builder
	b.WriteString("switch n {\n")
	var bodies []statement
	falls := map[int]bool{}
	n := 1 + p.rand.IntN(3)
	for i := range n {
		body := p.block(depth-1, inner)
		fmt.Fprintf(&b, "case %d:\n%s", i, body.source)
		if i+1 < n && p.rand.IntN(3) == 0 {
			falls[i] = true
			b.WriteString("fallthrough\n")
		}
		bodies = append(bodies, body)
	}
	if p.rand.IntN(2) == 0 {
		body := p.block(depth-1, inner)
		b.WriteString("default:\n" + body.source)
		bodies = append(bodies, body)
	} else {
		bodies = append(bodies, statement{run: func(*run) jump { return jump{} }})
	}
	b.WriteString("}\n")
	return statement{b.String(), func(r *run) jump {
		for i := r.rand.IntN(len(bodies)); ; i++ {
			j := bodies[i].run(r)
			if j.how == "break" && j.label == "" {
				return jump{}
			}
			if j.how != "" || !falls[i] {
				return j
			}
		}
	}}
}

// leave is a jump, by a condition.
func (p *program) leave(in around) statement {
	ways := []jump{{how: "return"}}
	if in.loops {
		ways = append(ways, jump{how: "continue"})
	}
	if in.breakable {
		ways = append(ways, jump{how: "break"})
	}
	for _, label := range in.labels {
		ways = append(ways, jump{"break", label}, jump{"continue", label})
	}
	way := ways[p.rand.IntN(len(ways))]
	text := strings.TrimSpace(way.how + " " + way.label)
	fails := false
	if way.how == "return" {
		if text = "return nil"; p.rand.IntN(2) == 0 {
			text, fails = "return errSentinel", true
		}
	}
	return statement{"if c() {\n" + text + "\n}\n", func(r *run) jump {
		if !r.chance(3) {
			return jump{}
		}
		r.failing = r.failing || fails
		return way
	}}
}

// certainSteps returns the steps that a handler cannot complete without, as the
// outline has it.
func certainSteps(t *testing.T, h *graph.Handler) (steps []string) {
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	read, err := reader.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range read.Rows() {
		if row.Step != "" && !row.Maybe {
			steps = append(steps, row.Step)
		}
	}
	return steps
}

// Every run of a handler is a way through its graph, whatever the handler is
// made of.
func TestRunsAreWaysThroughTheGraph(t *testing.T) {
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "source", nil)
	const programs, runs = 60, 40
	total := 0
	for seed := range uint64(programs) {
		p := &program{rand: rand.New(rand.NewPCG(seed, 7)), budget: 40}
		body := p.block(4, around{})
		var b strings.Builder
		b.WriteString("package m\n\nimport (\n\t\"context\"\n\t\"errors\"\n)\n\nvar errSentinel = errors.New(\"x\")\n\nvar n int\n\nfunc c() bool { return n > 0 }\n\n")
		b.WriteString("//restaq:on a.b\nfunc handle(ctx context.Context, e struct{ ID string }) error {\n" + body.source + "return nil\n}\n\n")
		for i := range steps {
			fmt.Fprintf(&b, "//restaq:step key=id\nfunc s%d(ctx context.Context, id string) error { return nil }\n\n", i)
		}
		packages, sources := checked(t, imports, fset, b.String())
		if packages == nil || len(packages[0].Handlers()) != 1 {
			t.Fatalf("seed %d is no handler:\n%s", seed, b.String())
		}
		h := graph.Of(packages[0], sources[0]).Handlers["m.handle"]
		certain := certainSteps(t, h)
		for n := range uint64(runs) {
			r := &run{rand: rand.New(rand.NewPCG(seed, n))}
			r.function(body)
			if r.rounds > 40 {
				continue // cut off
			}
			total += len(r.steps)
			for _, step := range certain {
				if !r.failing && !slices.Contains(r.steps, step) {
					t.Fatalf("seed %d, run %d: %s is for certain, and the run completed without: %v\n%s", seed, n, step, r.steps, body.source)
				}
			}
			if !graph.Accepts(h, r.steps) {
				t.Fatalf("seed %d, run %d: no way through the graph runs %v\n%s\n%s", seed, n, r.steps, body.source, outline(&graph.Graph{Handlers: map[string]*graph.Handler{"h": h}}))
			}
		}
	}
	if total < programs*runs {
		t.Errorf("%d steps in %d runs", total, programs*runs)
	}
}
