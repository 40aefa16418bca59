package schema

import (
	"fmt"
	"iter"
	"maps"
	"strings"
)

// Document is one schema file.
type Document struct {
	File     string
	Name     string // of the file, below the folder that is read
	Draft    Draft
	Root     *Schema   // of an OpenAPI file: a holder of components.schemas
	Webhooks []Webhook // of an OpenAPI file

	set       *Set
	node      *Node
	said      bool // the draft is the file's own word
	byPointer map[string]*Schema
}

// Schemas returns every schema of the document, in no order.
func (d *Document) Schemas() iter.Seq[*Schema] { return maps.Values(d.byPointer) }

// Len returns how many schemas the document holds.
func (d *Document) Len() int { return len(d.byPointer) }

// reader turns the nodes of one document into schemas.
type reader struct {
	set      *Set
	doc      *Document
	problems *Problems
	base     string  // URI that references are relative to
	resource *Schema // the schema that base names

	unknown map[string][]Position // keywords that no draft knows
}

// document reads a whole file.
func (r *reader) document(n *Node) *Document {
	r.doc = &Document{File: n.File, node: n, byPointer: map[string]*Schema{}}
	r.base = n.File
	if n.Kind == Object && n.Member("openapi") != nil {
		r.openAPI(n)
		return r.doc
	}
	for _, other := range []string{"swagger", "asyncapi"} {
		if v := n.Member(other); v != nil && n.Kind == Object && n.Member("$schema") == nil {
			r.problems.Errorf(v.Position, "%s %s is not read: JSON Schema and OpenAPI 3.0 and 3.1 are", other, v.Text)
		}
	}
	r.doc.Draft, r.doc.said = r.draft(n)
	r.doc.Root = r.schema(n)
	return r.doc
}

// reportUnknown warns of unknown keywords, of each once.
func (r *reader) reportUnknown() {
	for name, at := range r.unknown {
		times := ""
		if len(at) > 1 {
			times = fmt.Sprintf("; it stands at %d places", len(at))
		}
		r.problems.Warnf(at[0], "unknown keyword %q has no effect%s", name, times)
	}
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
	ref := n.Member("$ref")
	alone := ref != nil && ref.Kind == String && r.doc.said && r.doc.Draft.refAlone()
	if !alone {
		defer r.enter(n, s)()
	} else if r.resource == nil {
		r.resource = s
	}
	for _, m := range n.Members {
		if alone && !besideRef[m.Name] && !strings.HasPrefix(m.Name, "x-") {
			r.problems.Warnf(m.Value.Position, "%s has no effect beside $ref in %s", m.Name, r.doc.Draft)
			continue
		}
		r.keyword(s, m.Name, m.Value)
	}
	if !alone {
		r.markRequired(s, n.Member("required"))
		if extra := n.Member("additionalItems"); extra != nil {
			r.additionalItems(s, extra)
		}
	}
	return s
}

// enter makes s the base of the references below it, if it has an id, and
// returns what undoes that.
func (r *reader) enter(n *Node, s *Schema) func() {
	base, resource := r.base, r.resource
	id := n.Member(r.doc.Draft.id())
	named := isString(id) && !strings.HasPrefix(id.Text, "#")
	if r.resource == nil || named {
		r.resource = s
	}
	if named {
		r.base = resolveURI(r.base, id.Text)
		r.set.ids[strings.TrimSuffix(r.base, "#")] = resourceRef{r.doc, s}
	}
	return func() { r.base, r.resource = base, resource }
}

// keyword reads one keyword into s.
func (r *reader) keyword(s *Schema, name string, v *Node) {
	switch name {
	case "$schema", "required", "additionalItems":
	case r.doc.Draft.id():
		s.ID = r.text(name, v)
		if anchor, ok := strings.CutPrefix(s.ID, "#"); ok && anchor != "" {
			r.anchor(s, anchor)
		}
	case "$anchor", "$dynamicAnchor":
		r.anchor(s, r.text(name, v))
		if name == "$dynamicAnchor" {
			r.set.addDynamic(dynamicName(name, s.Anchor), s, r.resource)
		}
	case "$recursiveAnchor":
		s.Rest = append(s.Rest, Keyword{name, v})
		if r.truth(name, v) {
			r.set.addDynamic(dynamicName(name, ""), s, r.resource)
		}
	case "$ref", "$dynamicRef", "$recursiveRef":
		r.reference(s, name, v)
	case "type":
		r.types(s, v)
	case "nullable":
		s.Null = s.Null || r.truth(name, v)
	case "properties":
		for _, m := range r.members(name, v) {
			s.Properties = append(s.Properties, Property{Name: m.Name, Schema: r.schema(m.Value)})
		}
	case "patternProperties":
		for _, m := range r.members(name, v) {
			s.Patterns = append(s.Patterns, Property{Name: m.Name, Schema: r.schema(m.Value)})
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
	case "dependentSchemas":
		for _, m := range r.members(name, v) {
			s.Conditions = append(s.Conditions, Condition{name, m.Name, r.schema(m.Value)})
		}
	case "dependencies":
		r.dependencies(s, v)
	default:
		if conditions[name] {
			s.Conditions = append(s.Conditions, Condition{name, "", r.schema(v)})
			return
		}
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
	case name == "$id": // of draft-04, which knows id; kept, it would be one
		r.problems.Warnf(v.Position, "$id has no effect in %s: it is called id there", r.doc.Draft)
	case kept[name]:
		s.Rest = append(s.Rest, Keyword{name, v})
	default:
		s.Rest = append(s.Rest, Keyword{name, v})
		if r.unknown == nil {
			r.unknown = map[string][]Position{}
		}
		r.unknown[name] = append(r.unknown[name], v.Position)
	}
}

func (r *reader) anchor(s *Schema, name string) {
	s.Anchor = name
	r.set.ids[strings.TrimSuffix(r.base, "#")+"#"+name] = resourceRef{r.doc, s}
}

// reference reads $ref, and the references that depend on how a schema was come
// to: those lead to where they lead from here, see [Set.checkDynamic]. The second
// of two is a part of allOf.
func (r *reader) reference(s *Schema, name string, v *Node) {
	from := s
	if s.Ref != "" {
		from = &Schema{Position: v.Position}
		s.AllOf = append(s.AllOf, from)
	}
	if from.Ref = r.text(name, v); from.Ref != "" {
		r.set.refs = append(r.set.refs, pending{from, v.Position, r.doc, r.base, r.resource, name})
	}
}

// additionalItems reads what later drafts call items, beside prefixItems. It has
// no effect without items by position.
func (r *reader) additionalItems(s *Schema, v *Node) {
	if rest := r.schema(v); s.Items == nil && len(s.Prefix) > 0 {
		s.Items = rest
	}
}

// dependencies reads what later drafts split into dependentSchemas and
// dependentRequired.
func (r *reader) dependencies(s *Schema, v *Node) {
	required := &Node{Position: v.Position, Kind: Object}
	for _, m := range r.members("dependencies", v) {
		if m.Value.Kind == Array {
			required.Members = append(required.Members, m)
			continue
		}
		s.Conditions = append(s.Conditions, Condition{"dependentSchemas", m.Name, r.schema(m.Value)})
	}
	if len(required.Members) > 0 {
		s.Rest = append(s.Rest, Keyword{"dependentRequired", required})
	}
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
