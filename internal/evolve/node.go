package evolve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// kind is what a value looks like as JSON.
type kind int

const (
	unread   kind = iota // the zero value: nothing reads it
	anything             // any: decoded as whatever it is
	pointed              // a pointer, or null
	raw                  // json.RawMessage: kept as it is
	boolean
	text
	number // json.Number, or a float of the node's format
	integer
	moment // time.Time
	base64 // []byte
	list   // a slice, or with a length an array
	object // a struct
	mapping
	quoted // by the tag option string
	opaque // what a type's own methods make
)

// node is one place of a shape.
type node struct {
	kind kind

	format  string // of numbers: int8 … uint64, float, double; "" for json.Number
	length  int    // of an array; -1 for a slice
	elem    *node  // of pointed, list, mapping, quoted
	keys    *node  // of mapping; nil for plain strings
	members map[string]*member
	name    string   // of opaque: the type
	isText  bool     // of opaque: its methods write a string
	exact   string   // of opaque: all else that the lock file says of the type
	enum    []string // of text: its constants
}

// member is a member of an object.
type member struct {
	node     *node
	optional bool
}

// schema is what this package reads of a JSON Schema.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        string             `json:"type"`
	Format      string             `json:"format"`
	AnyOf       []*schema          `json:"anyOf"`
	Items       *schema            `json:"items"`
	MaxItems    *int               `json:"maxItems"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Additional  *schema            `json:"additionalProperties"`
	Names       *schema            `json:"propertyNames"`
	Encoding    string             `json:"contentEncoding"`
	Content     *schema            `json:"contentSchema"`
	Enum        []string           `json:"enum"`
	Arguments   json.RawMessage    `json:"arguments"`
	Fingerprint string             `json:"fingerprint"`
	Definitions map[string]*schema `json:"$defs"`
}

// UnmarshalJSON also takes true, the schema of anything.
func (s *schema) UnmarshalJSON(data []byte) error {
	if string(data) == "true" {
		*s = schema{}
		return nil
	}
	type plain schema
	return json.Unmarshal(data, (*plain)(s))
}

// A Shape is a shape that can be compared. It is not changed after it was read.
type Shape struct{ root *node }

// ParseShape reads the schema of a shape, as a lock file has it. An empty one is
// that of a step without output.
func ParseShape(data []byte) (Shape, error) {
	if len(data) == 0 {
		return Shape{}, nil
	}
	var s schema
	if err := json.Unmarshal(data, &s); err != nil {
		return Shape{}, fmt.Errorf("read schema: %w", err)
	}
	p := schemaReader{defs: s.Definitions, nodes: map[string]*node{}}
	root, err := p.node(&s)
	if err != nil {
		return Shape{}, fmt.Errorf("read schema: %w", err)
	}
	return Shape{root}, nil
}

// schemaReader turns schemas into nodes.
type schemaReader struct {
	defs  map[string]*schema
	nodes map[string]*node // those of defs
}

const (
	definitions = "#/$defs/"
	goType      = "go:"
	rawMessage  = goType + "encoding/json.RawMessage"
)

func (p *schemaReader) node(s *schema) (*node, error) {
	if name, ok := strings.CutPrefix(s.Ref, definitions); ok {
		return p.definition(name)
	}
	if len(s.AnyOf) > 0 {
		return p.pointer(s)
	}
	switch {
	case s.Ref == rawMessage:
		return &node{kind: raw}, nil
	case strings.HasPrefix(s.Ref, goType):
		return &node{kind: opaque, name: strings.TrimPrefix(s.Ref, goType), isText: s.Type == "string", exact: s.Fingerprint + compact(s.Arguments)}, nil
	case s.Ref != "":
		return nil, fmt.Errorf("$ref %q is neither a definition nor a Go type", s.Ref)
	}
	switch s.Type {
	case "":
		return &node{kind: anything}, nil
	case "boolean":
		return &node{kind: boolean}, nil
	case "string":
		return p.text(s)
	case "integer", "number":
		return numeric(s)
	case "array":
		return p.list(s)
	case "object":
		return p.object(s)
	}
	return nil, fmt.Errorf("type %q is none that is written here", s.Type)
}

// definition returns the node of a definition, which may stand within itself.
func (p *schemaReader) definition(name string) (*node, error) {
	if n := p.nodes[name]; n != nil {
		return n, nil
	}
	s := p.defs[name]
	if s == nil || strings.HasPrefix(s.Ref, definitions) {
		return nil, fmt.Errorf("$defs does not say what %q is", name)
	}
	n := &node{}
	p.nodes[name] = n
	made, err := p.node(s)
	if err != nil {
		return nil, err
	}
	*n = *made
	return n, nil
}

// pointer reads {"anyOf": [X, {"type": "null"}]}.
func (p *schemaReader) pointer(s *schema) (*node, error) {
	if len(s.AnyOf) != 2 || s.AnyOf[1] == nil || s.AnyOf[1].Type != "null" || s.AnyOf[0] == nil {
		return nil, fmt.Errorf("anyOf is not a value or null")
	}
	n, err := p.node(s.AnyOf[0])
	if err != nil {
		return nil, err
	}
	return &node{kind: pointed, elem: n}, nil
}

func (p *schemaReader) text(s *schema) (*node, error) {
	switch {
	case s.Content != nil:
		elem, err := p.node(s.Content)
		return &node{kind: quoted, elem: elem}, err
	case s.Encoding != "":
		return &node{kind: base64}, nil
	case s.Format == "date-time":
		return &node{kind: moment}, nil
	}
	return &node{kind: text, enum: s.Enum}, nil
}

// widths are the formats of integers, and how many bits their values need
// beside a sign.
var widths = map[string]struct {
	bits   int
	signed bool
}{
	"int8": {7, true}, "int16": {15, true}, "int32": {31, true}, "int64": {63, true},
	"uint8": {8, false}, "uint16": {16, false}, "uint32": {32, false}, "uint64": {64, false},
}

func numeric(s *schema) (*node, error) {
	if s.Type == "integer" {
		if _, known := widths[s.Format]; !known {
			return nil, fmt.Errorf("integer of format %q is none that is written here", s.Format)
		}
		return &node{kind: integer, format: s.Format}, nil
	}
	return &node{kind: number, format: s.Format}, nil
}

func (p *schemaReader) list(s *schema) (*node, error) {
	if s.Items == nil {
		return nil, fmt.Errorf("array without items")
	}
	elem, err := p.node(s.Items)
	n := &node{kind: list, elem: elem, length: -1}
	if s.MaxItems != nil {
		n.length = *s.MaxItems
	}
	return n, err
}

func (p *schemaReader) object(s *schema) (*node, error) {
	if s.Additional != nil {
		return p.mapping(s)
	}
	n := &node{kind: object, members: map[string]*member{}}
	for name, property := range s.Properties {
		if property == nil {
			return nil, fmt.Errorf("member %q has no schema", name)
		}
		of, err := p.node(property)
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", name, err)
		}
		n.members[name] = &member{of, !slices.Contains(s.Required, name)}
	}
	return n, nil
}

func (p *schemaReader) mapping(s *schema) (*node, error) {
	elem, err := p.node(s.Additional)
	if err != nil || s.Names == nil {
		return &node{kind: mapping, elem: elem}, err
	}
	keys := *s.Names
	if _, number := widths[keys.Format]; number {
		keys.Type = "integer"
	}
	n, err := p.node(&keys)
	return &node{kind: mapping, elem: elem, keys: n}, err
}

// compact returns JSON without space, as it is compared.
func compact(data []byte) string {
	var buf bytes.Buffer
	if err := json.Compact(&buf, data); err != nil {
		return string(data)
	}
	return buf.String()
}
