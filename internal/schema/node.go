package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Kind is the kind of a JSON value.
type Kind string

// The kinds of JSON values, named as in "type" except that a number is not told
// from an integer.
const (
	Null   Kind = "null"
	Bool   Kind = "boolean"
	Number Kind = "number"
	String Kind = "string"
	Array  Kind = "array"
	Object Kind = "object"
)

// Node is a JSON value and where it stands.
type Node struct {
	Position
	Kind    Kind
	Text    string   // a string's value, a number as written, true or false
	Items   []*Node  // an array's
	Members []Member // an object's, in the order of the file
}

// Member is a name and its value.
type Member struct {
	Name  string
	Value *Node
}

// Member returns the value of the member with that name, or nil.
func (n *Node) Member(name string) *Node {
	for _, m := range n.Members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// IsInteger reports whether the node is a number without a fraction, in any
// notation: 1, 1.0 and 1e3.
func (n *Node) IsInteger() bool {
	if n.Kind != Number {
		return false
	}
	_, ok := integer(n.Text)
	return ok
}

// Equal reports whether two nodes are the same JSON text, spaces aside.
func (n *Node) Equal(o *Node) bool {
	if n.Kind != o.Kind || n.Text != o.Text || len(n.Items) != len(o.Items) || len(n.Members) != len(o.Members) {
		return false
	}
	for i := range n.Items {
		if !n.Items[i].Equal(o.Items[i]) {
			return false
		}
	}
	for i, m := range n.Members {
		if m.Name != o.Members[i].Name || !m.Value.Equal(o.Members[i].Value) {
			return false
		}
	}
	return true
}

// MarshalJSON writes the node, its members in their order and its numbers as
// they were written.
func (n *Node) MarshalJSON() ([]byte, error) {
	switch n.Kind {
	case Null, Bool, Number:
		return []byte(n.Text), nil
	case String:
		return json.Marshal(n.Text)
	}
	var b bytes.Buffer
	open, end := byte('['), byte(']')
	if n.Kind == Object {
		open, end = '{', '}'
	}
	b.WriteByte(open)
	write := func(i int, name string, v *Node) error {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.Kind == Object {
			key, err := json.Marshal(name)
			if err != nil {
				return err
			}
			b.Write(append(key, ':'))
		}
		data, err := v.MarshalJSON()
		b.Write(data)
		return err
	}
	for i, v := range n.Items {
		if err := write(i, "", v); err != nil {
			return nil, err
		}
	}
	for i, m := range n.Members {
		if err := write(i, m.Name, m.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte(end)
	return b.Bytes(), nil
}

// maxDepth bounds the nesting of a schema file.
const maxDepth = 1000

// ParseJSON reads one JSON value. The error, if any, is a [Problem]'s content
// with the position of the fault.
func ParseJSON(file string, data []byte) (*Node, *Problem) {
	p := &parser{file: file, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	n, err := p.value("", 0)
	if err == nil {
		if _, err = p.dec.Token(); errors.Is(err, io.EOF) {
			return n, nil
		}
		if err == nil {
			err = errors.New("more than one JSON value")
		}
	}
	offset := int(p.dec.InputOffset())
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = int(syntax.Offset) - 1
	}
	return nil, &Problem{Position: p.at("", min(max(offset, 0), len(data))), Message: "not JSON: " + err.Error()}
}

type parser struct {
	file      string
	data      []byte
	dec       *json.Decoder
	lineStart int // offset of the line last asked for
	line      int // its number, from 0
}

// value reads the next value, which stands at pointer.
func (p *parser) value(pointer string, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	start := int(p.dec.InputOffset())
	for start < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[start]) >= 0 {
		start++
	}
	tok, err := p.dec.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	n := &Node{Position: p.at(pointer, start)}
	switch t := tok.(type) {
	case nil:
		n.Kind, n.Text = Null, "null"
	case bool:
		n.Kind, n.Text = Bool, strconv.FormatBool(t)
	case json.Number:
		n.Kind, n.Text = Number, t.String()
	case string:
		n.Kind, n.Text = String, t
	case json.Delim:
		if t == '[' {
			n.Kind = Array
			return n, p.items(n, depth)
		}
		n.Kind = Object
		return n, p.members(n, depth)
	}
	return n, nil
}

func (p *parser) items(n *Node, depth int) error {
	for p.dec.More() {
		v, err := p.value(n.Pointer+"/"+strconv.Itoa(len(n.Items)), depth+1)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, v)
	}
	_, err := p.dec.Token()
	return err
}

func (p *parser) members(n *Node, depth int) error {
	seen := map[string]bool{}
	for p.dec.More() {
		tok, err := p.dec.Token()
		if err != nil {
			return err
		}
		name, _ := tok.(string)
		if seen[name] {
			return fmt.Errorf("member %q stands twice in one object", name)
		}
		seen[name] = true
		v, err := p.value(n.Pointer+"/"+escapePointer(name), depth+1)
		if err != nil {
			return err
		}
		n.Members = append(n.Members, Member{name, v})
	}
	_, err := p.dec.Token()
	return err
}

// at returns the position of a byte. Offsets come in rising order, the error's
// aside.
func (p *parser) at(pointer string, offset int) Position {
	if offset < p.lineStart {
		p.line, p.lineStart = 0, 0
	}
	for {
		n := bytes.IndexByte(p.data[p.lineStart:offset], '\n')
		if n < 0 {
			return Position{File: p.file, Pointer: pointer, Line: p.line + 1, Col: offset - p.lineStart + 1}
		}
		p.line++
		p.lineStart += n + 1
	}
}

func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
