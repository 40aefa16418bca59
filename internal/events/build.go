package events

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/naming"
	"github.com/restaq/restaq/internal/schema"
	"github.com/restaq/restaq/templates"
)

// builder turns the shapes of a set into the declarations of a package.
//
// Names that the package had before are kept (see earlier). New ones are given in
// this order: types of $defs, events, families, types named after their place,
// outer ones first, constants.
type builder struct {
	provider, pkg string
	set           *schema.Set
	problems      *schema.Problems
	shapes        *shaper
	only          filter
	scope         naming.Scope
	earlier       *earlier

	sources  []source
	names    map[*schema.Schema]string    // of the types that owners name
	places   map[spot]string              // those names, and the names that events' schemas give to what is in them, by place
	goNames  map[spot]string              // of properties: x-go-name, and the names of fields once they have some
	read     map[*schema.Schema]bool      // the schemas of the files; all others are of our own making
	titles   map[*schema.Schema]string    // the names of $defs in the schema
	queue    []*declared                  // types, in the order of discovery
	declared map[*schema.Schema]*declared // what stands in the queue for an owner
	inside   map[*shape]bool              // arrays and maps that are being written, against recursion
	events   []*declared
}

// declared is a struct, an enum or a union, and where it comes from.
type declared struct {
	shape  *shape
	at     schema.Position // decides on the file and the place in it
	strct  *templates.EventStruct
	enum   *templates.EventEnum
	union  *templates.EventUnion
	parent string // what types inside are named after
	event  string // the event type, of a whole payload
}

func newBuilder(provider, pkg string, set *schema.Set, problems *schema.Problems) *builder {
	return &builder{
		provider: provider, pkg: pkg, set: set, problems: problems, shapes: newShaper(problems),
		names: map[*schema.Schema]string{}, titles: map[*schema.Schema]string{},
		places: map[spot]string{}, goNames: map[spot]string{}, read: map[*schema.Schema]bool{},
		declared: map[*schema.Schema]*declared{}, inside: map[*shape]bool{},
	}
}

func (b *builder) build() templates.EventPackage {
	b.reserve()
	b.scope.Take("Decode")
	b.scope.Take("Validate")
	var defs []definition
	b.sources, defs = survey(b.set, b.only, b.problems)
	kept := slices.DeleteFunc(slices.Clone(defs), func(d definition) bool { return !d.keep })
	if len(b.sources)+len(kept) == 0 {
		b.problems.Errorf(schema.Position{File: b.provider}, "no event types: name them by x-restaq-events, or a file for its event type")
		return templates.EventPackage{}
	}
	for _, doc := range b.set.Documents {
		for s := range doc.Schemas() {
			b.read[s] = true
			if s.GoName != "" && token.IsIdentifier(s.GoName) && token.IsExported(s.GoName) {
				b.goNames[spotOf(s)] = s.GoName
			}
		}
	}
	b.nameDefinitions(defs)
	for _, src := range b.sources {
		b.addEvents(src)
	}
	for _, d := range kept {
		b.nameOf(b.shapes.shape(d.schema), "", "")
	}
	families := b.families()
	for i := 0; i < len(b.queue); i++ { // grows while it is worked off
		switch d := b.queue[i]; {
		case d.strct != nil && d.strct.Tuple:
			b.items(d)
		case d.strct != nil:
			d.strct.Fields = b.fields(d)
		case d.union != nil:
			b.variants(d)
		}
	}
	b.breakCycles()
	for _, d := range b.queue {
		if d.enum != nil {
			b.values(d)
		}
	}
	pkg := b.arrange(families)
	var err error
	if pkg.Table, err = b.table(); err != nil {
		b.problems.Errorf(schema.Position{File: b.provider}, "write the table for Validate: %v", err)
	}
	return pkg
}

// nameDefinitions names the types of $defs, whether an event reaches them or
// not. A schema that has the name of an event type which it is the payload of is
// that event's struct.
func (b *builder) nameDefinitions(defs []definition) {
	for _, d := range defs {
		s := b.shapes.shape(d.schema)
		if s.owner != d.schema || s.form != object && s.form != union && s.form != tuple && s.enum == nil {
			continue
		}
		if b.namesake(d.name) != "" {
			continue
		}
		b.titles[d.schema] = d.name
		name, other := b.chosen(d.schema, naming.Exported(d.name)), naming.Exported(d.file)+naming.Part(d.name)
		if d.schema.GoName != "" {
			name = b.scope.Take(name, other)
		} else {
			name = b.take(thing{definitionThing, b.fileName(d.schema.File, ""), d.name}, name, other)
		}
		b.setName(d.schema, name)
	}
}

// setName gives a type its name.
func (b *builder) setName(s *schema.Schema, name string) {
	b.names[s] = name
	if b.stands(s) {
		b.places[spotOf(s)] = name
	}
}

// chosen returns the x-go-name of s, or else.
func (b *builder) chosen(s *schema.Schema, otherwise string) string {
	switch {
	case s.GoName == "":
		return otherwise
	case !token.IsIdentifier(s.GoName) || !token.IsExported(s.GoName):
		b.problems.Errorf(s.Position, "x-go-name %q is not an exported Go identifier", s.GoName)
		return otherwise
	}
	return s.GoName
}

// namesake returns the event type of the source with that name which has the
// same name in Go, "" if there is none.
func (b *builder) namesake(source string) string {
	for _, src := range b.sources {
		if src.name != source {
			continue
		}
		for _, t := range src.types {
			if naming.Exported(t) == naming.Exported(source) {
				return t
			}
		}
	}
	return ""
}

// addEvents declares the struct of each event type of a source.
func (b *builder) addEvents(src source) {
	s := b.shapes.shape(src.schema)
	if s.form != object {
		if merged := b.shapes.oneOfObjects(src.schema); merged != nil && len(merged.props) > 0 {
			s = merged
		}
	}
	if s.form == bare { // a payload of which the provider tells nothing
		s = &shape{form: object, owner: src.schema}
	}
	if s.form != object {
		b.problems.Errorf(src.schema.Position, "the payload of an event must be an object with properties, not %s", formNames[s.form])
		return
	}
	parent := naming.Exported(src.name)
	if name, ok := b.names[s.owner]; ok {
		parent = name
	}
	if b.stands(src.schema) {
		b.places[spotOf(src.schema)] = parent
	}
	namesake := b.namesake(src.name)
	for _, t := range src.types {
		name := b.eventName(t)
		d := &declared{shape: s, at: src.schema.Position, parent: parent, event: t}
		d.strct = &templates.EventStruct{
			Name: name, Doc: []string{name + " is the payload of " + t + "."}, Text: src.schema.Description,
			Const: name + "Type", EventType: b.provider + "." + t, Deprecated: src.schema.Deprecated,
		}
		b.queue = append(b.queue, d)
		b.events = append(b.events, d)
		if t == namesake && b.declared[s.owner] == nil {
			b.names[s.owner], b.declared[s.owner] = name, d
		}
	}
}

// eventName reserves the names of an event's struct and constant. A one-word
// event type ends in Event, and so does one whose name a type has taken.
func (b *builder) eventName(eventType string) string {
	if had := b.earlier.name(thing{eventThing, "", eventType}); had != "" {
		return had
	}
	base := naming.Exported(eventType)
	if !strings.Contains(eventType, ".") {
		base += "Event"
	}
	name := base
	for n := 1; b.scope.Has(name) || b.scope.Has(name+"Type"); n++ {
		switch {
		case n > 1:
			name = fmt.Sprintf("%sEvent%d", base, n)
		case !strings.HasSuffix(base, "Event"):
			name = base + "Event"
		}
	}
	b.scope.Take(name)
	b.scope.Take(name + "Type")
	return name
}

// families declares an interface for every prefix of event types, and puts the
// events into theirs.
func (b *builder) families() []family {
	var list []family
	byPrefix := map[string]string{}
	for _, d := range b.events {
		words := segments(d.event)
		for n := 1; n < len(words); n++ {
			prefix := strings.Join(words[:n], ".")
			name, ok := byPrefix[prefix]
			if !ok {
				base := naming.Exported(prefix)
				name = b.take(thing{familyThing, "", prefix}, base+"Event", base+"Family")
				byPrefix[prefix] = name
				list = append(list, family{templates.EventFamily{Name: name, Marker: "is" + name, Prefix: prefix}, d.at})
			}
			d.strct.Markers = append(d.strct.Markers, "is"+name)
		}
	}
	return list
}

// segments splits an event type at its dots, those inside brackets aside:
// v2.core.account[configuration.customer].updated has four.
func segments(eventType string) []string {
	depth := 0
	return strings.FieldsFunc(eventType, func(r rune) bool {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		}
		return r == '.' && depth <= 0
	})
}

// family is a sealed interface and where its first event stands.
type family struct {
	templates.EventFamily
	at schema.Position
}

// nameOf returns the name of the type that has a shape, and declares it if this
// is its first use. At names the place of that use.
func (b *builder) nameOf(s *shape, parent, field string) string {
	name, named := b.names[s.owner]
	if b.stands(s.owner) {
		parent, field = b.place(s.owner)
	}
	if !named {
		fallback := "Object"
		if s.enum != nil {
			fallback = "Enum"
		}
		name = b.take(thing{placeThing, parent, field}, parent+field, parent+field+fallback)
		b.setName(s.owner, name)
	}
	if b.declared[s.owner] != nil {
		return name
	}
	doc, text := []string{fmt.Sprintf("%s is what the field %s of %s holds.", name, field, parent)}, ""
	if field == "" {
		doc = []string{fmt.Sprintf("%s is the object that the schema's type %s may be.", name, parent)}
	}
	if title, ok := b.titles[s.owner]; ok {
		doc, text = []string{name + " is the schema's type " + title + "."}, s.owner.Description
	}
	b.declare(s, name, doc, text)
	return name
}

// declare puts a type into the queue.
func (b *builder) declare(s *shape, name string, doc []string, text string) *declared {
	d := &declared{shape: s, at: s.owner.Position, parent: name}
	switch {
	case s.enum != nil:
		d.enum = &templates.EventEnum{Name: name, Doc: doc, Text: text, Deprecated: s.owner.Deprecated}
	case s.form == union:
		value := b.take(thing{unionThing, name, "Value"}, name+"Value", name+"Variant")
		d.union = &templates.EventUnion{
			Name: name, Value: value, Marker: "is" + name,
			Unknown: b.take(thing{unionThing, name, "Unknown"}, name+"Unknown", name+"UnknownVariant"),
			Tag:     s.tag, Doc: doc, Text: text, Deprecated: s.owner.Deprecated,
		}
	default:
		d.strct = &templates.EventStruct{Name: name, Doc: doc, Text: text, Deprecated: s.owner.Deprecated, Tuple: s.form == tuple, Least: min(s.least, len(s.items))}
	}
	b.declared[s.owner] = d
	b.queue = append(b.queue, d)
	return d
}

// variants names and declares the objects of a union. One without a name is
// named after what tells it from the others.
func (b *builder) variants(d *declared) {
	for _, v := range d.shape.variants {
		owner := v.shape.owner
		kind := v.kinds[0].Text
		name, named := b.names[owner]
		if !named {
			part := naming.Part(kind)
			name = b.take(thing{variantThing, d.union.Name, kind}, d.union.Name+part, d.union.Name+part+"Object")
			b.setName(owner, name)
		}
		if b.declared[owner] == nil {
			doc, text := []string{name + " is one of " + d.union.Name + ", whose " + d.union.Tag + " is \"" + kind + "\"."}, owner.Description
			if title, ok := b.titles[owner]; ok {
				doc = []string{name + " is the schema's type " + title + "."}
			}
			b.declare(v.shape, name, doc, text)
		}
		strct := b.declared[owner].strct
		strct.Markers = append(strct.Markers, d.union.Marker)
		kinds := make([]string, len(v.kinds))
		for i, k := range v.kinds {
			kinds[i] = k.Text
		}
		d.union.Variants = append(d.union.Variants, templates.EventVariant{Kinds: kinds, Struct: name})
	}
}

// values names the constants of an enum.
func (b *builder) values(d *declared) {
	names := map[string]string{}
	for _, v := range naming.ByPreference(valuesOf(d.shape.enum)) {
		var candidates []string
		for i, part := range naming.Parts(v) {
			candidates = append(candidates, d.enum.Name+part)
			if i == 0 {
				candidates = append(candidates, d.enum.Name+"Value"+part)
			}
		}
		names[v] = b.take(thing{valueThing, d.enum.Name, v}, candidates...)
	}
	for _, v := range d.shape.enum {
		d.enum.Values = append(d.enum.Values, templates.EventValue{Name: names[v.Text], Value: v.Text})
	}
	if v := d.shape.owner.Default; v != nil && v.Kind == schema.String && names[v.Text] != "" {
		d.enum.Default = b.take(thing{defaultThing, d.enum.Name, ""}, d.enum.Name+"Default", d.enum.Name+"DefaultValue")
		d.enum.DefaultOf = names[v.Text]
	}
}

func valuesOf(values []*schema.Node) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = v.Text
	}
	return list
}
