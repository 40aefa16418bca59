package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restaq/restaq/runtime/graph"
)

const pushed = `{"version":1,"events":["github.push"],"steps":{"deploy":{"func":"deploy","attempts":5}},"flow":[
	{"kind":"if","cases":[{"when":"push.Deleted","body":[{"kind":"return"}]},{}]},
	{"kind":"loop","text":"_, c := range push.Commits","body":[
		{"kind":"step","name":"link-issues","fails":true},
		{"kind":"if","cases":[{"when":"c.Last","body":[{"kind":"break"}]},{}]}]},
	{"kind":"call","name":"ship","fails":true,"body":[
		{"kind":"step","name":"build"},
		{"kind":"if","cases":[{"when":"err != nil","body":[{"kind":"step","name":"undo"},{"kind":"return","text":"err","fails":true}]},{}]},
		{"kind":"switch","text":"image.Kind","cases":[{"when":"a, b","falls":true},{"when":"c","body":[{"kind":"step","name":"deploy"}]},{"body":[{"kind":"panic","text":"panic(1)"}]}]}]},
	{"kind":"go","name":"g.Go","body":[{"kind":"step","text":"\"for-\" + id"}]},
	{"kind":"later","name":"kind"}]}`

func TestRows(t *testing.T) {
	h, err := graph.Parse([]byte(pushed))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range h.Rows() {
		fmt.Fprintf(&b, "%s%s", strings.Repeat("  ", r.Depth), r.Text)
		if r.Maybe {
			b.WriteString(" ?")
		}
		if r.Often {
			b.WriteString(" *")
		}
		b.WriteByte('\n')
	}
	want := `if push.Deleted ?
  return ?
for _, c := range push.Commits ?
  link-issues ? *
  if c.Last ? *
    break ? *
ship ?
  build ?
  if err != nil ?
    undo ?
    return err ?
  switch image.Kind ?
    case a, b ?
    case c ?
      deploy ?
    default ?
      panic(1) ?
concurrently by g.Go ?
  "for-" + id ?
later kind ?
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestAStepIsForCertainUnlessSomethingCanPassItBy(t *testing.T) {
	for flow, maybe := range map[string]bool{
		``: false,
		`{"kind":"if","cases":[{"when":"x","body":[{"kind":"return","text":"err","fails":true}]},{}]},`:                                      false,
		`{"kind":"if","cases":[{"when":"x","body":[{"kind":"return"}]},{}]},`:                                                                true,
		`{"kind":"if","cases":[{"when":"x","body":[{"kind":"goto","name":"end"}]},{}]},`:                                                     true,
		`{"kind":"call","name":"f","body":[{"kind":"if","cases":[{"when":"x","body":[{"kind":"return"}]},{}]}]},`:                            false,
		`{"kind":"loop","body":[{"kind":"if","cases":[{"when":"x","body":[{"kind":"return"}]},{}]}]},`:                                       true,
		`{"kind":"loop","body":[{"kind":"if","cases":[{"when":"x","body":[{"kind":"break"}]},{}]},{"kind":"step","name":"other"}]},`:         false,
		`{"kind":"loop","name":"l","body":[{"kind":"loop","body":[{"kind":"continue","name":"l"}]},{"kind":"step","name":"other"}]},`:        false,
		`{"kind":"switch","text":"x","cases":[{"when":"1","body":[{"kind":"break"}]},{"when":"2","body":[{"kind":"step","name":"o"}]},{}]},`: false,
	} {
		h, err := graph.Parse([]byte(`{"version":1,"events":["a.b"],"flow":[` + flow + `{"kind":"step","name":"last"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		rows := h.Rows()
		if last := rows[len(rows)-1]; last.Step != "last" || last.Maybe != maybe {
			t.Errorf("behind %s: %+v", flow, last)
		}
	}
}

func TestStepOf(t *testing.T) {
	h, err := graph.Parse([]byte(`{"version":1,"events":["a.b"],"flow":[{"kind":"step","name":"send"},{"kind":"step","name":"odd[name]"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for record, want := range map[string]string{"send": "send", "send[a]": "send", "send[a[b]]": "send", "odd[name]": "odd[name]", "sen": "", "odd[x]": "", "": "", "[": ""} {
		if got, ok := h.StepOf(record); ok != (want != "") || ok && got != want {
			t.Errorf("StepOf(%q) = %q, %v", record, got, ok)
		}
	}
}

func TestParseRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"version":2,"flow":[]}`, `{"version":1,"flow":7}`} {
		if h, err := graph.Parse([]byte(text)); err == nil {
			t.Errorf("Parse(%s) = %+v", text, h)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(pushed))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := graph.Parse(data)
		if err != nil {
			return
		}
		for _, r := range h.Rows() {
			if r.Depth < 0 {
				t.Fatal("a negative depth")
			}
		}
		h.StepOf("a[b]")
	})
}
