package schema_test

import (
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/schema"
)

// A YAML file is read as the JSON that it stands for, with its own positions.
func TestYAMLIsJSON(t *testing.T) {
	for in, want := range map[string]string{
		"a: 1\nb: [x, 'y', \"z\"]\n":                       `{"a":1,"b":["x","y","z"]}`,
		"big: 18446744073709551615123\nf: 1.50\nh: 0x1F\n": `{"big":18446744073709551615123,"f":1.50,"h":31}`,
		"f: [.5, 1., +3, -2e3, 1_000]\n":                   `{"f":[0.5,1,3,-2e3,1000]}`,
		"yes: no\non: off\nt: [true, True, ~, null]\n":     `{"yes":"no","on":"off","t":[true,true,null,null]}`,
		"date: 2020-01-02\nversion: 3.0.3\n":               `{"date":"2020-01-02","version":"3.0.3"}`,
		"200: ok\n404: {}\n":                               `{"200":"ok","404":{}}`,
		"base: &b {x: 1, y: 2}\nuse: *b\n":                 `{"base":{"x":1,"y":2},"use":{"x":1,"y":2}}`,
		"base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  x: 3\n":  `{"base":{"x":1,"y":2},"use":{"x":3,"y":2}}`,
		"text: |\n  two\n  lines\nfolded: >-\n  a\n  b\n":  `{"text":"two\nlines\n","folded":"a b"}`,
		"# nothing but\na: !custom 5\nb: !!str 5\n":        `{"a":"5","b":"5"}`,
		"{\"json\": [1e400, {\"too\": null}]}":             `{"json":[1e400,{"too":null}]}`,
	} {
		n, problem := schema.ParseYAML("s.yaml", []byte(in))
		if problem != nil {
			t.Errorf("%q: %v", in, problem)
			continue
		}
		got, err := n.MarshalJSON()
		if err != nil || string(got) != want {
			t.Errorf("%q became %s, %v; want %s", in, got, err, want)
		}
	}
	n, problem := schema.ParseYAML("s.yaml", []byte("a:\n  b/c:\n    - x\n    - y\n"))
	if problem != nil {
		t.Fatal(problem)
	}
	at := n.Members[0].Value.Members[0].Value.Items[1].Position
	if want := (schema.Position{File: "s.yaml", Pointer: "/a/b~1c/1", Line: 4, Col: 7}); at != want {
		t.Errorf("got %+v, want %+v", at, want)
	}
}

func TestYAMLThatIsNotJSON(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 10) + "]\n"
	}
	for in, want := range map[string]string{
		"a: 1\na: 2\n":      `s.yaml:2:1: not YAML that is JSON too: member "a" stands twice in one mapping (at #)`,
		"a: .inf\n":         `s.yaml:1:4: not YAML that is JSON too: ".inf" is no number of JSON (at #/a)`,
		"[x]: 1\n":          "s.yaml:1:1: not YAML that is JSON too: the name of a member is not a plain value (at #)",
		"a: 1\n---\nb: 2\n": "s.yaml:2:1: a schema file holds one YAML document, and here begins a second",
		"":                  "the file is empty",
		"a: [1\n":           "not YAML",
		"a: *b\n":           "not YAML",
		bomb:                "aliases",
	} {
		_, problem := schema.ParseYAML("s.yaml", []byte(in))
		if problem == nil || !strings.Contains(problem.String(), want) {
			t.Errorf("%.40q: %v, want %s", in, problem, want)
		}
	}
}

// Reading never panics, and what was read is JSON.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"a: 1", "- x\n- !!int 0x1F\n", "a: &b {c: *b}", "<<: {a: 1}\na: 2", "? [a]\n: b", "a: .inf", "---\n...\n---\n", "a: |\n  x\n", "{\"a\": [1e400]}", "a: &x [*x]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, problem := schema.ParseYAML("f.yaml", data)
		if problem != nil {
			_ = problem.String()
			return
		}
		text, err := n.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if again, problem := schema.ParseJSON("f.json", text); problem != nil || !again.Equal(n) {
			t.Fatalf("%q became %s: %v", data, text, problem)
		}
	})
}
