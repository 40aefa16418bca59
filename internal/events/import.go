package events

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/naming"
	"github.com/restaq/restaq/internal/schema"
)

// Import reads a provider's specification and returns it as schemas of our own:
// normal form without a word of prose, one file for each first word of event
// types, definitions that several of these share in shared.json. A definition
// stands in the file whose name its own begins with, or in the file of the only
// events that reach it. The same input gives the same bytes.
func Import(o Options) ([]File, schema.Problems) {
	var problems schema.Problems
	files := o.read(&problems)
	if problems.Failed() {
		return nil, problems.Sorted()
	}
	set, problems := schema.Load(files)
	if problems.Failed() {
		return nil, problems
	}
	sources, defs := survey(set, newFilter(o.Provider, o.Only), &problems)
	if problems.Failed() {
		return nil, problems.Sorted()
	}
	im := importer{problems: &problems, homes: map[*schema.Schema]*home{}, names: map[string]bool{}}
	im.place(sources, defs)
	out := im.write()
	return out, problems.Sorted()
}

// importer moves definitions to files of their own.
type importer struct {
	problems *schema.Problems
	order    []*home
	homes    map[*schema.Schema]*home
	names    map[string]bool // of the definitions
	families []string        // first words of event types
}

// home is where a definition goes.
type home struct {
	schema *schema.Schema
	name   string
	file   string // without .json
	types  []string
	from   map[string]bool // the families that reach it
}

const sharedFile = "shared"

// place finds all definitions that the sources reach, names them and puts them
// into files.
func (im *importer) place(sources []source, defs []definition) {
	known := map[*schema.Schema]string{}
	for _, d := range defs {
		known[d.schema] = d.name
	}
	for _, src := range im.grouped(sources) {
		family := firstWord(src.types[0])
		if !slices.Contains(im.families, family) {
			im.families = append(im.families, family)
		}
		im.add(src.schema, src.name).types = src.types
		im.homes[src.schema].file = family
	}
	for _, h := range slices.Clone(im.order) {
		im.reach(h.schema, h.file, known, map[*schema.Schema]bool{})
	}
	for _, h := range im.order {
		if h.file == "" {
			h.file = im.fileOf(h)
		}
	}
}

// grouped joins the sources of one family whose payloads are the same. The most
// common payload of a family is named for it, another for its first event type.
func (im *importer) grouped(sources []source) []source {
	var out []source
	at := map[string]int{}
	for _, src := range sources {
		key := firstWord(src.types[0]) + " " + fingerprint(src.schema)
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, src)
			continue
		}
		out[i].types = slices.Concat(out[i].types, src.types)
	}
	largest := map[string]int{}
	for i, src := range out {
		family := firstWord(src.types[0])
		if j, ok := largest[family]; !ok || len(src.types) > len(out[j].types) {
			largest[family] = i
		}
	}
	for family, i := range largest {
		if len(out[i].types) > 1 && !strings.HasSuffix(out[i].name, "_event") {
			out[i].name = family + "_event"
		}
	}
	return out
}

// fingerprint is the text of a schema, equal for equal schemas.
func fingerprint(s *schema.Schema) string {
	c := *s
	c.Title, c.Description, c.IsEvent, c.Events = "", "", false, nil
	text, err := schema.Write(&c)
	if err != nil {
		return s.String()
	}
	return string(text)
}

func firstWord(eventType string) string {
	word, _, _ := strings.Cut(eventType, ".")
	return word
}

// add gives a definition a home under a name of its own.
func (im *importer) add(s *schema.Schema, name string) *home {
	for base, n := name, 2; im.names[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	im.names[name] = true
	h := &home{schema: s, name: name, from: map[string]bool{}}
	im.homes[s] = h
	im.order = append(im.order, h)
	return h
}

// reach finds the definitions below s, which events of a family reach.
func (im *importer) reach(s *schema.Schema, family string, known map[*schema.Schema]string, seen map[*schema.Schema]bool) {
	if seen[s] {
		return
	}
	seen[s] = true
	if t := s.Target; t != nil {
		h := im.homes[t]
		if h == nil {
			name, ok := known[t]
			if !ok {
				name = placeName(t)
			}
			h = im.add(t, name)
		}
		h.from[family] = true
		im.reach(t, family, known, seen)
	}
	for _, child := range s.Children() {
		im.reach(child, family, known, seen)
	}
}

// placeName names a schema that is no definition after its place.
func placeName(s *schema.Schema) string {
	var words []string
	for word := range strings.SplitSeq(s.Pointer, "/") {
		switch word {
		case "", "properties", "items", "components", "schemas", "$defs", "definitions", "allOf", "anyOf", "oneOf", "additionalProperties":
		default:
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return baseName(path.Base(s.File))
	}
	return strings.Join(words, "_")
}

// fileOf returns the file of a definition that is no payload: of the longest
// family that its name begins with, or of the only one that reaches it.
func (im *importer) fileOf(h *home) string {
	name := words(h.name)
	best := ""
	for _, family := range im.families {
		if w := words(family); len(w) <= len(name) && slices.Equal(w, name[:len(w)]) && len(family) > len(best) {
			best = family
		}
	}
	switch {
	case best != "":
		return best
	case len(h.from) == 1:
		for family := range h.from {
			return family
		}
	}
	return sharedFile
}

func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' })
}

// write returns the files.
func (im *importer) write() []File {
	roots := map[string]*schema.Schema{}
	for _, h := range im.order {
		if roots[h.file] == nil {
			roots[h.file] = &schema.Schema{}
		}
		c := im.copy(h.schema, h, true)
		c.IsEvent, c.Events = len(h.types) > 0, slices.Sorted(slices.Values(h.types))
		roots[h.file].Defs = append(roots[h.file].Defs, schema.Def{Name: h.name, Schema: c})
	}
	var out []File
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		text, err := schema.Write(roots[name])
		if err != nil {
			im.problems.Errorf(schema.Position{File: name}, "%v", err)
			continue
		}
		out = append(out, File{fileName(name), text})
	}
	return out
}

// fileName spells a family as a file's name.
func fileName(family string) string {
	parts := naming.Words(family)
	for i, w := range parts {
		parts[i] = naming.Kebab(w)
	}
	return cmp.Or(strings.ReplaceAll(strings.Join(parts, "_"), "-", "_"), family) + ".json"
}
