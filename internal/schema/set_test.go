package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/schema"
)

// References lead to given files alone, by $id, by path, or by the name of a file
// that is given once.
func TestReferences(t *testing.T) {
	files := []schema.File{
		{Path: "a/main.json", Data: []byte(`{"$id": "https://ex.test/main.json", "items": [], "properties": {
			"id":      {"$ref": "other.json"},
			"path":    {"$ref": "sub/plain.yaml#/$defs/x"},
			"address": {"$ref": "https://elsewhere.test/v1/plain.yaml#/$defs/x"},
			"anchor":  {"$ref": "#here"},
			"dynamic": {"$dynamicRef": "#here"},
			"inner":   {"$ref": "inner#/$defs/y"},
			"two":     {"$ref": "https://elsewhere.test/twice.json"},
			"none":    {"$ref": "https://elsewhere.test/none.json"},
			"odd":     {"$ref": "#/%zz"}},
			"$defs": {"here": {"$anchor": "here"}, "in": {"$id": "inner", "$defs": {"y": {"type": "string"}}}}}`)},
		{Path: "a/other.json", Data: []byte(`{"$id": "https://ex.test/other.json"}`)},
		{Path: "a/sub/plain.yaml", Data: []byte("$defs: {x: {type: string}}")},
		{Path: "b/twice.json", Data: []byte(`{}`)},
		{Path: "c/twice.json", Data: []byte(`{}`)},
	}
	set, problems := schema.Load(files)
	var got strings.Builder
	for _, p := range set.Documents[0].Root.Properties {
		if to := p.Schema.Target; to != nil {
			fmt.Fprintf(&got, "%s: %s#%s\n", p.Name, to.File, to.Pointer)
		}
	}
	for _, p := range problems {
		fmt.Fprintln(&got, p)
	}
	const want = `id: a/other.json#
path: a/sub/plain.yaml#/$defs/x
address: a/sub/plain.yaml#/$defs/x
anchor: a/main.json#/$defs/here
dynamic: a/main.json#/$defs/here
inner: a/main.json#/$defs/in/$defs/y
a/main.json:8:24: $ref "https://elsewhere.test/twice.json" leads to none of the given files; nothing is fetched (at #/properties/two/$ref)
a/main.json:9:24: $ref "https://elsewhere.test/none.json" leads to none of the given files; nothing is fetched (at #/properties/none/$ref)
a/main.json:10:24: $ref "#/%zz": invalid URL escape "%zz" (at #/properties/odd/$ref)
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// A file says what it is, or is read by what it is spelled in.
func TestDrafts(t *testing.T) {
	for in, want := range map[string]string{
		`{"$schema": "http://json-schema.org/draft-04/schema#"}`:      "draft-04",
		`{"$schema": "http://json-schema.org/draft-06/schema"}`:       "draft-06",
		`{"$schema": "https://json-schema.org/draft-07/schema#"}`:     "draft-07",
		`{"$schema": "https://json-schema.org/draft/2019-09/schema"}`: "2019-09",
		`{"$schema": "https://json-schema.org/draft/2020-12/schema"}`: "2020-12",
		`{"$schema": "https://elsewhere.test/mine"}`:                  `2020-12 s.json:1:13: warning: unknown $schema "https://elsewhere.test/mine": read as 2020-12 (at #/$schema)`,
		`{}`:                               "2020-12",
		`{"$defs": {}, "definitions": {}}`: "2020-12",
		`{"definitions": {}}`:              `draft-07 s.json:1:1: warning: no $schema: read as draft-07, for it has "definitions" (at #)`,
		`{"id": "https://ex.test/a"}`:      `draft-04 s.json:1:1: warning: no $schema: read as draft-04, for it has "id" (at #)`,
		`{"id": "https://ex.test/a", "definitions":{}}`: `draft-04 s.json:1:1: warning: no $schema: read as draft-04, for it has "definitions" (at #)`,
		`{"openapi": "3.0.3"}`:                          "OpenAPI 3.0",
		`{"openapi": "3.1.2"}`:                          "OpenAPI 3.1",
		`{"openapi": "2.5"}`:                            `s.json:1:13: OpenAPI 2.5 is not read: 3.0 and 3.1 are (at #/openapi)`,
		`{"swagger": "2.0"}`:                            `swagger 2.0 is not read`,
		`{"asyncapi": "1.2.0"}`:                         `asyncapi 1.2.0 is not read`,
		`{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "type": "string", "title": "t", "definitions": {"a": {}}}`: `draft-07 s.json:1:91: warning: type has no effect beside $ref in draft-07 (at #/type)`,
	} {
		set, problems := schema.Load([]schema.File{{Path: "s.json", Data: []byte(in)}})
		got := string(set.Documents[0].Draft)
		for _, p := range problems {
			got += " " + p.String()
		}
		if got != want && (len(problems) == 0 || !strings.Contains(got, want)) {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// A keyword that no draft knows is reported once, with the number of its places.
func TestUnknownKeywords(t *testing.T) {
	_, problems := schema.Load([]schema.File{{Path: "s.json", Data: []byte(`{"properties": {"a": {"frmat": "x"}, "b": {"frmat": "y"}, "id": {"id": 5}}}`)}})
	if len(problems) != 2 || problems[0].Message != `unknown keyword "frmat" has no effect; it stands at 2 places` || problems[0].Pointer != "/properties/a/frmat" {
		t.Error(problems)
	}
}
