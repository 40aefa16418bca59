package evolve

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/lock"
)

// differing is a change of a type: each difference as "path: rule", with < behind
// it if the new type reads what the old one wrote, and > for the other way.
var differing = []struct{ old, new, want string }{
	{"int32", "int64", ": number-widened <"},
	{"int64", "int32", ": number-narrowed >"},
	{"uint32", "int64", ": number-widened <"},
	{"int8", "uint64", ": number-narrowed"},
	{"int32", "float64", ": number-widened <"},
	{"int64", "float64", ": number-narrowed"},
	{"int16", "float32", ": number-widened <"},
	{"float32", "float64", ": number-widened <"},
	{"float64", "json.Number", ": number-widened <"},
	{"int64", "json.Number", ": number-widened <"},
	{"string", "int64", ": type-changed"},
	{"bool", "string", ": type-changed"},
	{"int64", "any", ": type-changed"},
	{"int32", "any", ": type-changed <"},
	{"any", "json.RawMessage", ": type-changed <"},
	{"json.RawMessage", "any", ": type-changed >"},
	{"time.Time", "string", ": time-format-changed <"},
	{"time.Time", "int64", ": time-format-changed"},
	{"*int64", "int64", ": nullable-removed >"},
	{"[]int64", "*[]int64", ""},
	{"[]int64", "[2]int64", ": collection-changed >"},
	{"[2]int64", "[3]int64", ": length-changed"},
	{"[]int64", "map[string]int64", ": collection-changed"},
	{"struct{ A int64 }", "map[string]int64", ": collection-changed"},
	{"map[int32]bool", "map[int64]bool", ": map-key-changed <"},
	{"map[int32]bool", "map[string]bool", ": map-key-changed <"},
	{"map[string]bool", "map[int32]bool", ": map-key-changed >"},
	{"map[string][]int32", "map[string][]int64", "{}[]: number-widened <"},
	{"Word", "string", ": encoding-changed <"},
	{"Word", "Other", ": encoding-changed"},
	{"Tier", "Level", ": enum-value-removed <>; : enum-value-added <>"},
	{"Tree", "Bush", "Size: number-widened <"},
	{"Tree", "Root", "Leaf: field-added <"},
	{`struct{ A int64 }`, `struct{ A int64; B string }`, "B: field-added"},
	{`struct{ A int64 }`, "struct{ A int64; B string `json:\",omitempty\"` }", "B: field-added <"},
	{`struct{ A int64 }`, "struct{ A int64; B *string }", "B: field-added"},
	{`struct{ A, B int64 }`, `struct{ A int64 }`, "B: field-removed"},
	{"struct{ A int64; B int64 `json:\",omitempty\"` }", `struct{ A int64 }`, "B: field-removed >"},
	{"struct{ A int64 `json:\"a\"` }", "struct{ A int64 `json:\"b\"` }", "a: field-renamed"},
	{"struct{ A, B int64 }", "struct{ C, D int64 }", "A: field-removed; B: field-removed; C: field-added; D: field-added"},
	{"struct{ A int64 }", "struct{ A int64 `json:\",string\"` }", "A: string-option-changed"},
	{"struct{ A int32 `json:\",string\"` }", "struct{ A int64 `json:\",string\"` }", "A: number-widened <"},
	{"struct{ A int64 `json:\",omitempty\"` }", "struct{ A int64 }", "A: optional-to-required <>"},
	{"struct{ A *int64 `json:\",omitempty\"` }", "struct{ A *int64 }", "A: optional-to-required <>"},
	{"struct{ A *int64 `json:\",omitempty\"` }", "struct{ A int64 }", "A: optional-to-required >; A: nullable-removed >"},
	{"struct{ A int64 `json:\",omitempty\"` }", "struct{ A *int64 `json:\",omitempty\"` }", "A: absence-changed; A: nullable-added <"},
	{"struct{ A *int64 }", "struct{ A *int64 `json:\",omitempty\"` }", "A: required-to-optional <>"},
	{"struct{ A struct{ B int32 } }", "struct{ A struct{ B int64 } }", "A.B: number-widened <"},
}

const declarations = `package p
import ("encoding/json"; "time")
var _ json.Number; var _ time.Time
type Word struct{}; func (Word) MarshalText() ([]byte, error) { return nil, nil }
type Other struct{}; func (Other) MarshalText() ([]byte, error) { return nil, nil }
type Tier string; const Gold Tier = "gold"
type Level string; const Iron Level = "iron"
type Tree struct { Size int32; Kids []Tree }
type Bush struct { Size int64; Kids []Bush }
type Root struct { Size int32; Kids []Root; Leaf string ` + "`json:\",omitempty\"`" + ` }
`

func TestDifferences(t *testing.T) {
	src := declarations
	for i, d := range differing {
		src += fmt.Sprintf("type T%d = %s\ntype T%d = %s\n", 2*i, d.old, 2*i+1, d.new)
	}
	shapes := declared(t, src, 2*len(differing))
	for i, d := range differing {
		old, new := shapes[2*i], shapes[2*i+1]
		var got []string
		all := true
		for _, found := range Differences(old, new) {
			text := found.Path + ": " + string(found.Rule)
			if found.Reads || found.ReadBy {
				text += " "
			}
			if all = all && found.Reads; found.Reads {
				text += "<"
			}
			if found.ReadBy {
				text += ">"
			}
			got = append(got, text)
		}
		if got := strings.Join(got, "; "); got != d.want {
			t.Errorf("%s to %s: %q, want %q", d.old, d.new, got, d.want)
		}
		if Reads(old, new) != all {
			t.Errorf("%s to %s: it is read: %t, and at each place: %t", d.old, d.new, !all, all)
		}
	}
}

// Nobody asks for the output of a step that has none.
func TestAStepWithoutOutputReadsEverything(t *testing.T) {
	shape, err := ParseShape([]byte(`{"type":"string"}`))
	if err != nil {
		t.Fatal(err)
	}
	if !Reads(shape, Shape{}) || Reads(Shape{}, shape) || !Reads(Shape{}, Shape{}) {
		t.Error("a shape is to be read by none, and none by a shape")
	}
}

func TestSchemasThatAreNotOursAreErrors(t *testing.T) {
	for _, text := range []string{
		`[]`, `{"type":"text"}`, `{"$ref":"other"}`, `{"$ref":"#/$defs/x"}`, `{"$defs":{"x":{"$ref":"#/$defs/x"}},"$ref":"#/$defs/x"}`,
		`{"anyOf":[{}]}`, `{"anyOf":[{},{"type":"string"}]}`, `{"type":"array"}`, `{"type":"integer"}`, `{"type":"object","properties":{"a":null}}`,
	} {
		if _, err := ParseShape([]byte(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

func FuzzParseShape(f *testing.F) {
	f.Add([]byte(`{"$defs":{"T":{"properties":{"Next":{"anyOf":[{"$ref":"#/$defs/T"},{"type":"null"}]}},"type":"object"}},"$ref":"#/$defs/T"}`))
	f.Add([]byte(`{"additionalProperties":{"type":"boolean"},"propertyNames":{"format":"int32"},"type":"object"}`))
	f.Add([]byte(`{"items":{"$ref":"go:p.Box","arguments":[{"type":"string"}]},"type":"array","maxItems":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseShape(data)
		if err != nil {
			return
		}
		if d := Differences(s, s); len(d) > 0 {
			t.Errorf("%s differs from itself: %v", data, d)
		}
		other, err := ParseShape(data)
		if d := Differences(s, other); err != nil || len(d) > 0 {
			t.Errorf("%s differs from itself, read again: %v %v", data, d, err)
		}
	})
}

// base is what the tests of lock files change.
func base() lock.File {
	return lock.File{
		Handlers: map[string]lock.Handler{
			"shop.A": {Events: []string{"shop.opened"}, Steps: []string{"pay", "send"}, Func: "A"},
			"shop.B": {Events: []string{"shop.*"}, Steps: []string{"log"}, Func: "B"},
			"shop.C": {Events: []string{"bank.paid"}, Steps: []string{"count"}, Func: "C"},
		},
		Steps: map[string]lock.Step{
			"pay":   {Inputs: "1", Key: "$1", Output: "int64", Schema: json.RawMessage(`{"type":"integer","format":"int64"}`), Func: "pay"},
			"send":  {Inputs: "2", Output: lock.None, Func: "send"},
			"log":   {Inputs: "3", Output: lock.None, Func: "log"},
			"count": {Inputs: "4", Output: lock.None, Func: "count"},
			"get":   {Output: "charge", Schema: json.RawMessage(`{"$ref":"go:stripe.Charge","fingerprint":"1"}`), Func: "get"},
		},
	}
}

func setStep(name string, change func(s *lock.Step)) func(f lock.File) {
	return func(f lock.File) {
		s := f.Steps[name]
		change(&s)
		f.Steps[name] = s
	}
}

func setHandler(name string, change func(h *lock.Handler)) func(f lock.File) {
	return func(f lock.File) {
		h := f.Handlers[name]
		change(&h)
		f.Handlers[name] = h
	}
}

func renameStep(f lock.File, old, new string, change func(s *lock.Step)) {
	s := f.Steps[old]
	change(&s)
	delete(f.Steps, old)
	f.Steps[new] = s
	for _, h := range f.Handlers {
		if i := slices.Index(h.Steps, old); i >= 0 {
			h.Steps[i] = new
		}
	}
}

// changing are changes of a package, with what is said of each: subject, rule and
// result.
var changing = []struct {
	name   string
	change func(f lock.File)
	want   string
}{
	{"nothing", func(f lock.File) {}, ""},
	{"a new step", func(f lock.File) { f.Steps["new"] = lock.Step{Inputs: "9", Output: lock.None, Func: "f"} },
		"step new: step-added: safe"},
	{"inputs", setStep("pay", func(s *lock.Step) { s.Inputs = "x" }), "step pay: inputs-changed: info"},
	{"options", setStep("pay", func(s *lock.Step) { s.Options = "attempts=3" }), "step pay: step-options-changed: info"},
	{"a key", setStep("pay", func(s *lock.Step) { s.Key = "$2" }), "step pay: key-changed: breaks executions in flight"},
	{"a key for one without", setStep("send", func(s *lock.Step) { s.Key = "$1" }), "step send: key-changed: breaks executions in flight"},
	{"an output that is read", setStep("pay", func(s *lock.Step) {
		s.Output, s.Schema = "number", json.RawMessage(`{"type":"number"}`)
	}), "step pay: number-widened: safe"},
	{"an output that is not", setStep("pay", func(s *lock.Step) {
		s.Output, s.Schema = "int32", json.RawMessage(`{"type":"integer","format":"int32"}`)
	}), "step pay: number-narrowed: needs a converter"},
	{"no output any more", setStep("pay", func(s *lock.Step) { s.Output, s.Schema = lock.None, nil }), "step pay: output-removed: safe"},
	{"an output for one without", setStep("send", func(s *lock.Step) { s.Output, s.Schema = "x", json.RawMessage(`{"type":"string"}`) }),
		"step send: output-added: breaks executions in flight"},
	{"a step under another name", func(f lock.File) { renameStep(f, "pay", "charge", func(s *lock.Step) { s.Func = "charge" }) },
		"step pay: step-renamed: breaks executions in flight"},
	{"a function under another step's name", func(f lock.File) { renameStep(f, "pay", "charge", func(s *lock.Step) { s.Inputs = "7" }) },
		"step pay: step-renamed: breaks executions in flight"},
	{"a step that says what it was", func(f lock.File) {
		renameStep(f, "pay", "charge", func(s *lock.Step) { s.Func, s.Was = "charge", []string{"pay"} })
	}, "step charge: step-renamed: safe"},
	{"a step in the place of another", func(f lock.File) {
		renameStep(f, "pay", "charge", func(s *lock.Step) { s.Func, s.Inputs = "charge", "7" })
	}, "step charge: step-added: safe; step pay: step-removed: breaks executions in flight"},
	{"a step less", func(f lock.File) {
		delete(f.Steps, "pay")
		setHandler("shop.A", func(h *lock.Handler) { h.Steps = []string{"send"} })(f)
	}, "step pay: step-removed: info"},
	{"a step that a handler leads to no more", setHandler("shop.A", func(h *lock.Handler) { h.Steps = []string{"pay"} }),
		"step send: step-removed: info"},
	{"a step that another handler leads to as well", setHandler("shop.B", func(h *lock.Handler) { h.Steps = []string{"log", "send"} }),
		"step send: step-added: safe"},
	{"a step that moved to a handler of the same events", func(f lock.File) {
		setHandler("shop.A", func(h *lock.Handler) { h.Steps = []string{"pay"} })(f)
		setHandler("shop.B", func(h *lock.Handler) { h.Steps = []string{"log", "send"} })(f)
	}, "step send: step-moved: breaks executions in flight"},
	{"a step that moved to a handler of other events", func(f lock.File) {
		setHandler("shop.A", func(h *lock.Handler) { h.Steps = []string{"pay"} })(f)
		setHandler("shop.C", func(h *lock.Handler) { h.Steps = []string{"count", "send"} })(f)
	}, "step send: step-moved: info"},
	{"the order of steps", setHandler("shop.A", func(h *lock.Handler) { h.Steps = []string{"send", "pay"} }),
		"handler shop.A: step-order-changed: info"},
	{"a new handler", func(f lock.File) { f.Handlers["shop.N"] = lock.Handler{Events: []string{"x.y"}, Func: "N"} },
		"handler shop.N: handler-added: safe"},
	{"a handler less", func(f lock.File) { delete(f.Handlers, "shop.C"); delete(f.Steps, "count") },
		"handler shop.C: handler-removed: breaks executions in flight; step count: step-removed: info"},
	{"a handler under another name", func(f lock.File) {
		h := f.Handlers["shop.C"]
		delete(f.Handlers, "shop.C")
		h.Func = "D"
		f.Handlers["shop.D"] = h
	}, "handler shop.C: handler-renamed: breaks executions in flight"},
	{"a handler that says what it was", func(f lock.File) {
		h := f.Handlers["shop.C"]
		delete(f.Handlers, "shop.C")
		h.Func, h.Was = "D", []string{"shop.C"}
		f.Handlers["shop.D"] = h
	}, "handler shop.D: handler-renamed: safe"},
	{"options of a handler", setHandler("shop.C", func(h *lock.Handler) { h.Options = "timeout=1s" }),
		"handler shop.C: handler-options-changed: info"},
	{"order=", setHandler("shop.C", func(h *lock.Handler) { h.Order = "$1.ID" }), "handler shop.C: order-changed: info"},
	{"an event type more", setHandler("shop.C", func(h *lock.Handler) { h.Events = []string{"bank.paid", "bank.refused"} }),
		"handler shop.C: event-added: safe"},
	{"an event type less", setHandler("shop.A", func(h *lock.Handler) { h.Events = []string{"shop.closed"} }),
		"handler shop.A: event-added: safe; handler shop.A: event-dropped: breaks executions in flight"},
	{"a pattern for an event type", setHandler("shop.A", func(h *lock.Handler) { h.Events = []string{"shop.*"} }),
		"handler shop.A: event-added: safe"},
	{"a shape that nobody can read", setStep("pay", func(s *lock.Step) { s.Output, s.Schema = "x", json.RawMessage(`{"type":"odd"}`) }),
		"step pay: shape-unknown: needs a converter"},
	{"another type of an event package", setStep("get", func(s *lock.Step) {
		s.Output, s.Schema = "x", json.RawMessage(`{"$ref":"go:stripe.Charge","fingerprint":"2"}`)
	}), "step get: event-type-changed: needs a converter"},
}

func results(changes []Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, c.Subject()+": "+string(c.Rule)+": "+c.Result())
	}
	return strings.Join(all, "; ")
}

func TestChanges(t *testing.T) {
	for _, test := range changing {
		t.Run(test.name, func(t *testing.T) {
			now := base()
			test.change(now)
			source := Source{File: now}
			changes := Compare(base(), source)
			if got := results(changes); got != test.want {
				t.Fatalf("%s\nwant %s", got, test.want)
			}
			var names []string
			for _, c := range changes {
				if c.Fails() {
					names = append(names, c.Step+c.Handler)
				}
				if (c.Remedy != "") != c.Fails() {
					t.Errorf("%s: the remedy is %q", c.Rule, c.Remedy)
				}
			}
			next := Next(base(), source)
			if len(names) == 0 {
				if got, want := encoded(t, next), encoded(t, withEarlier(now, next)); got != want {
					t.Errorf("the lock file that follows is\n%s\nwant\n%s", got, want)
				}
				settled(t, next, source)
				return
			}
			for _, name := range names {
				if s, ok := base().Steps[name]; ok && fmt.Sprint(next.Steps[name]) != fmt.Sprint(s) {
					t.Errorf("the entry of step %s did not stay: %v", name, next.Steps[name])
				}
				if h, ok := base().Handlers[name]; ok && fmt.Sprint(next.Handlers[name]) != fmt.Sprint(h) {
					t.Errorf("the entry of handler %s did not stay: %v", name, next.Handlers[name])
				}
			}
			accept(t, source, changes, names)
		})
	}
}

// accept accepts the breaking changes of names and expects the lock file of the
// source, and that its break is over.
func accept(t *testing.T, source Source, changes []Change, names []string) {
	accepted, idle := Accept(changes, append(names, "nobody"))
	if len(idle) != 1 || idle[0] != "nobody" {
		t.Errorf("nothing to accept of %q", idle)
	}
	source.Accepted = accepted
	for _, c := range Compare(base(), source) {
		if c.Fails() {
			t.Errorf("accepted, and it fails: %s", c.Reason)
		}
	}
	next := Next(base(), source)
	want := withEarlier(source.File, next)
	want.Accepted = accepted
	if got, want := encoded(t, next), encoded(t, want); got != want {
		t.Errorf("the accepted lock file is\n%s\nwant\n%s", got, want)
	}
	settled(t, next, source)
}

// settled expects that nothing changes any more once a lock file is committed.
func settled(t *testing.T, committed lock.File, source Source) {
	t.Helper()
	source.Accepted = committed.Accepted
	if again := Compare(committed, source); len(again) > 0 {
		t.Errorf("once it is committed there is still: %s", results(again))
	}
	if got, want := encoded(t, Next(committed, source)), encoded(t, committed); got != want {
		t.Errorf("once it is committed the lock file becomes\n%s\nfrom\n%s", got, want)
	}
}

// withEarlier is f with the earlier shapes of another.
func withEarlier(f, other lock.File) lock.File {
	f.Steps = maps.Clone(f.Steps)
	for name, s := range f.Steps {
		s.Earlier = other.Steps[name].Earlier
		f.Steps[name] = s
	}
	return f
}

func encoded(t *testing.T, f lock.File) string {
	t.Helper()
	text, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAConverterSettlesWhatItReads(t *testing.T) {
	now := base()
	setStep("pay", func(s *lock.Step) { s.Output, s.Schema = "text", json.RawMessage(`{"type":"string"}`) })(now)
	before := base()
	setStep("pay", func(s *lock.Step) {
		s.Earlier = map[string]lock.Earlier{
			"older": {Read: lock.Yes, Schema: json.RawMessage(`{"type":"integer","format":"int32"}`)},
			"text":  {Read: lock.Yes, Schema: json.RawMessage(`{"type":"string"}`)},
			"lost":  {Read: lock.No, Schema: json.RawMessage(`{"type":"boolean"}`)},
		}
	})(before)
	source := Source{File: now, Converted: map[string][]string{"pay": {"int64"}}}
	if got, want := results(Compare(before, source)), "step pay: type-changed: safe: converted; step pay: type-changed: needs a converter"; got != want {
		t.Errorf("one of two converters: %s\nwant %s", got, want)
	}
	source.Converted["pay"] = []string{"int64", "older"}
	if got, want := results(Compare(before, source)), "step pay: type-changed: safe: converted; step pay: type-changed: safe: converted"; got != want {
		t.Errorf("both converters: %s\nwant %s", got, want)
	}
	got := map[string]lock.Reading{}
	for print, e := range Next(before, source).Steps["pay"].Earlier {
		got[print] = e.Read
	}
	want := map[string]lock.Reading{"int64": lock.Converted, "older": lock.Converted, "lost": lock.No}
	if !maps.Equal(got, want) {
		t.Errorf("earlier shapes: %v, want %v", got, want)
	}
	if shapes := Shapes(before, "pay", now.Steps["pay"]); !slices.Equal(shapes, []string{"int64", "lost", "older"}) {
		t.Errorf("shapes of records: %v", shapes)
	}
}

func TestReadingsGoBothWays(t *testing.T) {
	integer := func(size string) lock.Step {
		return lock.Step{Output: size, Schema: json.RawMessage(`{"type":"integer","format":"` + size + `"}`)}
	}
	before := integer("int32")
	before.Earlier = map[string]lock.Earlier{
		"int16": {Read: lock.Yes, Schema: integer("int16").Schema}, "uint64": {Read: lock.No, Schema: integer("uint64").Schema},
		lock.None: {Read: lock.No},
	}
	file := lock.File{Steps: map[string]lock.Step{"old": before}}
	now := integer("int16")
	now.Was = []string{"old"}
	reads, readBy := Readings(file, "new", now)
	if !slices.Equal(reads, nil) || !slices.Equal(readBy, []string{"", "int32"}) {
		t.Errorf("int16 reads %q and is read by %q", reads, readBy)
	}
	now = integer("int64")
	now.Was = []string{"old"}
	if reads, readBy = Readings(file, "new", now); !slices.Equal(reads, []string{"int16", "int32"}) || !slices.Equal(readBy, []string{""}) {
		t.Errorf("int64 reads %q and is read by %q", reads, readBy)
	}
	now = lock.Step{Output: lock.None, Was: []string{"old"}}
	if reads, readBy = Readings(file, "new", now); !slices.Equal(reads, []string{"int16", "int32", "uint64"}) || len(readBy) != 0 {
		t.Errorf("a step without output reads %q and is read by %q", reads, readBy)
	}
}

// rules are the names of all rules, from the source.
func rules(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "rule.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && fmt.Sprint(spec.Type) == "Rule" {
			name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return true
	})
	if len(names) < 30 {
		t.Fatalf("only the rules %q", names)
	}
	return names
}

// Every rule is shown by a case above, and has a row in the guide.
func TestEveryRuleIsShownAndExplained(t *testing.T) {
	guide, err := os.ReadFile("../../docs/evolving.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for _, d := range differing {
		shown.WriteString(d.want + " ")
	}
	for _, c := range changing {
		shown.WriteString(c.want + " ")
	}
	for _, rule := range rules(t) {
		if !strings.Contains(shown.String(), rule) {
			t.Errorf("no case shows the rule %s", rule)
		}
		if !strings.Contains(string(guide), "| `"+rule+"` |") {
			t.Errorf("docs/evolving.md has no row for the rule %s", rule)
		}
	}
}
