package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/schema"
)

// Random schemas, and values that they admit or nearly admit: what a schema
// admits is decoded and encoded to an equal value; what is missing, null, unknown
// or no value of an enum is decoded as well, and nothing else is lost with it;
// and Validate agrees with an independent validator.
func TestRandomSchemas(t *testing.T) {
	const seeds, values = 40, 60
	r := random{rand.New(rand.NewPCG(1, 2))}
	var defs strings.Builder
	var roots []kind
	for n := range seeds {
		named := kind{text: fmt.Sprintf(`{"$ref":"#/$defs/t%d"}`, n)}
		var body kind
		named.value = func(d int) any { return body.value(d + 1) }
		body = r.object([]kind{named}, 3, "", false)
		root := r.object([]kind{named}, 3, "", false)
		fmt.Fprintf(&defs, "%q:%s,\n%q:{\"x-restaq-events\":[\"e%d.x\"],%s,\n", fmt.Sprintf("t%d", n), body.text, fmt.Sprintf("root%d", n), n, root.text[1:])
		roots = append(roots, root)
	}
	document := `{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{` + strings.TrimSuffix(defs.String(), ",\n") + `}}`

	var payloads []payload
	for n, root := range roots {
		valid := validator(t, document, fmt.Sprintf("#/$defs/root%d", n))
		for range values {
			p := payload{event: fmt.Sprintf("random.e%d.x", n), value: root.value(0), taken: true}
			for range r.IntN(3) {
				taken := false
				p.value, taken = r.mutate(p.value)
				p.taken = p.taken && taken
				p.mutated = true
			}
			p.valid = valid.Validate(plain(p.value)) == nil
			p.taken = p.taken || p.valid
			if !p.valid && !p.mutated {
				t.Fatalf("a value of our own making deviates: %v\n%s\n%s", valid.Validate(plain(p.value)), p.json(t), root.text)
			}
			payloads = append(payloads, p)
		}
	}
	seen := map[bool]int{}
	for i, o := range runPayloads(t, []schema.File{{Path: "random.json", Data: []byte(document)}}, payloads) {
		p := payloads[i]
		seen[p.valid]++
		p.check(t, o)
		if t.Failed() && i > 0 {
			t.Log(roots[i/values].text)
			return
		}
	}
	if seen[true] < len(payloads)/4 || seen[false] < len(payloads)/10 {
		t.Errorf("%d valid and %d other payloads say little", seen[true], seen[false])
	}
}

// payload is a value, and what is known of it.
type payload struct {
	event   string
	value   any
	mutated bool
	valid   bool // for the independent validator
	taken   bool // Decode has to take it
}

func (p payload) json(t *testing.T) string {
	t.Helper()
	data, err := json.Marshal(p.value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// outcome is what the generated package makes of a payload.
type outcome struct {
	Error   string          // of Decode
	Encoded json.RawMessage // what the struct encodes to
	Strict  string          // of Validate; empty if it finds nothing
}

func (p payload) check(t *testing.T, o outcome) {
	t.Helper()
	switch {
	case (o.Strict == "") != p.valid:
		t.Errorf("%s %s: valid %v, Validate says %q", p.event, p.json(t), p.valid, o.Strict)
	case o.Error != "" && p.taken:
		t.Errorf("%s %s is refused: %s", p.event, p.json(t), o.Error)
	case o.Error == "" && p.taken:
		if at, lost := loss(p.value, decodeAny(t, o.Encoded), !p.valid); lost {
			t.Errorf("%s %s\nbecame %s\nat %q", p.event, p.json(t), o.Encoded, at)
		}
	}
}

// loss returns where out lacks what in has, or, unless loose, has what in lacks.
// Loose also lets members go that nobody knows, and null become a zero value.
func loss(in, out any, loose bool) (at string, lost bool) {
	switch in := in.(type) {
	case nil:
		return "", out != nil && !loose
	case map[string]any:
		got, ok := out.(map[string]any)
		if !ok {
			return "", true
		}
		for name, v := range in {
			o, there := got[name]
			if name == "unheard of" || !there && v == nil && loose {
				continue
			}
			if !there {
				return "/" + name, true
			}
			if at, lost := loss(v, o, loose); lost {
				return "/" + name + at, true
			}
		}
		for name := range got {
			if _, there := in[name]; !there && !loose {
				return "/" + name, true
			}
		}
		return "", false
	case []any:
		got, ok := out.([]any)
		if !ok || len(got) != len(in) {
			return "", true
		}
		for i := range in {
			if at, lost := loss(in[i], got[i], loose); lost {
				return fmt.Sprintf("/%d%s", i, at), true
			}
		}
		return "", false
	}
	return "", in != out
}

func decodeAny(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

// plain returns a value as the validator takes it.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	v, err = jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		panic(err)
	}
	return v
}

// validator returns the independent validator for a part of a document.
func validator(t *testing.T, document, pointer string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("file:///doc.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("file:///doc.json" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runPayloads generates the package random of schemas, and has a program decode,
// encode and validate payloads by it.
func runPayloads(t *testing.T, in []schema.File, payloads []payload) []outcome {
	t.Helper()
	files, problems := events.Generate(events.Options{Provider: "random", Package: "random"}, in)
	for _, p := range problems {
		if !p.Warning {
			t.Fatal(p)
		}
	}
	m := newModule(t)
	for _, f := range files {
		m.write(t, "random/"+f.Path, f.Content)
	}
	m.write(t, "main.go", []byte(payloadProgram))
	build := exec.Command("go", "build", "-o", "program", ".")
	build.Dir = m.dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var lines, complaints bytes.Buffer
	for _, p := range payloads {
		fmt.Fprintf(&lines, "%s %s\n", p.event, p.json(t))
	}
	cmd := exec.Command(filepath.Join(m.dir, "program"))
	cmd.Stdin, cmd.Stderr = &lines, &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run: %v\n%s", err, complaints.String())
	}
	var outcomes []outcome
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var o outcome
		if err := dec.Decode(&o); err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, o)
	}
	if len(outcomes) != len(payloads) {
		t.Fatalf("%d outcomes of %d payloads", len(outcomes), len(payloads))
	}
	return outcomes
}

const payloadProgram = `package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"

	"github.com/restaq/restaq/random"
)

type outcome struct {
	Error   string
	Encoded json.RawMessage
	Strict  string
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	enc := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		eventType, data, _ := strings.Cut(lines.Text(), " ")
		var o outcome
		v, err := random.Decode(eventType, []byte(data))
		if err == nil {
			o.Encoded, err = json.Marshal(v)
		}
		if err != nil {
			o.Error = err.Error()
		}
		if err := random.Validate(eventType, []byte(data)); err != nil {
			o.Strict = err.Error()
		}
		if err := enc.Encode(o); err != nil {
			panic(err)
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}
`
