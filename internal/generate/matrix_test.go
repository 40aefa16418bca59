package generate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/evolve"
	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/load"
	"github.com/restaq/restaq/internal/lock"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/problem"
)

// outputCase is a change of a step's output. What a build returns from the other's
// record is JSON as the handler got it; "" if the build does not read it.
type outputCase struct {
	rule     string
	old, new string // declarations of the type, "type T …" less "type T"
	was, is  string // what the step returns, before and after
	forward  string // what the new build returns from the old one's record
	backward string
	convert  string // a body for a converter from the old type, if there is one
}

var outputCases = []outputCase{
	{"field-added", "struct{ A int64 }", "struct{ A int64; B string `json:\",omitempty\"` }", "{1}", `{1, "b"}`, `{"A":1}`, "", ""},
	{"field-added", "struct{ A int64 }", "struct{ A int64; B string }", "{1}", `{1, "b"}`, "", "", ""},
	{"field-removed", "struct{ A, B int64 }", "struct{ A int64 }", "{1, 2}", "{1}", "", "", ""},
	{"field-removed", "struct{ A int64; B int64 `json:\",omitempty\"` }", "struct{ A int64 }", "{1, 2}", "{1}", "", `{"A":1}`, ""},
	{"field-renamed", "struct{ A int64 `json:\"a\"` }", "struct{ A int64 `json:\"b\"` }", "{1}", "{1}", "", "", ""},
	{"type-changed", "struct{ A int64 }", "struct{ A string }", "{1}", `{"1"}`, "", "", ""},
	{"type-changed", "struct{ A int64 }", "struct{ A string }", "{1}", `{"1"}`, `{"A":"one"}`, "", `T{A: "one"}`},
	{"type-changed", "struct{ A string }", "struct{ A any }", `{"a"}`, "{1}", `{"A":"a"}`, "", ""},
	{"number-widened", "struct{ A int32 }", "struct{ A int64 }", "{-5}", "{1 << 40}", `{"A":-5}`, "", ""},
	{"number-narrowed", "struct{ A int64 }", "struct{ A int32 }", "{1 << 40}", "{-5}", "", `{"A":-5}`, ""},
	{"string-option-changed", "struct{ A int64 }", "struct{ A int64 `json:\",string\"` }", "{1}", "{1}", "", "", ""},
	{"optional-to-required", "struct{ A int64 `json:\",omitempty\"` }", "struct{ A int64 }", "{0}", "{0}", `{"A":0}`, "{}", ""},
	{"required-to-optional", "struct{ A int64 }", "struct{ A int64 `json:\",omitempty\"` }", "{0}", "{0}", "{}", `{"A":0}`, ""},
	{"absence-changed", "struct{ A int64 `json:\",omitempty\"` }", "struct{ A *int64 `json:\",omitempty\"` }", "{0}", "{nil}", "", "", ""},
	{"nullable-added", "struct{ A int64 }", "struct{ A *int64 }", "{1}", "{nil}", `{"A":1}`, "", ""},
	{"nullable-removed", "struct{ A *int64 }", "struct{ A int64 }", "{nil}", "{1}", "", `{"A":1}`, ""},
	{"enum-value-removed", "struct{ A Old }", "struct{ A New }", `{"gold"}`, `{"iron"}`, `{"A":"gold"}`, `{"A":"iron"}`, ""},
	{"enum-value-added", "struct{ A Old }", "struct{ A New }", `{"gold"}`, `{"iron"}`, `{"A":"gold"}`, `{"A":"iron"}`, ""},
	{"time-format-changed", "struct{ A time.Time }", "struct{ A string }", "{time.Unix(0, 0).UTC()}", `{"x"}`, `{"A":"1970-01-01T00:00:00Z"}`, "", ""},
	{"time-format-changed", "struct{ A time.Time }", "struct{ A int64 }", "{time.Unix(0, 0)}", "{1}", "", "", ""},
	{"length-changed", "struct{ A [2]int64 }", "struct{ A [3]int64 }", "{[2]int64{1, 2}}", "{[3]int64{1, 2, 3}}", "", "", ""},
	{"collection-changed", "struct{ A []int64 }", "struct{ A map[string]int64 }", "{[]int64{1}}", "{nil}", "", "", ""},
	{"collection-changed", "struct{ A [2]int64 }", "struct{ A []int64 }", "{[2]int64{1, 2}}", "{nil}", `{"A":[1,2]}`, "", ""},
	{"map-key-changed", "struct{ A map[int32]bool }", "struct{ A map[string]bool }", "{map[int32]bool{1: true}}", `{map[string]bool{"x": true}}`, `{"A":{"1":true}}`, "", ""},
	{"encoding-changed", "struct{ A netip.Addr }", "struct{ A string }", "{netip.IPv6Unspecified()}", `{"x"}`, `{"A":"::"}`, "", ""},
	{"encoding-changed", "struct{ A string }", "struct{ A netip.Addr }", `{"::"}`, "{netip.IPv6Unspecified()}", "", `{"A":"::"}`, ""},
	{"event-type-changed", "= acme.Order", "= acme.Order", "{N: 1}", "{N: 1}", "", "", ""},
}

// outputs is the source of the output cases, in the new version or the old one.
func outputs(isNew bool) string {
	var src strings.Builder
	src.WriteString(`package main

import (
	"context"
	"net/netip"
	"time"

	"example.com/matrix/acme"
	restaq "github.com/restaq/restaq/runtime"
)

type Old string

const Gold Old = "gold"

type New string

const Iron New = "iron"

var (
	_ acme.Order
	_ netip.Addr
	_ time.Time
)
`)
	for i, c := range outputCases {
		decl, value := c.old, c.was
		if isNew {
			decl, value = c.new, c.is
		}
		fmt.Fprintf(&src, `
type T%[1]d %[2]s

//restaq:on case.o%[1]d
func onOutput%[1]d(ctx context.Context, event restaq.Event) error {
	out, err := output%[1]dStep(ctx)
	if err != nil {
		return err
	}
	return end(ctx, out)
}

//restaq:step output-%[1]d
func output%[1]d(ctx context.Context) (T%[1]d, error) { return T%[1]d%[3]s, ran(ctx, "output") }
`, i, decl, value)
		if isNew && c.convert != "" {
			fmt.Fprintf(&src, "\ntype Before%[1]d %[2]s\n\n//restaq:convert output-%[1]d\nfunc convert%[1]d(old Before%[1]d) (T%[1]d, error) { return T%[1]d%[3]s, nil }\n",
				i, c.old, strings.TrimPrefix(c.convert, "T"))
		}
	}
	return src.String()
}

// acme is an event package, whose type gets another member in the new version.
func acme(isNew bool) string {
	more := ""
	if isNew {
		more = "; M string `json:\",omitempty\"`"
	}
	return `package acme

const OrderType = "acme.order"

type Order struct{ N int64` + more + ` }

func Decode(eventType string, payload []byte) (any, error) { return nil, nil }
`
}

// others are the cases that change something else than an output: by the event's
// name, what changes, under which rule and verdict, and what happens to the
// executions in flight of the event.
var others = []struct{ event, subject, rule, verdict, happens string }{
	{"renamed", "step pay", "step-renamed", "breaks", "runs again"},
	{"was", "step charge-out", "step-renamed", "safe", "goes on"},
	{"named", "step pay-in", "", "", "goes on"},
	{"replaced", "step mail", "step-removed", "breaks", "runs again"},
	{"removed", "step note", "step-removed", "info", "goes on"},
	{"moved", "step ship", "step-moved", "breaks", "runs again"},
	{"far", "step count", "step-moved", "info", "goes on"},
	{"away", "step count", "step-moved", "info", "goes on"},
	{"order", "handler matrix.order", "step-order-changed", "info", "goes on"},
	{"key", "step keyed", "key-changed", "breaks", "runs again"},
	{"inputs", "step given", "inputs-changed", "info", "goes on"},
	{"options", "step opted", "step-options-changed", "info", "goes on"},
	{"options", "handler matrix.options", "handler-options-changed", "info", "goes on"},
	{"options", "handler matrix.options", "order-changed", "info", "goes on"},
	{"outputAdded", "step give", "output-added", "breaks", "stops"},
	{"outputRemoved", "step keep", "output-removed", "safe", "goes on"},
	{"added", "step fresh", "step-added", "safe", "goes on"},
	{"added", "handler matrix.later", "handler-added", "safe", "goes on"},
	{"gone", "handler matrix.gone", "handler-removed", "breaks", "stays"},
	{"other", "handler matrix.other", "handler-renamed", "breaks", "stays"},
	{"former", "handler matrix.latter", "handler-renamed", "safe", "goes on"},
	{"dropped", "handler matrix.dropped", "event-dropped", "breaks", "goes on"}, // in code that is made for other events
	{"kept", "handler matrix.dropped", "event-dropped", "breaks", "goes on"},
	{"more", "handler matrix.more", "event-added", "safe", "goes on"},
}

// TestWhatCheckSaysIsWhatHappens holds the rules to the runtime. Two versions of
// one module are generated and built. One records executions and is stopped, the
// other goes on with them: the new one with those of the old, and, as while a
// deploy rolls, the old one with those of the new.
func TestWhatCheckSaysIsWhatHappens(t *testing.T) {
	dir := t.TempDir()
	oldLock, _ := version(t, filepath.Join(dir, "old"), false, nil)
	_, evolution := version(t, filepath.Join(dir, "new"), true, oldLock)
	base, err := lock.Parse(oldLock)
	if err != nil {
		t.Fatal(err)
	}
	changes := evolution.Changes(base)
	events := matrixEvents()
	t.Run("a new build goes on with what the old one recorded", func(t *testing.T) {
		t.Parallel()
		got := handOver(t, filepath.Join(dir, "old", "matrix"), filepath.Join(dir, "new", "matrix"), events)
		for i, c := range outputCases {
			event, step := fmt.Sprint("o", i), fmt.Sprint("output-", i)
			happens := "goes on"
			if c.forward == "" {
				happens = "stops"
			}
			name := fmt.Sprintf("%s: %s to %s", c.rule, c.old, c.new)
			expect(t, name, got[event], happens, c.forward)
			found := about(changes, "step "+step)
			if !slices.ContainsFunc(found, func(p problem.Problem) bool { return p.Rule == c.rule }) {
				t.Errorf("%s: check says %v", name, found)
			}
			if fails := found.Stops(); fails != (happens == "stops") {
				t.Errorf("%s: check fails: %t, and it %s", name, fails, happens)
			}
		}
		for _, c := range others {
			expect(t, c.event, got[c.event], c.happens, "")
			verdict := map[string]string{"breaks": evolve.Breaks.String()}[c.verdict]
			if verdict == "" {
				verdict = c.verdict
			}
			said := slices.ContainsFunc(about(changes, c.subject), func(p problem.Problem) bool { return p.Rule == c.rule && p.Verdict == verdict })
			if c.rule == "" && len(about(changes, c.subject)) > 0 || c.rule != "" && !said {
				t.Errorf("%s: check says %v, want %s: %s", c.event, about(changes, c.subject), c.rule, verdict)
			}
		}
	})
	t.Run("an old build meets what the new one recorded", func(t *testing.T) {
		t.Parallel()
		got := handOver(t, filepath.Join(dir, "new", "matrix"), filepath.Join(dir, "old", "matrix"), events)
		for i, c := range outputCases {
			event, step := fmt.Sprint("o", i), fmt.Sprint("output-", i)
			happens := "goes on"
			if c.backward == "" {
				happens = "is left"
			}
			name := fmt.Sprintf("%s: %s to %s", c.rule, c.old, c.new)
			expect(t, name, got[event], happens, c.backward)
			_, readBy := evolve.Readings(base, step, evolution.Step(step))
			if read := slices.Contains(readBy, base.Steps[step].Output) || len(readBy) == 0 && evolution.Step(step).Output == base.Steps[step].Output; read != (happens == "goes on") {
				t.Errorf("%s: it is said that it is read: %t, and it %s", name, read, happens)
			}
		}
	})
}

// Every rule has a case, but that of shapes that cannot be told.
func TestEveryRuleIsHeldToWhatHappens(t *testing.T) {
	source, err := os.ReadFile("../evolve/rule.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{string(evolve.ShapeUnknown): true}
	for _, c := range outputCases {
		shown[c.rule] = true
	}
	for _, c := range others {
		shown[c.rule] = true
	}
	rules := regexp.MustCompile(`Rule = "(.*)"`).FindAllSubmatch(source, -1)
	if len(rules) < 30 {
		t.Fatalf("only %d rules were found", len(rules))
	}
	for _, rule := range rules {
		if !shown[string(rule[1])] {
			t.Errorf("no case shows what happens under the rule %s", rule[1])
		}
	}
}

// matrixEvents are the names of the events of all cases.
func matrixEvents() []string {
	var names []string
	for i := range outputCases {
		names = append(names, fmt.Sprint("o", i))
	}
	for _, c := range others {
		if !slices.Contains(names, c.event) {
			names = append(names, c.event)
		}
	}
	return names
}

func about(changes problem.List, subject string) problem.List {
	return slices.DeleteFunc(slices.Clone(changes), func(p problem.Problem) bool { return p.Subject != subject })
}

// version writes, generates and builds one version of the module, after what a
// lock file tells. It returns the new lock file.
func version(t *testing.T, dir string, isNew bool, before []byte) ([]byte, *generate.Evolution) {
	t.Helper()
	file := "before.go.txt"
	if isNew {
		file = "after.go.txt"
	}
	if err := os.MkdirAll(filepath.Join(dir, "acme"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	_, requirements, _ := strings.Cut(string(read(filepath.Join(root, "go.mod"))), "require (")
	requirements, _, _ = strings.Cut(requirements, "\ntool ")
	write("go.mod", []byte("module example.com/matrix\n\ngo 1.26.0\n\nrequire github.com/restaq/restaq v0.0.0\n\nrequire ("+
		requirements+"\nreplace github.com/restaq/restaq => "+root+"\n"))
	write("go.sum", read(filepath.Join(root, "go.sum")))
	write("main.go", read("testdata/matrix/main.go.txt"))
	write("workflow.go", read(filepath.Join("testdata/matrix", file)))
	write("outputs.go", []byte(outputs(isNew)))
	write("acme/acme.go", []byte(acme(isNew)))
	if before != nil {
		write(lock.Name, before)
	}
	env := append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	result, problems := generate.Packages(context.Background(), load.Config{Dir: dir, Patterns: []string{"."}, Env: env}, generate.Options{})
	for _, p := range problems {
		t.Error(p)
	}
	changes, errs := output.Compare(result.Files)
	for _, err := range errs {
		t.Error(err)
	}
	for _, c := range changes {
		if err := c.Commit(); err != nil {
			t.Error(err)
		}
	}
	build := exec.Command("go", "build", "-o", "matrix", ".")
	build.Dir, build.Env = dir, env
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if t.Failed() {
		t.FailNow()
	}
	return read(filepath.Join(dir, lock.Name)), result.Evolutions[0]
}

// happened is what became of an event's executions in the second build.
type happened struct {
	ran  []string // steps that ran in both builds
	got  []string // what handlers ended with
	ends []string // how executions stand
}

// handOver records the events by one build and goes on by another.
func handOver(t *testing.T, first, second string, events []string) map[string]*happened {
	t.Helper()
	db := filepath.Join(t.TempDir(), "db")
	run := func(program string, args ...string) []string {
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", program, args[0], err, out)
		}
		return strings.Split(string(out), "\n")
	}
	before := map[string]bool{}
	for _, line := range run(first, "record", db, strings.Join(events, " ")) {
		before[line] = true
	}
	all := map[string]*happened{"begin": {}}
	for _, event := range events {
		all[event] = &happened{}
	}
	for _, line := range run(second, "resume", db) {
		what, rest, _ := strings.Cut(line, " ")
		event, rest, _ := strings.Cut(rest, " ")
		switch {
		case what == "ran" && before[line]:
			all[event].ran = append(all[event].ran, rest)
		case what == "got":
			all[event].got = append(all[event].got, rest)
		case what == "end":
			all[event].ends = append(all[event].ends, rest)
		}
	}
	return all
}

// expect compares what became of an event with what was to.
func expect(t *testing.T, name string, got *happened, happens, value string) {
	t.Helper()
	is := "goes on"
	for _, end := range got.ends {
		_, status, _ := strings.Cut(end, " ")
		switch {
		case strings.HasPrefix(status, "completed"):
		case strings.HasPrefix(status, "failed") && strings.Contains(status, "its output's shape has changed"):
			is = "stops"
		case strings.Contains(status, "left to other processes"):
			is = "is left"
		default:
			is = "stays"
		}
	}
	if len(got.ran) > 0 {
		is = "runs again"
	}
	if len(got.ends) == 0 || is != happens {
		t.Errorf("%s: it %s, want it %s: %+v", name, is, happens, *got)
	}
	if value == "" {
		return
	}
	var values []any
	var want any
	if len(got.got) != 1 || json.Unmarshal([]byte(got.got[0]), &values) != nil || json.Unmarshal([]byte(value), &want) != nil ||
		!reflect.DeepEqual(values, []any{want}) {
		t.Errorf("%s: the handler got %q, want %s", name, got.got, value)
	}
}
