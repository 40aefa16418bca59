package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/fetch"
	"github.com/restaq/restaq/internal/schema"
)

// passedOver are files of the suite that are about what is not done here: nothing
// is fetched, references do not depend on the way that led to them, and all
// vocabularies count.
var passedOver = []string{"refRemote.json", "dynamicRef.json", "vocabulary.json"}

// The tests of the JSON Schema project: Validate agrees with them all, and what
// their schemas admit is decoded and encoded to an equal value, where a Go type
// can express it. A schema that does not say a type is read as of the type that
// its keywords are about.
func TestJSONSchemaSuite(t *testing.T) {
	dir, err := fetch.SchemaTests.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var in []schema.File
	var cases []suiteCase
	for _, draft := range []string{"draft7", "draft2020-12"} {
		names, err := filepath.Glob(filepath.Join(dir, "jsonschema", "testdata", draft, "*.json"))
		if err != nil || len(names) < 30 {
			t.Fatalf("%s: %d files, %v", draft, len(names), err)
		}
		for _, name := range names {
			if slices.Contains(passedOver, filepath.Base(name)) {
				continue
			}
			for _, g := range readSuite(t, name) {
				event := fmt.Sprintf("suite%d.x", len(in))
				files, ok := g.files(event, draft)
				if !ok {
					continue
				}
				in = append(in, files...)
				for _, c := range g.Tests {
					c.name = strings.Join([]string{draft, filepath.Base(name), g.Description, c.Description}, " | ")
					c.event, c.typed, c.properties = "random."+event, g.typed(), g.properties()
					cases = append(cases, c)
				}
			}
		}
	}
	if len(cases) < 1200 {
		t.Errorf("%d cases are few", len(cases))
	}
	payloads := make([]payload, len(cases))
	for i, c := range cases {
		payloads[i] = payload{event: c.event, value: map[string]any{"v": decodeAny(t, c.Data)}}
	}
	expressed := 0
	for i, o := range runPayloads(t, in, payloads) {
		c := cases[i]
		if (o.Strict == "") != c.Valid {
			t.Errorf("%s: %s: valid %v, Validate says %q", c.name, c.Data, c.Valid, o.Strict)
		}
		if !c.Valid || !c.typed && o.Error != "" {
			continue
		}
		if o.Error != "" {
			t.Errorf("%s: %s is refused: %s", c.name, c.Data, o.Error)
			continue
		}
		expressed++
		if out := decodeAny(t, o.Encoded).(map[string]any)["v"]; !c.same(decodeAny(t, c.Data), out) {
			t.Errorf("%s: %s became %v", c.name, c.Data, out)
		}
	}
	if expressed < 500 {
		t.Errorf("%d values that a type expresses are few", expressed)
	}
}

// suiteGroup is a schema and its tests.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []suiteCase
}

type suiteCase struct {
	Description string
	Data        json.RawMessage
	Valid       bool

	name, event string
	typed       bool     // the schema says the type
	properties  []string // that the schema has
}

func readSuite(t *testing.T, name string) []suiteGroup {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	if err := json.Unmarshal(data, &groups); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return groups
}

// files returns the schema, and one of an event that has it in a member. It
// reports false if the schema needs what is passed over: those that are fetched,
// dynamic references, ids that another group has too, and an enum of no values.
func (g suiteGroup) files(event, draft string) ([]schema.File, bool) {
	text := strings.TrimSpace(string(g.Schema))
	for _, part := range []string{`"$id"`, `"$ref": "http`, `"$dynamicRef"`, `"enum": []`} {
		if strings.Contains(text, part) {
			return nil, false
		}
	}
	if rest, ok := strings.CutPrefix(text, "{"); ok && draft == "draft7" {
		text = strings.Replace(`{"$schema":"http://json-schema.org/draft-07/schema#",`+rest, ",}", "}", 1)
	}
	name := "of_" + event + ".json"
	envelope := fmt.Sprintf(`{"$schema":"https://json-schema.org/draft/2020-12/schema","x-restaq-events":[%q],"type":"object","required":["v"],"properties":{"v":{"$ref":%q}}}`, event, name)
	files := []schema.File{{Path: name, Data: []byte(text)}, {Path: event + ".json", Data: []byte(envelope)}}
	// A schema that holds itself in itself is no type.
	_, problems := events.Generate(events.Options{Provider: "random", Package: "random"}, files)
	return files, !problems.Failed()
}

// typed reports whether the schema says the type of its values.
func (g suiteGroup) typed() bool {
	var s struct{ Type json.RawMessage }
	return json.Unmarshal(g.Schema, &s) == nil && s.Type != nil
}

func (g suiteGroup) properties() []string {
	var s struct{ Properties map[string]json.RawMessage }
	if json.Unmarshal(g.Schema, &s) != nil {
		return nil
	}
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	return names
}

// same reports whether two values are equal: numbers by value, members that the
// schema does not name aside.
func (c suiteCase) same(in, out any) bool {
	switch v := in.(type) {
	case json.Number:
		w, ok := out.(json.Number)
		if !ok {
			return false
		}
		a, b := new(big.Rat), new(big.Rat)
		_, okA := a.SetString(v.String())
		_, okB := b.SetString(w.String())
		return okA && okB && a.Cmp(b) == 0
	case map[string]any:
		w, ok := out.(map[string]any)
		if !ok {
			return false
		}
		for name, member := range v {
			other, there := w[name]
			if !there && slices.Contains(c.properties, name) || there && !c.same(member, other) {
				return false
			}
		}
		return true
	case []any:
		w, ok := out.([]any)
		return ok && slices.EqualFunc(v, w, c.same)
	case nil:
		return out == nil || !c.typed
	}
	a, errA := json.Marshal(in)
	b, errB := json.Marshal(out)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}
