package schema_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/schema"
)

var update = flag.Bool("update", false, "write the shipped schemas in normal form")

func load(t *testing.T, text string) *schema.Document {
	t.Helper()
	set, problems := schema.Load([]schema.File{{Path: "s.json", Data: []byte(text)}})
	for _, p := range problems {
		t.Error(p)
	}
	return set.Documents[0]
}

// What the drafts spell differently is one thing in normal form.
func TestDraftsAreOneForm(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"boolean exclusive bounds":      {`{"minimum": 0, "exclusiveMinimum": true, "exclusiveMaximum": true, "maximum": 1.50}`, `{"exclusiveMaximum": 1.50, "exclusiveMinimum": 0}`},
		"exclusive bounds as numbers":   {`{"exclusiveMinimum": 0}`, `{"exclusiveMinimum": 0}`},
		"items by position":             {`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}, true], "additionalItems": false}`, `{"prefixItems": [{"type": "string"}, true], "items": false}`},
		"definitions":                   {`{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"b": {"type": "string"}, "a": false}}`, `{"$defs": {"a": false, "b": {"type": "string"}}}`},
		"nullable":                      {`{"type": "string", "nullable": true}`, `{"type": ["string", "null"]}`},
		"null alone":                    {`{"type": "null"}`, `{"type": "null"}`},
		"lists of types":                {`{"type": ["null", "integer", "string"]}`, `{"type": ["integer", "string", "null"]}`},
		"order and required":            {`{"required": ["m", "z", "x"], "properties": {"z": {}, "m": {"const": null}}}`, `{"properties": {"z": {}, "m": {"const": null}}, "required": ["z", "m", "x"]}`},
		"big numbers":                   {`{"maximum": 18446744073709551615, "default": 9007199254740993.10, "enum": [1e400]}`, `{"enum": [1e400], "maximum": 18446744073709551615, "default": 9007199254740993.10}`},
		"what only validates is kept":   {`{"minLength": 1, "not": {"type": "string"}, "x-vendor": {"b": 1, "a": [true, null]}}`, `{"minLength": 1, "not": {"type": "string"}, "x-vendor": {"b": 1, "a": [true, null]}}`},
		"events and names":              {`{"x-restaq-events": ["a.b"], "x-go-name": "A"}`, `{"x-go-name": "A", "x-restaq-events": ["a.b"]}`},
		"references and combinations":   {`{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{}, {"oneOf": [true]}]}}}`, `{"$defs": {"a": {"anyOf": [{}, {"oneOf": [true]}]}}, "allOf": [{"$ref": "#/$defs/a"}]}`},
		"additionalProperties":          {`{"additionalProperties": {"type": "integer"}}`, `{"additionalProperties": {"type": "integer"}}`},
		"annotations":                   {`{"title": "T", "description": "<D>", "deprecated": true, "format": "date"}`, `{"format": "date", "title": "T", "description": "<D>", "deprecated": true}`},
		"references move along":         {`{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a/b%": {"items": [{"type": "string"}]}}, "allOf": [{"$ref": "#/definitions/a~1b%25"}, {"$ref": "#/definitions/a~1b%25/items/0"}]}`, `{"$defs": {"a/b%": {"prefixItems": [{"type": "string"}]}}, "allOf": [{"$ref": "#/$defs/a~1b%25"}, {"$ref": "#/$defs/a~1b%25/prefixItems/0"}]}`},
		"two kinds of definitions":      {`{"$defs": {"x": {"type": "string"}}, "definitions": {"x": {"type": "integer"}}, "anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/definitions/x"}]}`, `{"$defs": {"x": {"type": "string"}}, "anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/definitions/x"}], "definitions": {"x": {"type": "integer"}}}`},
		"dynamic references":            {`{"$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}, "not": {"$recursiveRef": "#"}}`, `{"$anchor": "node", "items": {"$ref": "#node"}, "not": {"$ref": "#"}}`},
		"what draft-07 has beside $ref": {`{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}, "$ref": "#/definitions/a", "description": "d"}`, `{"$ref": "#/$defs/a", "$defs": {"a": {}}, "description": "d"}`},
		"dependencies":                  {`{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"], "c": {"not": true}}}`, `{"dependentSchemas": {"c": {"not": true}}, "dependentRequired": {"a": ["b"]}}`},
		"patterns and conditions":       {`{"patternProperties": {"^x": {"type": "string"}}, "if": true, "then": {"minItems": 1}, "propertyNames": {"pattern": "a"}}`, `{"patternProperties": {"^x": {"type": "string"}}, "if": true, "propertyNames": {"pattern": "a"}, "then": {"minItems": 1}}`},
		"draft-04's id and old anchor":  {`{"$schema": "http://json-schema.org/draft-04/schema#", "id": "https://a.test/b", "definitions": {"x": {"id": "#x"}}}`, `{"$id": "https://a.test/b", "$defs": {"x": {"$anchor": "x"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load(t, c.in).Normal()
			if err != nil {
				t.Fatal(err)
			}
			want, problem := schema.ParseJSON("want", []byte(strings.Replace(c.want, "{", `{"$schema": "https://json-schema.org/draft/2020-12/schema", `, 1)))
			if problem != nil {
				t.Fatal(problem)
			}
			node, problem := schema.ParseJSON("got", got)
			if problem != nil {
				t.Fatal(problem)
			}
			if !node.Equal(want) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPositions(t *testing.T) {
	doc := load(t, "{\"type\": \"object\",\n \"properties\": {\n\t\"a/b~c\":   {\"type\": \"string\"}}}")
	s := doc.Root.Properties[0].Schema
	if got, want := s.Position, (schema.Position{File: "s.json", Pointer: "/properties/a~1b~0c", Line: 3, Col: 13}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestIntegers(t *testing.T) {
	for text, want := range map[string]bool{"1": true, "1.0": true, "1e3": true, "-0": true, "1.5": false, "1e-1": false, "1e999999999": false, "123456789012345678901234567890": true} {
		if got := (&schema.Node{Kind: schema.Number, Text: text}).IsInteger(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// The schemas that are shipped stand in normal form, so that a refresh shows what
// changed and nothing else.
func TestShippedSchemasAreInNormalForm(t *testing.T) {
	names, err := filepath.Glob("../../schemas/*/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal("no schemas", err)
	}
	folders := map[string][]schema.File{}
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "restaq.") {
			continue // options, no schema
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		folders[filepath.Dir(name)] = append(folders[filepath.Dir(name)], schema.File{Path: name, Data: data})
	}
	for _, files := range folders {
		set, problems := schema.Load(files)
		for _, p := range problems {
			t.Error(p)
		}
		for i, doc := range set.Documents {
			got, err := doc.Normal()
			switch {
			case err != nil:
				t.Error(err)
			case bytes.Equal(got, files[i].Data):
			case *update:
				if err := os.WriteFile(doc.File, got, 0o644); err != nil {
					t.Error(err)
				}
			default:
				t.Errorf("%s is not in normal form: go test ./internal/schema -run NormalForm -update writes it", doc.File)
			}
		}
	}
}

// Reading never panics, and normal form is read back as itself.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{`{}`, `true`, `{"$id":"x","id":"x","$$defs":{}}`, `{"$ref":"#"}`, `{"$ref":"#/a/0","a":[{}]}`, `{"properties":{"a":{"$ref":"#/properties/a"}}}`, `{"type":["null"],"enum":[null,1e9]}`, `[`, `{"$id":"x","$defs":{"a":{"$anchor":"b","$id":"%"}}}`, `{"minimum":1,"exclusiveMinimum":2}`, `{"openapi":"3.1.0","webhooks":{"a":{"$ref":"#/components/pathItems/a"}},"components":{"pathItems":{"a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/b"}}}}}}},"schemas":{"b":{"nullable":true}}}}`, `{"definitions":{"a":{"items":[{}]}},"$ref":"#/definitions/a/items/0","dependencies":{"a":["b"],"c":{}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, problems := schema.Load([]schema.File{{Path: "f.json", Data: data}})
		for _, p := range problems {
			_ = p.String()
		}
		if problems.Failed() {
			return
		}
		first, err := set.Documents[0].Normal()
		if err != nil {
			t.Fatal(err)
		}
		again, problems := schema.Load([]schema.File{{Path: "f.json", Data: first}})
		if len(again.Documents) == 0 {
			t.Fatalf("normal form is not JSON: %s: %v", first, problems)
		}
		second, err := again.Documents[0].Normal()
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("normal form changed:\n%s\n%s", first, second)
		}
	})
}
