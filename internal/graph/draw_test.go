package graph_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/restaq/restaq/internal/graph"
)

// every returns a graph with a node of every kind, in which every text is s.
func every(s string) []*graph.Graph {
	step := func() *graph.Node { return &graph.Node{Kind: graph.StepKind, Name: s, Fails: true} }
	list := func(nodes ...*graph.Node) []*graph.Node { return nodes }
	h := &graph.Handler{
		Events: []string{s, s}, Order: s, Backoff: s, Timeout: s,
		Steps: map[string]graph.Step{s: {Func: s, Key: s, Backoff: s, Timeout: s, Tx: s, Pure: true}},
		Flow: list(
			&graph.Node{Kind: graph.LabelKind, Name: s},
			&graph.Node{Kind: graph.StepKind, Text: s},
			&graph.Node{Kind: graph.IfKind, Cases: []*graph.Case{{When: s, Body: list(step())}, {}}},
			&graph.Node{Kind: graph.IfKind, Cases: []*graph.Case{{When: s, Body: list(&graph.Node{Kind: graph.ReturnKind, Text: s, Fails: true})}, {}}},
			&graph.Node{Kind: graph.IfKind, Cases: []*graph.Case{{When: s}, {When: s, Body: list(&graph.Node{Kind: graph.PanicKind, Text: s})}, {}}},
			&graph.Node{Kind: graph.SwitchKind, Name: s, Text: s, Cases: []*graph.Case{
				{When: s, Falls: true, Body: list(step())}, {When: s, Body: list(step())}, {Body: list(&graph.Node{Kind: graph.ReturnKind, Text: s})},
			}},
			&graph.Node{Kind: graph.SelectKind, Cases: []*graph.Case{{When: s, Body: list(step())}, {When: s, Body: list(&graph.Node{Kind: graph.GotoKind, Name: s})}}},
			&graph.Node{Kind: graph.LoopKind, Name: s, Text: s, Body: list(step(),
				&graph.Node{Kind: graph.IfKind, Cases: []*graph.Case{{When: s, Body: list(&graph.Node{Kind: graph.BreakKind, Name: s})}, {}}})},
			&graph.Node{Kind: graph.CallKind, Name: s, Body: list(step(), &graph.Node{Kind: graph.AgainKind, Name: s})},
			&graph.Node{Kind: graph.CallKind, Name: s, Many: true, Body: list(step())},
			&graph.Node{Kind: graph.GoKind, Name: s, Body: list(step())},
			&graph.Node{Kind: graph.DeferKind, Body: list(step())},
		),
	}
	return []*graph.Graph{
		{Package: "a", Handlers: map[string]*graph.Handler{s: h}},
		{Package: "b", Handlers: map[string]*graph.Handler{s: h}},
	}
}

var hostile = []string{
	"", " ", "a", `"`, `\`, `\"`, `\N\G\l`, "]", `"]`, "}}", "|", "end", "subgraph", "%% comment", "%%{init: {}}%%", "<b>", "</text></svg><script>alert(1)</script>",
	"&amp;", "&#34;", "#quot;", "#35;", "]]>", "-->", "<!--", "a\nb", "a\r\nb", "a\x00b", "\xff\xfe", "\u202e", "漢字 🚀 ünï", "$$x$$", "`md`", "**bold**", "style a fill:#fff;", "click a href", ";", "{{}}", "class x y", "\t", "'", "://example.org",
	strings.Repeat("long ", 100), strings.Repeat("x", 500),
}

func TestDrawingsHoldTexts(t *testing.T) {
	for _, s := range hostile {
		checkDrawings(t, every(s))
	}
}

func FuzzDrawings(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkDrawings(t, every(s)) })
}

// checkDrawings checks that drawings are well-formed whatever the texts are.
func checkDrawings(t *testing.T, graphs []*graph.Graph) {
	t.Helper()
	checkSVG(t, graph.SVG(graphs))
	checkMermaid(t, graph.Mermaid(graphs))
	checkDOT(t, graph.DOT(graphs))
	text, err := graph.JSON(graphs)
	if err != nil || !json.Valid(text) {
		t.Errorf("JSON: %v\n%s", err, text)
	}
}

func checkSVG(t *testing.T, svg []byte) {
	t.Helper()
	known := []string{"svg", "title", "style", "rect", "polygon", "path", "text"}
	attributes := []string{"xmlns", "width", "height", "viewBox", "role", "class", "x", "y", "rx", "points", "d", "text-anchor"}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("SVG: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains(known, token.Name.Local) {
				t.Fatalf("SVG: an element %s\n%s", token.Name.Local, svg)
			}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Name.Local) {
					t.Fatalf("SVG: an attribute %s\n%s", a.Name.Local, svg)
				}
			}
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Fatalf("SVG: a %T\n%s", token, svg)
		}
	}
}

// What Mermaid's grammar has no other reading of, inside quotes.
const mermaidLabel = `(?:[\pL\p{Nd}\p{Nl}\p{No} .,=()…·-]|#\d+;|<br/>)+`

var mermaidLine = regexp.MustCompile(`^(?:flowchart TD` +
	`|  subgraph h\d+\[" "\]|  end` +
	`|  n\d+(?:\(\["` + mermaidLabel + `"\]\)|\["` + mermaidLabel + `"\]|\{"` + mermaidLabel + `"\}|\{\{"` + mermaidLabel + `"\}\}|\(\("` + mermaidLabel + `"\)\))` +
	`|  n\d+ (?:-->|-\.->)(?:\|"` + mermaidLabel + `"\|)? n\d+` +
	`|  classDef \w+ [\w:#-]+(?: \d+)?|  class n\d+(?:,n\d+)* \w+)$`)

func checkMermaid(t *testing.T, text []byte) {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		if !mermaidLine.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Fatalf("Mermaid: %q\n%s", line, text)
		}
	}
}

var dotLine = regexp.MustCompile(`^(?:digraph restaq \{|\tgraph \[rankdir=TB\]|\t(?:node|edge) \[fontname="Helvetica" fontsize=\d+\]` +
	`|\tsubgraph cluster_\d+ \{|\tstyle=invis|\t?\}` +
	`|\tn\d+ \[label="(?:[^"\\]|\\[n"\\])*" class=\w+ shape=\w+(?: \w+=(?:\w+|"[\w,#]+"))*\]` +
	`|\tn\d+ -> n\d+(?: \[(?:label="(?:[^"\\]|\\[n"\\])*")?(?: ?style=dashed)?\])?)$`)

func checkDOT(t *testing.T, text []byte) {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); !dotLine.MatchString(line) || !utf8.ValidString(line) {
			t.Fatalf("DOT: %q\n%s", line, text)
		}
	}
}

// What is escaped in Mermaid and SVG reads as it was.
func TestDrawingsSayWhatTheySaid(t *testing.T) {
	const s = `a "b" <c> & d#35; \n [e] {f} |g| %%h`
	svg, mermaid := string(graph.SVG(every(s))), string(graph.Mermaid(every(s)))
	unescaped := regexp.MustCompile(`#(\d+);`).ReplaceAllStringFunc(mermaid, func(m string) string {
		n, err := strconv.Atoi(m[1 : len(m)-1])
		if err != nil {
			t.Fatal(err)
		}
		return string(rune(n))
	})
	if !strings.Contains(unescaped, `["`+s+`<br/>`) {
		t.Errorf("Mermaid does not have %s:\n%s", s, unescaped)
	}
	var texts []string
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err != nil {
			break
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
	}
	if !slices.Contains(texts, s) {
		t.Errorf("SVG does not have %s: %q", s, texts)
	}
}

func TestDrawingsAreTheSameEachTime(t *testing.T) {
	all, _ := graphs(t, "testdata", "./...")
	for i := range 2 {
		again, _ := graphs(t, "testdata", "./...")
		for n, draw := range []func([]*graph.Graph) []byte{graph.SVG, graph.DOT, graph.Mermaid, func(g []*graph.Graph) []byte {
			text, err := graph.JSON(g)
			if err != nil {
				t.Error(err)
			}
			return text
		}} {
			if !bytes.Equal(draw(all), draw(again)) {
				t.Errorf("round %d: format %d differs", i, n)
			}
		}
	}
}

// large returns a handler of n steps, in branches and loops.
func large(n int) []*graph.Graph {
	h := &graph.Handler{Events: []string{"a.b"}}
	for i := range n / 4 {
		step := func() []*graph.Node {
			return []*graph.Node{{Kind: graph.StepKind, Name: fmt.Sprintf("step-%d", i), Fails: true}}
		}
		h.Flow = append(h.Flow, step()[0],
			&graph.Node{Kind: graph.IfKind, Cases: []*graph.Case{{When: "x > 0", Body: step()}, {Body: step()}}},
			&graph.Node{Kind: graph.LoopKind, Text: "i := range 3", Body: step()})
	}
	return []*graph.Graph{{Package: "a", Handlers: map[string]*graph.Handler{"a.b": h}}}
}

func BenchmarkDrawings(b *testing.B) {
	for name, draw := range map[string]func([]*graph.Graph) []byte{"svg": graph.SVG, "dot": graph.DOT, "mermaid": graph.Mermaid} {
		b.Run(name, func(b *testing.B) {
			graphs := large(1000)
			b.ReportAllocs()
			for b.Loop() {
				draw(graphs)
			}
		})
	}
}
