package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// dotShapes are the attributes of boxes in DOT, by shape.
var dotShapes = map[shape]string{
	startBox:    `shape=box style="rounded,bold"`,
	stepBox:     `shape=box`,
	goesOnBox:   `shape=box style=dashed`,
	decisionBox: `shape=hexagon`,
	loopBox:     `shape=box style=rounded peripheries=2`,
	markBox:     `shape=oval`,
	endBox:      `shape=box style=rounded`,
	failBox:     `shape=box style=rounded color="#cf222e"`,
}

// DOT returns the graphs in the language of Graphviz, in which each handler is a
// cluster if there are several:
//
//	digraph restaq {
//		n0 [label="billing.charged\nstripe.charge.succeeded" class=start shape=box style="rounded,bold"]
//		n1 [label="record-payment" class=step shape=box]
//		n0 -> n1
//	}
func DOT(graphs []*Graph) []byte {
	var b strings.Builder
	b.WriteString("digraph restaq {\n\tgraph [rankdir=TB]\n\tnode [fontname=\"Helvetica\" fontsize=12]\n\tedge [fontname=\"Helvetica\" fontsize=10]\n")
	flows := flowsOf(graphs)
	first := 0
	for i, f := range flows {
		if len(flows) > 1 {
			fmt.Fprintf(&b, "\tsubgraph cluster_%d {\n\tstyle=invis\n", i)
		}
		for n, box := range f.boxes {
			fmt.Fprintf(&b, "\tn%d [label=\"%s\" class=%s %s]\n", first+n, dotText(box.lines...), box.shape, dotShapes[box.shape])
		}
		for _, a := range f.arrows {
			var attributes []string
			if a.text != "" {
				attributes = append(attributes, `label="`+dotText(a.text)+`"`)
			}
			if a.dashed {
				attributes = append(attributes, "style=dashed")
			}
			fmt.Fprintf(&b, "\tn%d -> n%d", first+a.from, first+a.to)
			if len(attributes) > 0 {
				fmt.Fprintf(&b, " [%s]", strings.Join(attributes, " "))
			}
			b.WriteByte('\n')
		}
		if len(flows) > 1 {
			b.WriteString("\t}\n")
		}
		first += len(f.boxes)
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// dotText returns lines as the inside of a quoted string, in which Graphviz
// knows escapes by backslash and HTML entities.
func dotText(lines ...string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString(`\n`)
		}
		for _, r := range line {
			switch {
			case r == '\\' || r == '"':
				b.WriteString(`\` + string(r))
			case r == '&':
				b.WriteString("&amp;")
			case !unicode.IsPrint(r):
				b.WriteRune('\uFFFD')
			default:
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
