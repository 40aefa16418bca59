package dashboard

import (
	"bytes"
	"encoding/json"
	"html"
	"html/template"
	"strconv"
	"strings"
)

const (
	maxNodes  = 4000 // values that are shown of one JSON text
	maxDepth  = 48   // levels; browsers give up a few hundred further
	maxString = 2000 // characters of a string
)

// jsonView is JSON as a tree that can be folded without JavaScript.
type jsonView struct {
	html  template.HTML
	found int  // values and names that hold what is looked for
	cut   bool // not all is shown
}

// viewJSON makes a tree of valid JSON. Levels from open on are folded, unless
// what is looked for is in them.
func viewJSON(data []byte, open int, find string) jsonView {
	r := jsonReader{dec: json.NewDecoder(bytes.NewReader(data)), find: strings.ToLower(find)}
	r.dec.UseNumber()
	root := r.value("")
	var b strings.Builder
	root.write(&b, 0, open)
	return jsonView{template.HTML(b.String()), r.found, r.cut}
}

// jsonNode is a value, with its name in an object.
type jsonNode struct {
	name     string // as in JSON, with quotes; "" if it has none
	text     string // of a scalar
	class    string // of a scalar
	open     string // "{" or "["; "" for a scalar
	size     int    // members that it has, shown or not
	children []*jsonNode
	nameHit  bool
	textHit  bool
	within   bool // something below is looked for
}

// jsonReader reads nodes.
type jsonReader struct {
	dec   *json.Decoder
	find  string
	nodes int
	depth int
	found int
	cut   bool
}

func (r *jsonReader) hit(text string) bool {
	if r.find == "" || !strings.Contains(strings.ToLower(text), r.find) {
		return false
	}
	r.found++
	return true
}

// value reads a value. What is beyond the bounds is read all the same, for it
// may be what is looked for, and forgotten.
func (r *jsonReader) value(name string) *jsonNode {
	r.nodes++
	n := &jsonNode{name: name}
	token, err := r.dec.Token()
	if err != nil {
		r.cut = true // it was valid: cannot be
		n.text = "…"
		return n
	}
	switch t := token.(type) {
	case json.Delim:
		r.members(n, t)
	case string:
		n.class, n.text = "str", quote(t)
		n.textHit = r.hit(t)
	case json.Number:
		n.class, n.text = "num", t.String()
		n.textHit = r.hit(n.text)
	case bool:
		n.class, n.text = "lit", strconv.FormatBool(t)
		n.textHit = r.hit(n.text)
	case nil:
		n.class, n.text = "lit", "null"
		n.textHit = r.hit(n.text)
	}
	return n
}

func (r *jsonReader) members(n *jsonNode, open json.Delim) {
	n.open = open.String()
	r.depth++
	for r.dec.More() {
		name, nameHit := "", false
		if open == '{' {
			token, err := r.dec.Token()
			if err != nil {
				r.cut = true
				break
			}
			name = quote(token.(string))
			nameHit = r.hit(token.(string))
		}
		n.size++
		child := r.value(name)
		child.nameHit = nameHit
		n.within = n.within || nameHit || child.textHit || child.within
		if r.nodes > maxNodes || r.depth > maxDepth {
			r.cut = true
			continue
		}
		n.children = append(n.children, child)
	}
	r.depth--
	_, _ = r.dec.Token() // the closing one
}

// quote is a string as it stands in JSON, letter by letter.
func quote(s string) string {
	shortened := ""
	if len(s) > maxString {
		if runes := []rune(s); len(runes) > maxString {
			s, shortened = string(runes[:maxString]), "… ("+grouped(len(s))+" bytes)"
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return `"…"`
	}
	return plain(strings.TrimRight(b.String(), "\n")) + shortened
}

// write writes the node as HTML.
func (n *jsonNode) write(b *strings.Builder, depth, open int) {
	if n.open == "" {
		b.WriteString(`<div class="leaf">`)
		n.writeName(b)
		writeText(b, n.class, n.text, n.textHit)
		b.WriteString("</div>")
		return
	}
	closing := map[string]string{"{": "}", "[": "]"}[n.open]
	if n.size == 0 {
		b.WriteString(`<div class="leaf">`)
		n.writeName(b)
		b.WriteString(n.open + closing + "</div>")
		return
	}
	b.WriteString("<details")
	if depth < open && n.size <= 200 || n.within {
		b.WriteString(" open")
	}
	b.WriteString("><summary>")
	n.writeName(b)
	b.WriteString(n.open + ` <span class="size">` + grouped(n.size) + "</span></summary>")
	for _, child := range n.children {
		child.write(b, depth+1, open)
	}
	if hidden := n.size - len(n.children); hidden > 0 {
		b.WriteString(`<div class="leaf size">` + grouped(hidden) + " more are in the file</div>")
	}
	b.WriteString(`<div class="close">` + closing + "</div></details>")
}

func (n *jsonNode) writeName(b *strings.Builder) {
	if n.name != "" {
		writeText(b, "key", n.name, n.nameHit)
		b.WriteString(": ")
	}
}

// writeText writes text of a class, marked if it is looked for.
func writeText(b *strings.Builder, class, text string, hit bool) {
	element := "bdi"
	if hit {
		element = "mark"
	}
	b.WriteString("<" + element + ` class="` + class + `">` + html.EscapeString(text) + "</" + element + ">")
}
