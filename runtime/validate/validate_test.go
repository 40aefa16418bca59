package validate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/restaq/restaq/runtime/validate"
)

// table has an order, a text of two kinds, and a list that holds itself.
const table = `{"events":{"acme.order":0,"acme.size":4,"acme.tree":5,"acme.odd":8},"nodes":[
{"t":"object","p":["id",-2,"amount",-3,"state",3,"note",9,"a/b~c",1],"r":["later"],"pp":["^x-",2],"a":10},
{"t":"string","len":[1,5],"re":"^[a-zé]+$"},
{"t":"integer","min":0,"xmax":1e3,"mul":0.5},
{"e":["open","closed",1,null]},
{"one":[1,2]},
{"t":"object","p":["kind",6,"next",7]},
{"c":"tree"},
{"any":[5,11],"null":true},
{"t":"array","x":[1],"i":2,"items":[1,3],"uniq":true,"contains":2,"found":[1,2]},
{"t":"string|null","not":3},
{"no":true},
{"t":"object","p":["kind",-13,"next",7]},
{"c":"bush"}
]}`

func TestDeviations(t *testing.T) {
	v := &validate.Table{Text: table}
	for _, c := range []struct{ event, in, want string }{
		{"order", `{"id":"é","amount":999.5e0,"later":1}`, "/amount type: found 999.5e0, want an integer\n/later false: found 1, want nothing here"},
		{"order", `{}`, "# required: found no member \"id\", want it to be there\n# required: found no member \"amount\", want it to be there\n# required: found no member \"later\", want it to be there"},
		{"order", `{"id":"","amount":1e3,"later":null,"x-a":-1,"x-b":2.0}`, "/id minLength: found 0 characters, want at least 1\n/id pattern: found \"\", want a match of ^[a-zé]+$\n/amount exclusiveMaximum: found 1e3, want less than 1e3\n/later false: found null, want nothing here\n/x-a minimum: found -1, want at least 0"},
		{"order", `{"id":"abcdef","amount":"12","state":"lost","note":null,"a/b~c":7,"later":0}`, "/id maxLength: found 6 characters, want at most 5\n/amount type: found \"12\", want an integer\n/state enum: found \"lost\", want one of \"open\", \"closed\", 1, null\n/note not: found null, want something else\n/a~1b~0c type: found 7, want a string\n/later false: found 0, want nothing here"},
		{"order", `[]`, "# type: found [], want an object"},
		{"size", `"abc"`, ""}, {"size", `12`, ""}, {"size", `12.0`, ""},
		{"size", `{}`, "# oneOf: found {}, want one of 2 alternatives"},
		{"size", `"ABC"`, "# pattern: found \"ABC\", want a match of ^[a-zé]+$"},
		{"tree", `{"kind":"tree","next":{"kind":"bush","next":null}}`, ""},
		{"tree", `{"kind":"tree","next":{"kind":"bush","next":{"kind":"weed"}}}`, "/next/next/kind const: found \"weed\", want \"tree\""},
		{"odd", `["a",1,1.0]`, "# uniqueItems: found 1.0 at 1 and 2, want each item once"},
		{"odd", `["a"]`, "# contains: found 0 items of the kind asked for, want at least 1"},
		{"odd", `["a",1,2,3]`, "# maxItems: found 4 items, want at most 3\n# maxContains: found 3 items of the kind asked for, want at most 2"},
		{"odd", `[]`, "# minItems: found 0 items, want at least 1\n# contains: found 0 items of the kind asked for, want at least 1"},
		{"odd", `["a",1,1e999999999]`, "/2 exclusiveMaximum: found 1e999999999, want less than 1e3\n/2 multipleOf: found 1e999999999, want a multiple of 0.5\n"},
		{"odd", `["a",1,-1e999999999999999999999]`, "/2 minimum: found -1e999999999999999999999, want at least 0\n/2 multipleOf"},
	} {
		err := v.Payload("acme."+c.event, []byte(c.in))
		var lines []string
		if deviates, ok := errors.AsType[*validate.Error](err); ok {
			for _, d := range deviates.Deviations {
				if d.Pointer == "" {
					d.Pointer = "#"
				}
				lines = append(lines, d.Pointer+" "+d.Keyword+": found "+d.Found+", want "+d.Want)
			}
			if deviates.EventType != "acme."+c.event || !strings.HasPrefix(err.Error(), "acme."+c.event+" deviates from its schema:\n\t/") {
				t.Errorf("%s: %v", c.in, err)
			}
		} else if err != nil {
			t.Errorf("%s: %v", c.in, err)
		}
		if got := strings.Join(lines, "\n"); got != c.want && !(strings.HasSuffix(c.want, "\n") && strings.HasPrefix(got+"\n", c.want)) && !(strings.HasSuffix(c.want, "multipleOf") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s %s\n got %s\nwant %s", c.event, c.in, got, c.want)
		}
	}
}

func TestEventChecksTheEncodedStruct(t *testing.T) {
	v := &validate.Table{Text: table}
	type tree struct {
		Kind string `json:"kind"`
		Next *tree  `json:"next,omitempty"`
	}
	if err := v.Event("acme.tree", tree{"tree", &tree{"bush", nil}}); err != nil {
		t.Error(err)
	}
	if err := v.Event("acme.tree", tree{"stone", nil}); err == nil {
		t.Error("a stone is a tree")
	}
	if err := v.Event("acme.tree", func() {}); err == nil {
		t.Error("a function is a tree")
	}
}

func TestWhatIsNotToBeChecked(t *testing.T) {
	v := &validate.Table{Text: table}
	for in, want := range map[string]string{`{`: "unexpected EOF", `{} {}`: "data after the JSON value", ``: "EOF"} {
		if err := v.Payload("acme.order", []byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
	if err := v.Payload("acme.unheard", []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "unknown event type") {
		t.Error(err)
	}
	for _, text := range []string{``, `[]`, `{"events":{"x":1},"nodes":[{}]}`, `{"events":{"x":0},"nodes":[{"p":["a",1]}]}`, `{"events":{"x":0},"nodes":[{"re":"("}]}`, `{"events":{"x":0},"nodes":[{"pp":["(",0]}]}`, `{"events":{"x":0},"nodes":[{"p":[1,1]}]}`, `{"events":{"x":0},"nodes":[{"p":["a","b"]}]}`, `{"events":{"x":0},"nodes":[{"all":[-1]}]}`} {
		broken := &validate.Table{Text: text}
		if err := broken.Payload("x", []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "read table") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Alternatives that hold themselves don't take a time that doubles with every
// level.
func TestAlternativesInsideAlternativesTakeLinearTime(t *testing.T) {
	v := &validate.Table{Text: `{"events":{"x":0},"nodes":[{"any":[1,2]},{"p":["a",0]},{"p":["a",0],"r":["b"]}]}`}
	deep := strings.Repeat(`{"b":1,"a":`, 300) + `{"a":{"a":{}}}` + strings.Repeat(`}`, 300)
	strict := &validate.Table{Text: `{"events":{"x":0},"nodes":[{"one":[1,2]},{"p":["a",0],"r":["c"]},{"p":["a",0],"r":["b"]}]}`}
	done := make(chan error, 2)
	go func() {
		done <- v.Payload("x", []byte(deep))
		done <- strict.Payload("x", []byte(deep))
	}()
	for _, fits := range []bool{true, false} {
		select {
		case err := <-done:
			if (err == nil) != fits {
				t.Errorf("%v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it does not end")
		}
	}
}

func FuzzPayload(f *testing.F) {
	for _, s := range []string{`{"id":"a","amount":1}`, `["a",1e400]`, `{"kind":"tree","next":{}}`, `1.50e-3`, `null`} {
		f.Add([]byte(s))
	}
	v := &validate.Table{Text: table}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, event := range []string{"acme.order", "acme.size", "acme.tree", "acme.odd"} {
			if err := v.Payload(event, data); err != nil && err.Error() == "" {
				t.Error("an error without words")
			}
		}
	})
}
