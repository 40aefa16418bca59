package schema_test

import (
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/schema"
)

// A fault has its position, and the pointer of the value that it lies in.
func TestJSONFaults(t *testing.T) {
	for in, want := range map[string]string{
		``:                                  "s.json:1:1: not JSON: it ends where a value should stand (at #)",
		`{"a": [1, 2`:                       "s.json:1:12: not JSON: it ends where a comma or the end of the array should stand (at #/a)",
		`{"a": {"b/c": tru}}`:               "s.json:1:15: not JSON: 't' stands where a value should (at #/a/b~1c)",
		"{\"a\": 1,\n \"b\": 2\n \"c\": 3}": "s.json:3:2: not JSON: '\"' stands where a comma or the end of the object should (at #)",
		`{"a" 1}`:                           "s.json:1:6: not JSON: '1' stands where a colon should (at #)",
		`[01]`:                              `s.json:1:2: not JSON: "01" is not a number (at #/0)`,
		`[1.e5]`:                            `s.json:1:2: not JSON: "1.e5" is not a number (at #/0)`,
		`["a` + "\n" + `"]`:                 `s.json:1:4: not JSON: '\n' stands where a character of a string should (at #/0)`,
		`["\q"]`:                            `s.json:1:2: not JSON: invalid character 'q' in string escape code (at #/0)`,
		"[\"\xff\"]":                        "s.json:1:2: not JSON: a string that is not UTF-8 (at #/0)",
		`{} {}`:                             "s.json:1:4: not JSON: more than one JSON value (at #)",
		`{"a": {"b": 1, "b": 2}}`:           `s.json:1:16: not JSON: member "b" stands twice in one object (at #/a)`,
		strings.Repeat("[", 1002):           "not JSON: nested more than 1000 deep",
	} {
		_, problem := schema.ParseJSON("s.json", []byte(in))
		if problem == nil || !strings.Contains(problem.String(), want) {
			t.Errorf("%.40q: %v\nwant %s", in, problem, want)
		}
	}
}

func TestJSONValues(t *testing.T) {
	for in, want := range map[string]string{
		" {\"a\" : [ 1e400 , -0.10 , true,null,\"x\\u00e6\\ud83d\\ude00\\\\\" ] } \n": `{"a":[1e400,-0.10,true,null,"xæ😀\\"]}`,
		"\ufeff[]": `[]`,
		`{"": {}}`: `{"":{}}`,
	} {
		n, problem := schema.ParseJSON("s.json", []byte(in))
		if problem != nil {
			t.Errorf("%q: %v", in, problem)
			continue
		}
		if got, err := n.MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%q became %s, %v", in, got, err)
		}
	}
	// More members than are compared one by one.
	var many strings.Builder
	for i := range 40 {
		many.WriteString(`"` + strings.Repeat("x", i+1) + `": 1, `)
	}
	if _, problem := schema.ParseJSON("s.json", []byte("{"+many.String()+`"y": 1}`)); problem != nil {
		t.Error(problem)
	}
	if _, problem := schema.ParseJSON("s.json", []byte("{"+many.String()+`"xxx": 1}`)); problem == nil {
		t.Error("a member that stands twice among many is not found")
	}
}
