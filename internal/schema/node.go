package schema

import (
	"bytes"
	"encoding/json"
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

func escapePointer(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// Unescape returns what a token of a JSON pointer stands for.
func Unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
