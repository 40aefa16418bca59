package validate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// written is a node as the table has it.
type written struct {
	No         bool                `json:"no"`
	Types      string              `json:"t"`
	Null       bool                `json:"null"`
	Fit        string              `json:"fit"`
	Enum       []json.RawMessage   `json:"e"`
	Const      json.RawMessage     `json:"c"`
	Props      []json.RawMessage   `json:"p"`
	Required   []string            `json:"r"`
	Patterns   []json.RawMessage   `json:"pp"`
	Additional *int                `json:"a"`
	Prefix     []int               `json:"x"`
	Items      *int                `json:"i"`
	All        []int               `json:"all"`
	Any        []int               `json:"any"`
	One        []int               `json:"one"`
	Not        *int                `json:"not"`
	If         *int                `json:"if"`
	Then       *int                `json:"then"`
	Else       *int                `json:"else"`
	Contains   *int                `json:"contains"`
	Names      *int                `json:"names"`
	OtherProps *int                `json:"up"`
	OtherItems *int                `json:"ui"`
	Min        json.Number         `json:"min"`
	Max        json.Number         `json:"max"`
	XMin       json.Number         `json:"xmin"`
	XMax       json.Number         `json:"xmax"`
	Multiple   json.Number         `json:"mul"`
	Length     *span               `json:"len"`
	ItemCount  *span               `json:"items"`
	Members    *span               `json:"members"`
	Found      *span               `json:"found"`
	Unique     bool                `json:"uniq"`
	Pattern    string              `json:"re"`
	DepNames   map[string][]string `json:"dr"`
	DepSchemas map[string]int      `json:"ds"`
}

// span is the least and the most of something, -1 for no limit.
type span [2]int

// node is a schema.
type node struct {
	written
	types    []string
	enum     []string // canonical texts
	constant string   // canonical text, "" for none
	props    []prop
	index    map[string]int // of props
	patterns []pattern
	bounds   []bound
	multiple *big.Rat
	pattern  *regexp.Regexp
}

type prop struct {
	name     string
	node     int
	required bool
}

type pattern struct {
	re   *regexp.Regexp
	node int
}

// bound is a limit of a number.
type bound struct {
	keyword string
	limit   *big.Rat
	text    string
	admits  func(compared int) bool // value compared to limit
}

// read reads the table's text.
func (t *Table) read() {
	var text struct {
		Events map[string]int `json:"events"`
		Nodes  []written      `json:"nodes"`
	}
	if t.err = json.Unmarshal([]byte(t.Text), &text); t.err != nil {
		t.err = fmt.Errorf("read table: %w", t.err)
		return
	}
	t.events = text.Events
	t.nodes = make([]node, len(text.Nodes))
	for i, w := range text.Nodes {
		n := &t.nodes[i]
		n.written = w
		if err := n.prepare(); err != nil {
			t.err = fmt.Errorf("read table: node %d: %w", i, err)
			return
		}
	}
	t.err = t.inside()
}

// inside reports a number beyond the nodes.
func (t *Table) inside() error {
	ok := func(i int) bool { return i >= 0 && i < len(t.nodes) }
	for _, root := range t.events {
		if !ok(root) {
			return fmt.Errorf("read table: there is no node %d", root)
		}
	}
	for at := range t.nodes {
		for _, i := range t.nodes[at].refs() {
			if !ok(i) {
				return fmt.Errorf("read table: node %d refers to node %d, which is none", at, i)
			}
		}
	}
	return nil
}

// refs returns the numbers that a node has of others.
func (n *node) refs() []int {
	var list []int
	for _, p := range []*int{n.Additional, n.Items, n.Not, n.If, n.Then, n.Else, n.Contains, n.Names, n.OtherProps, n.OtherItems} {
		if p != nil {
			list = append(list, *p)
		}
	}
	for _, more := range [][]int{n.Prefix, n.All, n.Any, n.One} {
		list = append(list, more...)
	}
	for _, p := range n.props {
		list = append(list, p.node)
	}
	for _, p := range n.patterns {
		list = append(list, p.node)
	}
	for _, i := range n.DepSchemas {
		list = append(list, i)
	}
	return list
}

// prepare makes what checking needs from what is written.
func (n *node) prepare() error {
	if n.Types != "" {
		n.types = strings.Split(n.Types, "|")
	}
	for _, v := range n.Enum {
		text, err := canonicalOf(v)
		if err != nil {
			return err
		}
		n.enum = append(n.enum, text)
	}
	if n.Const != nil {
		text, err := canonicalOf(n.Const)
		if err != nil {
			return err
		}
		n.constant = text
	}
	if err := n.members(); err != nil {
		return err
	}
	n.limit("minimum", n.Min, func(c int) bool { return c >= 0 })
	n.limit("maximum", n.Max, func(c int) bool { return c <= 0 })
	n.limit("exclusiveMinimum", n.XMin, func(c int) bool { return c > 0 })
	n.limit("exclusiveMaximum", n.XMax, func(c int) bool { return c < 0 })
	n.multiple = rational(n.Multiple.String())
	if n.Pattern != "" {
		re, err := regexp.Compile(n.Pattern)
		if err != nil {
			return err
		}
		n.pattern = re
	}
	return nil
}

// members reads the properties and patterns.
func (n *node) members() error {
	n.index = map[string]int{}
	err := pairs(n.Props, func(name string, at int) error {
		p := prop{name: name, node: at}
		if at < 0 {
			p.node, p.required = -1-at, true
		}
		n.index[name] = len(n.props)
		n.props = append(n.props, p)
		return nil
	})
	if err != nil {
		return err
	}
	return pairs(n.Patterns, func(expression string, at int) error {
		re, err := regexp.Compile(expression)
		n.patterns = append(n.patterns, pattern{re, at})
		return err
	})
}

// pairs reads a list of names and numbers.
func pairs(list []json.RawMessage, each func(name string, at int) error) error {
	for i := 0; i+1 < len(list); i += 2 {
		var name string
		var at int
		if err := json.Unmarshal(list[i], &name); err != nil {
			return err
		}
		if err := json.Unmarshal(list[i+1], &at); err != nil {
			return err
		}
		if err := each(name, at); err != nil {
			return err
		}
	}
	return nil
}

// limit adds a bound, if there is one.
func (n *node) limit(keyword string, at json.Number, admits func(int) bool) {
	if limit := rational(at.String()); limit != nil {
		n.bounds = append(n.bounds, bound{keyword, limit, at.String(), admits})
	}
}

// parse reads a JSON value, numbers as written.
func parse(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("data after the JSON value")
	}
	return v, nil
}
