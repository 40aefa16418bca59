package schema

import (
	"iter"
	"maps"
	"strings"
)

// Document is one schema file.
type Document struct {
	File  string
	Draft Draft // 2020-12 if the file does not say
	Root  *Schema

	node      *Node
	byPointer map[string]*Schema
}

// Schemas returns every schema of the document, in no order.
func (d *Document) Schemas() iter.Seq[*Schema] { return maps.Values(d.byPointer) }

// reader turns the nodes of one document into schemas.
type reader struct {
	set      *Set
	doc      *Document
	problems *Problems
	base     string  // URI that references are relative to
	resource *Schema // the schema that base names
}

// document reads a whole file.
func (r *reader) document(n *Node) *Document {
	r.doc = &Document{File: n.File, Draft: Draft2020, node: n, byPointer: map[string]*Schema{}}
	if uri := n.Member("$schema"); uri != nil && uri.Kind == String {
		if d, ok := draftOf(uri.Text); ok {
			r.doc.Draft = d
		} else {
			r.problems.Warnf(uri.Position, "unknown $schema %q: read as %s", uri.Text, Draft2020)
		}
	}
	r.base = n.File
	r.doc.Root = r.schema(n)
	return r.doc
}

// schema reads one schema.
func (r *reader) schema(n *Node) *Schema {
	s := &Schema{Position: n.Position}
	r.doc.byPointer[n.Pointer] = s
	switch n.Kind {
	case Bool:
		always := n.Text == "true"
		s.Always = &always
		return s
	case Object:
	default:
		r.problems.Errorf(n.Position, "a schema must be an object or a boolean, not %s", article(n.Kind))
		return s
	}
	defer r.enter(n, s)()
	for _, m := range n.Members {
		r.keyword(s, m.Name, m.Value)
	}
	r.markRequired(s, n.Member("required"))
	if s.Ref != "" {
		r.set.refs = append(r.set.refs, pending{s, n.Member("$ref").Position, r.doc, r.base, r.resource})
	}
	return s
}

// enter makes s the base of the references below it, if it has an id, and
// returns what undoes that.
func (r *reader) enter(n *Node, s *Schema) func() {
	base, resource := r.base, r.resource
	id := n.Member("$id")
	if id == nil {
		id = n.Member("id")
	}
	switch {
	case r.resource == nil:
		r.resource = s
	case id == nil || id.Kind != String || strings.HasPrefix(id.Text, "#"):
		return func() {}
	}
	if id != nil && id.Kind == String && !strings.HasPrefix(id.Text, "#") {
		r.base, r.resource = resolveURI(r.base, id.Text), s
		r.set.ids[strings.TrimSuffix(r.base, "#")] = resourceRef{r.doc, s}
	}
	return func() { r.base, r.resource = base, resource }
}

// keyword reads one keyword into s.
func (r *reader) keyword(s *Schema, name string, v *Node) {
	switch name {
	case "$schema", "required":
	case "$id", "id":
		s.ID = r.text(name, v)
		if anchor, ok := strings.CutPrefix(s.ID, "#"); ok && anchor != "" {
			r.anchor(s, anchor)
		}
	case "$anchor":
		r.anchor(s, r.text(name, v))
	case "$ref":
		s.Ref = r.text(name, v)
	case "type":
		r.types(s, v)
	case "nullable":
		s.Null = s.Null || r.truth(name, v)
	case "properties":
		for _, m := range r.members(name, v) {
			s.Properties = append(s.Properties, Property{Name: m.Name, Schema: r.schema(m.Value)})
		}
	case "additionalProperties":
		s.Additional = r.schema(v)
	case "items":
		if v.Kind == Array { // up to 2019-09: by position
			s.Prefix = r.list(name, v)
		} else {
			s.Items = r.schema(v)
		}
	case "prefixItems":
		s.Prefix = r.list(name, v)
	case "enum":
		if v.Kind != Array {
			r.mustBe(name, Array, v)
		}
		s.Enum = v.Items
	case "const":
		s.Const = v
	case "allOf":
		s.AllOf = r.list(name, v)
	case "anyOf":
		s.AnyOf = r.list(name, v)
	case "oneOf":
		s.OneOf = r.list(name, v)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		r.bound(s, name, v)
	case "$defs", "definitions":
		for _, m := range r.members(name, v) {
			s.Defs = append(s.Defs, Def{m.Name, r.schema(m.Value)})
		}
	default:
		r.annotation(s, name, v)
	}
}

// annotation reads a keyword that does not constrain, or is not known.
func (r *reader) annotation(s *Schema, name string, v *Node) {
	switch {
	case name == "format":
		s.Format = r.text(name, v)
	case name == "title":
		s.Title = r.text(name, v)
	case name == "description":
		s.Description = r.text(name, v)
	case name == "deprecated":
		s.Deprecated = r.truth(name, v)
	case name == "default":
		s.Default = v
	case name == "x-restaq-events":
		s.IsEvent = true
		s.Events = r.texts(name, v)
	case name == "x-go-name":
		s.GoName = r.text(name, v)
	case strings.HasPrefix(name, "x-restaq-"):
		s.Extensions = append(s.Extensions, Keyword{name, v})
		r.problems.Warnf(v.Position, "unknown keyword %q has no effect: there is x-restaq-events", name)
	case strings.HasPrefix(name, "x-"):
		s.Extensions = append(s.Extensions, Keyword{name, v})
	case kept[name]:
		s.Rest = append(s.Rest, Keyword{name, v})
	default:
		s.Rest = append(s.Rest, Keyword{name, v})
		r.problems.Warnf(v.Position, "unknown keyword %q has no effect", name)
	}
}

func (r *reader) anchor(s *Schema, name string) {
	s.Anchor = name
	r.set.ids[strings.TrimSuffix(r.base, "#")+"#"+name] = resourceRef{r.doc, s}
}

func (r *reader) types(s *Schema, v *Node) {
	words := []*Node{v}
	if v.Kind == Array {
		words = v.Items
	}
	for _, w := range words {
		kind, ok := kinds[w.Text]
		switch {
		case w.Kind == String && w.Text == "null":
			s.Null = true
			if len(words) == 1 {
				s.Types = append(s.Types, Null)
			}
		case w.Kind == String && ok:
			s.Types = append(s.Types, kind)
		default:
			r.problems.Errorf(w.Position, "unknown type %q", w.Text)
		}
	}
}

// bound reads a limit. Draft-04 writes exclusive as true beside the limit.
func (r *reader) bound(s *Schema, name string, v *Node) {
	exclusive := strings.HasPrefix(name, "exclusive")
	side := &s.Minimum
	if strings.HasSuffix(strings.ToLower(name), "maximum") {
		side = &s.Maximum
	}
	switch {
	case exclusive && v.Kind == Bool:
		if *side == nil {
			*side = &Bound{}
		}
		(*side).Exclusive = v.Text == "true"
	case v.Kind != Number:
		r.mustBe(name, Number, v)
	case *side == nil || (*side).Text == "":
		*side = &Bound{Text: v.Text, Exclusive: exclusive || *side != nil && (*side).Exclusive}
	default: // minimum and exclusiveMinimum: the first stands, the other is kept
		s.Rest = append(s.Rest, Keyword{name, v})
	}
}

// markRequired sets Required on the properties that a required list names. What
// it names besides is kept.
func (r *reader) markRequired(s *Schema, v *Node) {
	if v == nil {
		return
	}
	if v.Kind == Bool { // draft-03 and the odd OpenAPI file
		r.problems.Warnf(v.Position, "required as a boolean has no effect: it takes a list of names")
		return
	}
	for _, name := range r.texts("required", v) {
		if p := s.Property(name); p != nil {
			p.Required = true
		} else {
			s.Required = append(s.Required, name)
		}
	}
}

func (r *reader) list(name string, v *Node) []*Schema {
	if v.Kind != Array {
		r.mustBe(name, Array, v)
	}
	var list []*Schema
	for _, item := range v.Items {
		list = append(list, r.schema(item))
	}
	return list
}

func (r *reader) members(name string, v *Node) []Member {
	if v.Kind != Object {
		r.mustBe(name, Object, v)
	}
	return v.Members
}

func (r *reader) text(name string, v *Node) string {
	if v.Kind != String {
		r.mustBe(name, String, v)
		return ""
	}
	return v.Text
}

func (r *reader) texts(name string, v *Node) []string {
	if v.Kind != Array {
		r.mustBe(name, Array, v)
	}
	var texts []string
	for _, item := range v.Items {
		texts = append(texts, r.text(name, item))
	}
	return texts
}

func (r *reader) truth(name string, v *Node) bool {
	if v.Kind != Bool {
		r.mustBe(name, Bool, v)
	}
	return v.Text == "true"
}

func (r *reader) mustBe(name string, want Kind, v *Node) {
	r.problems.Errorf(v.Position, "%s must be %s, not %s", name, article(want), article(v.Kind))
}

func article(k Kind) string {
	switch k {
	case Null:
		return "null"
	case Array, Object:
		return "an " + string(k)
	}
	return "a " + string(k)
}
