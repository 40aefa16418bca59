package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/restaq/restaq/internal/schema"
	"github.com/restaq/restaq/templates"
)

// tabler writes the table that package runtime/validate reads: that package's
// comment has its form.
type tabler struct {
	problems *schema.Problems
	shapes   *shaper
	nodes    []string
	done     map[*schema.Schema]int
	open     map[*schema.Schema]int // being written: the number, -1 while nobody has asked for it
	byText   map[string]int
}

// table returns the table of a package's events.
func (b *builder) table() (string, error) {
	t := tabler{problems: b.problems, shapes: b.shapes, done: map[*schema.Schema]int{}, open: map[*schema.Schema]int{}, byText: map[string]int{}}
	roots := map[string]int{}
	for _, src := range b.sources {
		root, err := t.number(src.schema)
		if err != nil {
			return "", err
		}
		for _, eventType := range src.types {
			roots[b.provider+"."+eventType] = root
		}
	}
	var text strings.Builder
	text.WriteString(`{"events":{`)
	for i, eventType := range slices.Sorted(maps.Keys(roots)) {
		if i > 0 {
			text.WriteByte(',')
		}
		name, err := plainJSON(eventType)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "\n%s:%d", name, roots[eventType])
	}
	text.WriteString("},\n\"nodes\":[\n" + strings.Join(t.nodes, ",\n") + "\n]}")
	return text.String(), nil
}

// number returns the number of a schema's node, and writes the node first if
// there is none. Schemas that say the same are one node.
func (t *tabler) number(s *schema.Schema) (int, error) {
	if n, ok := t.done[s]; ok {
		return n, nil
	}
	if n, ok := t.open[s]; ok {
		if n < 0 { // it holds itself: others need its number before it is written
			n = len(t.nodes)
			t.nodes = append(t.nodes, "")
			t.open[s] = n
		}
		return n, nil
	}
	t.open[s] = -1
	node, err := t.node(s)
	if err != nil {
		return 0, err
	}
	n := t.open[s]
	delete(t.open, s)
	if only := node.onlyRef(); only >= 0 && n < 0 {
		t.done[s] = only
		return only, nil
	}
	if n < 0 {
		n, err = t.intern(node)
	} else {
		t.nodes[n], err = plainJSON(node)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.Position, err)
	}
	t.done[s] = n
	return n, nil
}

// member returns the number of the node of a member or element, which says of an
// integer what its Go type holds.
func (t *tabler) member(s *schema.Schema) (int, error) {
	n, err := t.number(s)
	if shape := t.shapes.shape(s); err == nil && (shape.form == integer || shape.form == unix) && shape.owner.Const == nil && shape.owner.Enum == nil {
		if fit := integerType(shape); fit.Kind == templates.Basic {
			return t.intern(&tableNode{Fit: fit.Name, All: []int{n}})
		}
	}
	return n, err
}

// intern returns the number of a node, which is written unless it stands there
// already.
func (t *tabler) intern(node *tableNode) (int, error) {
	text, err := plainJSON(node)
	if err != nil {
		return 0, err
	}
	n, ok := t.byText[text]
	if !ok {
		n = len(t.nodes)
		t.nodes = append(t.nodes, text)
		t.byText[text] = n
	}
	return n, nil
}

// plainJSON encodes a value without escapes for HTML.
func plainJSON(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// tableNode is a node as the table has it.
type tableNode struct {
	No         bool                `json:"no,omitempty"`
	Types      string              `json:"t,omitempty"`
	Null       bool                `json:"null,omitempty"`
	Fit        string              `json:"fit,omitempty"`
	Enum       []*schema.Node      `json:"e,omitempty"`
	Const      *schema.Node        `json:"c,omitempty"`
	Props      []any               `json:"p,omitempty"`
	Required   []string            `json:"r,omitempty"`
	Patterns   []any               `json:"pp,omitempty"`
	Additional *int                `json:"a,omitempty"`
	Prefix     []int               `json:"x,omitempty"`
	Items      *int                `json:"i,omitempty"`
	All        []int               `json:"all,omitempty"`
	Any        []int               `json:"any,omitempty"`
	One        []int               `json:"one,omitempty"`
	Not        *int                `json:"not,omitempty"`
	If         *int                `json:"if,omitempty"`
	Then       *int                `json:"then,omitempty"`
	Else       *int                `json:"else,omitempty"`
	Contains   *int                `json:"contains,omitempty"`
	Names      *int                `json:"names,omitempty"`
	OtherProps *int                `json:"up,omitempty"`
	OtherItems *int                `json:"ui,omitempty"`
	Min        json.Number         `json:"min,omitempty"`
	Max        json.Number         `json:"max,omitempty"`
	XMin       json.Number         `json:"xmin,omitempty"`
	XMax       json.Number         `json:"xmax,omitempty"`
	Multiple   json.Number         `json:"mul,omitempty"`
	Length     *[2]int             `json:"len,omitempty"`
	ItemCount  *[2]int             `json:"items,omitempty"`
	Members    *[2]int             `json:"members,omitempty"`
	Found      *[2]int             `json:"found,omitempty"`
	Unique     bool                `json:"uniq,omitempty"`
	Pattern    string              `json:"re,omitempty"`
	DepNames   map[string][]string `json:"dr,omitempty"`
	DepSchemas map[string]int      `json:"ds,omitempty"`
}

// onlyRef returns the node that n says nothing beside, -1 if there is none.
func (n *tableNode) onlyRef() int {
	if len(n.All) != 1 || n.Null {
		return -1
	}
	text, err := plainJSON(n)
	if err != nil || text != `{"all":[`+strconv.Itoa(n.All[0])+`]}` {
		return -1
	}
	return n.All[0]
}

// node returns the node of a schema.
func (t *tabler) node(s *schema.Schema) (*tableNode, error) {
	n := &tableNode{Null: s.Null && !slices.Equal(s.Types, []schema.Kind{schema.Null})}
	if s.Always != nil {
		n.No = !*s.Always
		return n, nil
	}
	types := make([]string, 0, len(s.Types))
	for _, kind := range s.Types {
		types = append(types, string(kind))
	}
	n.Types = strings.Join(types, "|")
	n.Enum, n.Const, n.Required = s.Enum, s.Const, s.Required
	w := nodeWriter{t, nil}
	if s.Target != nil {
		n.All = append(n.All, w.number(s.Target))
	}
	n.All = append(n.All, w.numbers(s.AllOf)...)
	n.Any, n.One, n.Prefix = w.numbers(s.AnyOf), w.numbers(s.OneOf), w.members(s.Prefix)
	n.Additional, n.Items = w.element(s.Additional), w.element(s.Items)
	for _, p := range s.Properties {
		at := w.member(p.Schema)
		if p.Required {
			at = -1 - at
		}
		n.Props = append(n.Props, p.Name, at)
	}
	for _, p := range s.Patterns {
		if t.expression(p.Schema.Position, p.Name) {
			n.Patterns = append(n.Patterns, p.Name, w.member(p.Schema))
		}
	}
	for _, c := range s.Conditions {
		w.condition(n, c)
	}
	n.bounds(s)
	for _, k := range s.Rest {
		t.keyword(n, k)
	}
	return n, w.err
}

// nodeWriter numbers the schemas inside a node. It keeps the first error.
type nodeWriter struct {
	t   *tabler
	err error
}

func (w *nodeWriter) number(s *schema.Schema) int { return w.keep(w.t.number(s)) }

func (w *nodeWriter) member(s *schema.Schema) int { return w.keep(w.t.member(s)) }

func (w *nodeWriter) keep(n int, err error) int {
	if w.err == nil {
		w.err = err
	}
	return n
}

func (w *nodeWriter) members(list []*schema.Schema) []int {
	var numbers []int
	for _, s := range list {
		numbers = append(numbers, w.member(s))
	}
	return numbers
}

// element returns the node of items or members that the schema has no name for.
func (w *nodeWriter) element(s *schema.Schema) *int {
	if s == nil {
		return nil
	}
	return new(w.member(s))
}

func (w *nodeWriter) numbers(list []*schema.Schema) []int {
	var numbers []int
	for _, s := range list {
		numbers = append(numbers, w.number(s))
	}
	return numbers
}

func (w *nodeWriter) optional(s *schema.Schema) *int {
	if s == nil {
		return nil
	}
	return new(w.number(s))
}

// condition adds a schema that only validates. That of contentSchema is about
// what a text holds, and annotates.
func (w *nodeWriter) condition(n *tableNode, c schema.Condition) {
	switch c.Keyword {
	case "not":
		n.Not = w.optional(c.Schema)
	case "if":
		n.If = w.optional(c.Schema)
	case "then":
		n.Then = w.optional(c.Schema)
	case "else":
		n.Else = w.optional(c.Schema)
	case "contains":
		n.Contains = w.optional(c.Schema)
	case "propertyNames":
		n.Names = w.optional(c.Schema)
	case "unevaluatedProperties":
		n.OtherProps = w.optional(c.Schema)
	case "unevaluatedItems":
		n.OtherItems = w.optional(c.Schema)
	case "dependentSchemas":
		if n.DepSchemas == nil {
			n.DepSchemas = map[string]int{}
		}
		n.DepSchemas[c.Name] = w.number(c.Schema)
	}
}

// bounds sets the limits of numbers.
func (n *tableNode) bounds(s *schema.Schema) {
	if b := s.Minimum; b != nil && b.Exclusive {
		n.XMin = json.Number(b.Text)
	} else if b != nil {
		n.Min = json.Number(b.Text)
	}
	if b := s.Maximum; b != nil && b.Exclusive {
		n.XMax = json.Number(b.Text)
	} else if b != nil {
		n.Max = json.Number(b.Text)
	}
}

// keyword adds what a keyword that has no part in a type says. A limit that is no
// number, or no integer, says nothing.
func (t *tabler) keyword(n *tableNode, k schema.Keyword) {
	numbers := map[string]*json.Number{
		"minimum": &n.Min, "maximum": &n.Max, "exclusiveMinimum": &n.XMin, "exclusiveMaximum": &n.XMax, "multipleOf": &n.Multiple,
	}
	spans := map[string]struct {
		span **[2]int
		side int
	}{
		"minLength": {&n.Length, 0}, "maxLength": {&n.Length, 1}, "minItems": {&n.ItemCount, 0}, "maxItems": {&n.ItemCount, 1},
		"minProperties": {&n.Members, 0}, "maxProperties": {&n.Members, 1}, "minContains": {&n.Found, 0}, "maxContains": {&n.Found, 1},
	}
	if number, ok := numbers[k.Name]; ok && k.Value.Kind == schema.Number {
		*number = json.Number(k.Value.Text)
		return
	}
	if limit, ok := spans[k.Name]; ok && k.Value.IsInteger() {
		i, _ := (&schema.Bound{Text: k.Value.Text}).Integer()
		if *limit.span == nil {
			*limit.span = &[2]int{-1, -1}
			if limit.span == &n.Found {
				n.Found[0] = 1
			}
		}
		if i.IsInt64() {
			(*limit.span)[limit.side] = int(i.Int64())
		}
		return
	}
	switch k.Name {
	case "uniqueItems":
		n.Unique = k.Value.Text == "true"
	case "pattern":
		if t.expression(k.Value.Position, k.Value.Text) {
			n.Pattern = k.Value.Text
		}
	case "dependentRequired":
		for _, m := range k.Value.Members {
			if n.DepNames == nil {
				n.DepNames = map[string][]string{}
			}
			for _, name := range m.Value.Items {
				n.DepNames[m.Name] = append(n.DepNames[m.Name], name.Text)
			}
		}
	}
}

// expression reports whether Go can match a regular expression, and warns if it
// can't.
func (t *tabler) expression(at schema.Position, text string) bool {
	if _, err := regexp.Compile(text); err != nil {
		t.problems.Warnf(at, "Validate passes over the pattern %q: %v", text, err)
		return false
	}
	return true
}
