package events

import (
	"cmp"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/naming"
	"github.com/restaq/restaq/internal/schema"
	"github.com/restaq/restaq/templates"
)

// arrange puts the declarations into files: one for each schema file, events
// first, in the order of the schema. If there is but one schema file, events go
// to a file for each family, and all other types to types_gen.go.
func (b *builder) arrange(families []family) templates.EventPackage {
	pkg := templates.EventPackage{Name: b.pkg, Provider: b.provider}
	files := map[string]*templates.EventFile{}
	file := func(at schema.Position, event string) *templates.EventFile {
		name := b.fileName(at.File, event)
		if files[name] == nil {
			files[name] = &templates.EventFile{Name: name}
		}
		return files[name]
	}
	slices.SortStableFunc(b.queue, func(a, c *declared) int {
		return cmp.Or(boolInt(a.event == "")-boolInt(c.event == ""), strings.Compare(a.at.File, c.at.File), a.at.Line-c.at.Line, a.at.Col-c.at.Col)
	})
	for _, f := range families {
		to := file(f.at, f.Prefix)
		to.Families = append(to.Families, f.EventFamily)
	}
	for _, d := range b.queue {
		to := file(d.at, d.event)
		switch {
		case d.enum != nil:
			to.Enums = append(to.Enums, d.enum)
			continue
		case d.union != nil:
			to.Unions = append(to.Unions, d.union)
			continue
		}
		to.Structs = append(to.Structs, d.strct)
		if d.event != "" {
			pkg.Events = append(pkg.Events, templates.EventCase{Const: d.strct.Const, Struct: d.strct.Name})
		}
	}
	slices.SortFunc(pkg.Events, func(a, c templates.EventCase) int { return strings.Compare(a.Const, c.Const) })
	for _, f := range files {
		pkg.Files = append(pkg.Files, *f)
	}
	slices.SortFunc(pkg.Files, func(a, c templates.EventFile) int { return strings.Compare(a.Name, c.Name) })
	return pkg
}

// fileName returns the name of the Go file for what stands in a schema file.
func (b *builder) fileName(schemaFile, event string) string {
	base := schemaFile
	for _, doc := range b.set.Documents {
		if doc.File == schemaFile {
			base = baseName(doc.Name)
		}
	}
	if len(b.set.Documents) == 1 {
		base = "types"
		if event != "" {
			base, _, _ = strings.Cut(event, ".")
		}
	}
	words := naming.Words(base)
	for i, w := range words {
		words[i] = naming.Kebab(w)
	}
	return strings.ReplaceAll(strings.Join(words, "_"), "-", "_") + "_gen.go"
}

func boolInt(v bool) int {
	if v {
		return 1
	}
	return 0
}

// breakCycles makes a pointer of every member through which a struct would hold
// itself.
func (b *builder) breakCycles() {
	byName := map[string]*declared{}
	for _, d := range b.queue {
		if d.strct != nil {
			byName[d.strct.Name] = d
		}
	}
	for _, d := range b.queue {
		if d.strct == nil {
			continue
		}
		for i, f := range d.strct.Fields {
			held := heldType(f.Type)
			if held == nil || !holds(byName, held.Name, d.strct.Name, map[string]bool{}) {
				continue
			}
			if f.Type.Kind == templates.Local {
				d.strct.Fields[i].Type = pointer(f.Type)
			} else { // a Nullable
				t := *f.Type
				t.Elem = pointer(t.Elem)
				d.strct.Fields[i].Type = &t
			}
		}
	}
}

// heldType returns the struct that a member of type t holds in itself, or nil.
func heldType(t *templates.EventType) *templates.EventType {
	switch {
	case t.Kind == templates.Local:
		return t
	case t.Kind == templates.Payload && t.Name == "Nullable" && t.Elem.Kind == templates.Local:
		return t.Elem
	}
	return nil
}

// holds reports whether struct from holds struct to in itself, at any depth.
func holds(byName map[string]*declared, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] || byName[from] == nil {
		return false
	}
	seen[from] = true
	for _, f := range byName[from].strct.Fields {
		if held := heldType(f.Type); held != nil && holds(byName, held.Name, to, seen) {
			return true
		}
	}
	return false
}
