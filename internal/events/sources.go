package events

import (
	"path"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/schema"
)

// source is a schema that is the payload of events.
type source struct {
	schema *schema.Schema
	name   string   // what types in it are named after: the entry in $defs, or the file
	types  []string // event types, without the provider
}

// definition is a schema with a name that other schemas share.
type definition struct {
	schema *schema.Schema
	name   string
	file   string // tells entries of one name apart
	keep   bool   // written whether an event reaches it or not
}

// survey finds the events and the named types of a set. Of the event types only
// those that only admits are sources.
func survey(set *schema.Set, only filter, problems *schema.Problems) (sources []source, defs []definition) {
	v := surveyor{set: set, only: only, problems: problems, seen: map[string]schema.Position{}, payloads: map[*schema.Schema]bool{}}
	for _, doc := range set.Documents {
		reportMisplaced(doc, problems)
		if !v.webhooks(doc) && !v.stripe(doc) && !v.catalogue(doc) {
			v.document(doc)
		}
		for _, d := range doc.Root.Defs {
			if !v.payloads[d.Schema] || d.Schema.IsEvent && set.References(d.Schema) > 0 {
				keep := d.Schema.IsEvent && len(d.Schema.Events) == 0
				v.defs = append(v.defs, definition{d.Schema, d.Name, baseName(doc.Name), keep})
			}
		}
	}
	only.reportUnused(v.seen, problems)
	return v.sources, v.defs
}

// surveyor collects what survey finds.
type surveyor struct {
	set      *schema.Set
	only     filter
	problems *schema.Problems
	sources  []source
	defs     []definition
	seen     map[string]schema.Position // event types
	payloads map[*schema.Schema]bool    // definitions that are nothing but payloads of events
}

// add adds a source of event types.
func (v *surveyor) add(s *schema.Schema, name string, types []string) {
	src := source{schema: s, name: name}
	for _, t := range types {
		at, twice := v.seen[t]
		switch {
		case !eventTypeLegal(t):
			v.problems.Errorf(s.Position, "event type %q: it must be words joined by dots, without spaces", t)
		case twice:
			v.problems.Errorf(s.Position, "event type %q stands at %s already", t, at)
		default:
			v.seen[t] = s.Position
			if v.only.admits(t) {
				src.types = append(src.types, t)
			}
		}
	}
	if len(src.types) > 0 {
		v.sources = append(v.sources, src)
	}
}

// document finds the events that a file names by x-restaq-events, or is named
// for.
func (v *surveyor) document(doc *schema.Document) {
	root, base := doc.Root, baseName(doc.Name)
	says := root.IsEvent
	for _, d := range root.Defs {
		if d.Schema.IsEvent {
			says = true
			v.payloads[d.Schema] = len(d.Schema.Events) > 0
			v.add(d.Schema, d.Name, d.Schema.Events)
		}
	}
	isEvent := true
	switch {
	case root.IsEvent:
		v.add(root, base, root.Events)
	case !says && describes(root) && !v.set.Shared(doc):
		v.add(root, base, []string{base})
	default:
		isEvent = false
	}
	if describes(root) && (!isEvent || v.set.Referenced(root)) {
		v.defs = append(v.defs, definition{root, base, base, false})
	}
}

// reportMisplaced warns of event types where no one looks for them.
func reportMisplaced(doc *schema.Document, problems *schema.Problems) {
	for s := range doc.Schemas() {
		if !s.IsEvent || s == doc.Root || slices.ContainsFunc(doc.Root.Defs, func(d schema.Def) bool { return d.Schema == s }) {
			continue
		}
		problems.Warnf(s.Position, "x-restaq-events has no effect here: it stands at the root or in an entry of the root's $defs")
	}
}

// describes reports whether a file's root is more than a holder of definitions.
func describes(root *schema.Schema) bool {
	anObject := len(root.Types) == 1 && root.Types[0] == schema.Object && len(root.Defs) == 0
	return anObject || len(root.Properties) > 0 || root.Target != nil || len(root.AllOf)+len(root.OneOf)+len(root.AnyOf) > 0
}

// baseName is what a file is named for: its name without the extension. Before a
// name of one word stand the folders that it is in: orders/create.json is named
// for orders.create, and so is orders.create.json in any folder.
func baseName(name string) string {
	if slices.Contains(extensions, path.Ext(name)) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	name = strings.TrimSuffix(name, ".schema")
	if base := path.Base(name); strings.Contains(base, ".") {
		return base
	}
	return strings.ReplaceAll(name, "/", ".")
}

func eventTypeLegal(t string) bool {
	return !slices.Contains(strings.Split(t, "."), "") && !strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '*' || r == '"' })
}
