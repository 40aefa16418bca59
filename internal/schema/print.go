package schema

import (
	"bytes"
	"encoding/json"
)

// width is how wide a line of a schema file may be.
const width = 120

// printer writes JSON for people and for diffs: a value that fits on a line
// stands on one, and each property and definition has a line of its own.
type printer struct {
	b bytes.Buffer
}

// value writes n, which is the member name of what holds it. Used counts the
// columns before it, and indent those of its line's beginning.
func (p *printer) value(n *Node, name string, indent, used int) {
	long := (name == "properties" || name == "$defs") && len(n.Members) > 1
	if len(n.Items)+len(n.Members) == 0 || !long && used+n.width() <= width {
		p.flat(n)
		return
	}
	open, end := byte('['), byte(']')
	if n.Kind == Object {
		open, end = '{', '}'
	}
	p.b.WriteByte(open)
	for i, v := range n.Items {
		p.line(i, indent+2)
		p.value(v, "", indent+2, indent+3)
	}
	for i, m := range n.Members {
		p.line(i, indent+2)
		key := quote(m.Name)
		p.b.WriteString(key + ": ")
		p.value(m.Value, m.Name, indent+2, indent+5+len(key))
	}
	p.line(0, indent)
	p.b.WriteByte(end)
}

// line begins a line. All but the first of a list follow a comma.
func (p *printer) line(i, indent int) {
	if i > 0 {
		p.b.WriteByte(',')
	}
	p.b.WriteByte('\n')
	for range indent {
		p.b.WriteByte(' ')
	}
}

// flat writes n on one line.
func (p *printer) flat(n *Node) {
	switch n.Kind {
	case Array:
		p.b.WriteByte('[')
		for i, v := range n.Items {
			if i > 0 {
				p.b.WriteString(", ")
			}
			p.flat(v)
		}
		p.b.WriteByte(']')
	case Object:
		p.b.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				p.b.WriteString(", ")
			}
			p.b.WriteString(quote(m.Name) + ": ")
			p.flat(m.Value)
		}
		p.b.WriteByte('}')
	case String:
		p.b.WriteString(quote(n.Text))
	default:
		p.b.WriteString(n.Text)
	}
}

// width returns about how many columns n takes on one line: more than there are
// if a member has to have a line of its own.
func (n *Node) width() int {
	w := len(n.Text) + 2
	for _, v := range n.Items {
		if w += v.width() + 2; w > width {
			return w
		}
	}
	for _, m := range n.Members {
		if (m.Name == "properties" || m.Name == "$defs") && len(m.Value.Members) > 1 {
			return width + 1
		}
		if w += len(m.Name) + 6 + m.Value.width(); w > width {
			return w
		}
	}
	return w
}

func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("encode a string: " + err.Error())
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
