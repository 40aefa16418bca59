package graph

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// frames are the beginning and end of a box's text in Mermaid, by shape.
var mermaidFrames = map[shape][2]string{
	startBox:    {`(["`, `"])`},
	stepBox:     {`["`, `"]`},
	goesOnBox:   {`["`, `"]`},
	decisionBox: {`{"`, `"}`},
	loopBox:     {`{{"`, `"}}`},
	markBox:     {`(("`, `"))`},
	endBox:      {`(["`, `"])`},
	failBox:     {`(["`, `"])`},
}

// Mermaid returns the graphs as a flowchart for Mermaid, in which each handler
// is a subgraph if there are several:
//
//	flowchart TD
//	  n0(["billing.charged<br/>stripe.charge.succeeded"])
//	  n1["record-payment"]
//	  n0 --> n1
//
// Steps whose failure the handler goes on from have the class goeson and a
// dashed border.
func Mermaid(graphs []*Graph) []byte {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	flows := flowsOf(graphs)
	classes := map[shape][]string{}
	first := 0
	for i, f := range flows {
		if len(flows) > 1 {
			fmt.Fprintf(&b, "  subgraph h%d[\" \"]\n", i)
		}
		for n, box := range f.boxes {
			id := fmt.Sprintf("n%d", first+n)
			frame := mermaidFrames[box.shape]
			fmt.Fprintf(&b, "  %s%s%s%s\n", id, frame[0], mermaidText(box.lines...), frame[1])
			classes[box.shape] = append(classes[box.shape], id)
		}
		for _, a := range f.arrows {
			line := "-->"
			if a.dashed {
				line = "-.->"
			}
			if a.text != "" {
				line += `|"` + mermaidText(a.text) + `"|`
			}
			fmt.Fprintf(&b, "  n%d %s n%d\n", first+a.from, line, first+a.to)
		}
		if len(flows) > 1 {
			b.WriteString("  end\n")
		}
		first += len(f.boxes)
	}
	for _, class := range []struct {
		shape shape
		style string
	}{{goesOnBox, "stroke-dasharray:4 3"}, {failBox, "stroke:#cf222e"}} {
		if ids := classes[class.shape]; len(ids) > 0 {
			fmt.Fprintf(&b, "  classDef %s %s\n", class.shape, class.style)
			for part := range slices.Chunk(ids, 50) {
				fmt.Fprintf(&b, "  class %s %s\n", strings.Join(part, ","), class.shape)
			}
		}
	}
	return []byte(b.String())
}

// flowsOf returns the flows of all handlers, by package and name.
func flowsOf(graphs []*Graph) []*flow {
	var flows []*flow
	for _, g := range graphs {
		for _, name := range g.Names() {
			flows = append(flows, flowOf(name, g.Handlers[name]))
		}
	}
	return flows
}

// mermaidText returns lines as the inside of a quoted text. Everything that may
// mean something to Mermaid, Markdown, HTML or KaTeX is written as its number.
func mermaidText(lines ...string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString("<br/>")
		}
		if line == "" {
			line = " " // an empty text is no text to Mermaid
		}
		for _, r := range line {
			switch {
			case r == ' ', r == '.', r == ',', r == '-', r == '=', r == '(', r == ')', r == '…', r == '·', unicode.IsLetter(r), unicode.IsDigit(r):
				b.WriteRune(r)
			case !unicode.IsPrint(r):
				b.WriteString("#65533;")
			default:
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
	}
	return b.String()
}
