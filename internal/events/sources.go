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
}

// survey finds the events and the named types of a set.
func survey(set *schema.Set, problems *schema.Problems) (sources []source, defs []definition) {
	seen := map[string]schema.Position{}
	add := func(s *schema.Schema, name string, types []string) {
		src := source{schema: s, name: name}
		for _, t := range types {
			at, twice := seen[t]
			switch {
			case !eventTypeLegal(t):
				problems.Errorf(s.Position, "event type %q: it must be words joined by dots, without spaces", t)
			case twice:
				problems.Errorf(s.Position, "event type %q stands at %s already", t, at)
			default:
				seen[t] = s.Position
				src.types = append(src.types, t)
			}
		}
		if len(src.types) > 0 {
			sources = append(sources, src)
		}
	}
	for _, doc := range set.Documents {
		reportMisplaced(doc, problems)
		root, base := doc.Root, baseName(doc.File)
		says := root.IsEvent
		for _, d := range root.Defs {
			says = says || d.Schema.IsEvent
			if d.Schema.IsEvent {
				add(d.Schema, d.Name, d.Schema.Events)
			}
			if !d.Schema.IsEvent || set.Referenced(d.Schema) {
				defs = append(defs, definition{d.Schema, d.Name, base})
			}
		}
		isEvent := true
		switch {
		case root.IsEvent:
			add(root, base, root.Events)
		case !says && describes(root) && !set.Shared(doc):
			add(root, base, []string{base})
		default:
			isEvent = false
		}
		if describes(root) && (!isEvent || set.Referenced(root)) {
			defs = append(defs, definition{root, base, base})
		}
	}
	return sources, defs
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
	return len(root.Properties) > 0 || root.Target != nil || len(root.AllOf)+len(root.OneOf)+len(root.AnyOf) > 0
}

// baseName is a file's name without folder and extension.
func baseName(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".json"), ".schema")
}

func eventTypeLegal(t string) bool {
	return !slices.Contains(strings.Split(t, "."), "") && !strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '*' || r == '"' })
}
