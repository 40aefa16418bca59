package events

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/restaq/restaq/templates"
)

// earlier is what the package of an earlier run calls things. What is added to a
// schema must not rename what users' code names already, and which of two things
// with one name was first can't be told from the schema: the generated package
// tells.
//
// A name is given up together with the thing that it belonged to.
type earlier struct {
	names map[thing]string
	used  map[thing]bool
	given map[string]thing // names of the package's scope that were asked for
	vague map[thing]bool   // several things that look the same
}

// add notes what a thing is called. Nothing is known of two that look the same.
func (e *earlier) add(t thing, name string) {
	if had, twice := e.names[t]; twice && had != name {
		e.vague[t] = true
	}
	e.names[t] = name
}

// thing is what a name in a package belongs to.
type thing struct {
	kind thingKind
	of   string // what it stands in: a Go type, or the Go file of a definition
	name string // what the schema calls it
}

type thingKind int

const (
	definitionThing thingKind = iota // of: the Go file; name: the entry of $defs
	eventThing                       // name: the event type
	familyThing                      // name: the prefix of event types
	placeThing                       // of: the type; name: the way from there
	variantThing                     // of: the union; name: the kind
	valueThing                       // of: the enum; name: the value
	defaultThing                     // of: the enum
	unionThing                       // of: the union; name: Value or Unknown
	fieldThing                       // of: the struct; name: the member
	extraThing                       // of: the struct
)

// inScope reports whether the name is one of the package's scope.
func (k thingKind) inScope() bool { return k != fieldThing && k != extraThing }

// readEarlier reads the files that restaqgen wrote into a folder. Files that are
// missing or broken tell nothing.
func readEarlier(dir fs.FS) *earlier {
	e := &earlier{names: map[thing]string{}, vague: map[thing]bool{}}
	if dir != nil {
		found, err := fs.Glob(dir, "*_gen.go")
		if err == nil {
			for _, name := range found {
				if data, err := fs.ReadFile(dir, name); err == nil && strings.HasPrefix(string(data), templates.EventHeader) {
					e.file(path.Base(name), data)
				}
			}
		}
	}
	for t := range e.vague {
		delete(e.names, t)
	}
	e.start()
	return e
}

// start forgets what was asked for.
func (e *earlier) start() {
	e.used, e.given = map[thing]bool{}, map[string]thing{}
}

// prune gives up the names of things that are gone, and reports whether there
// are any.
func (e *earlier) prune() bool {
	gone := false
	for t := range e.names {
		if !e.used[t] {
			delete(e.names, t)
			gone = true
		}
	}
	e.start()
	return gone
}

// name returns the name that a thing had, "" if it had none.
func (e *earlier) name(t thing) string {
	had := e.names[t]
	if had == "" || !t.kind.inScope() {
		e.used[t] = e.used[t] || had != ""
		return had
	}
	if _, twice := e.given[had]; twice {
		return ""
	}
	e.used[t], e.given[had] = true, t
	return had
}

// file reads one file.
func (e *earlier) file(name string, data []byte) {
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return
	}
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				e.typ(name, s, strings.Join(strings.Fields(d.Doc.Text()), " "))
			case *ast.ValueSpec:
				e.constant(s)
			}
		}
	}
}

// The first sentences of the comments on types, which say what a type is for.
var (
	ofDefinition = regexp.MustCompile(`^\S+ is the schema's type (\S+)\.(?: |$)`)
	ofPlace      = regexp.MustCompile(`^\S+ is what the field (\S+) of (\S+) holds\.(?: |$)`)
	ofVariant    = regexp.MustCompile(`^\S+ is one of (\S+), whose \S+ is ("(?:[^"\\]|\\.)*")\.(?: |$)`)
	ofFamily     = regexp.MustCompile(`^\S+ is any of the events (\S+)\.\*\.(?: |$)`)
	ofUnknown    = regexp.MustCompile(`^\S+ is an? (\S+) of a kind that the schema does not know, as it came\.(?: |$)`)
	ofOdd        = regexp.MustCompile(`^\S+ is the member ("(?:[^"\\]|\\.)*")\.(?: |$)`)
)

// typ reads a type.
func (e *earlier) typ(file string, spec *ast.TypeSpec, doc string) {
	name := spec.Name.Name
	if m := ofDefinition.FindStringSubmatch(doc); m != nil {
		e.add(thing{definitionThing, file, m[1]}, name)
	} else if m := ofPlace.FindStringSubmatch(doc); m != nil {
		e.add(thing{placeThing, m[2], m[1]}, name)
	} else if m := ofVariant.FindStringSubmatch(doc); m != nil {
		if kind, err := strconv.Unquote(m[2]); err == nil {
			e.add(thing{variantThing, m[1], kind}, name)
		}
	} else if m := ofFamily.FindStringSubmatch(doc); m != nil {
		e.add(thing{familyThing, "", m[1]}, name)
	} else if m := ofUnknown.FindStringSubmatch(doc); m != nil {
		e.add(thing{unionThing, m[1], "Unknown"}, name)
	}
	if s, ok := spec.Type.(*ast.StructType); ok {
		for _, field := range s.Fields.List {
			if len(field.Names) == 1 {
				e.field(name, field)
			}
		}
	}
}

// field reads a field of a struct.
func (e *earlier) field(strct string, field *ast.Field) {
	name := field.Names[0].Name
	if field.Tag == nil {
		if value, ok := field.Type.(*ast.Ident); ok && name == "Value" {
			e.add(thing{unionThing, strct, "Value"}, value.Name)
		}
		return
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return
	}
	whole := reflect.StructTag(tag).Get("json")
	member, _, _ := strings.Cut(whole, ",")
	switch odd := ofOdd.FindStringSubmatch(strings.Join(strings.Fields(field.Doc.Text()), " ")); {
	case whole == "-":
		e.add(thing{kind: extraThing, of: strct}, name)
	case odd != nil:
		if member, err := strconv.Unquote(odd[1]); err == nil {
			e.add(thing{fieldThing, strct, member}, name)
		}
	default:
		e.add(thing{fieldThing, strct, member}, name)
	}
}

// constant reads an event type, or a value of an enum.
func (e *earlier) constant(spec *ast.ValueSpec) {
	if len(spec.Names) != 1 || len(spec.Values) != 1 {
		return
	}
	if enum, ok := spec.Type.(*ast.Ident); ok {
		if _, ok := spec.Values[0].(*ast.Ident); ok {
			e.add(thing{kind: defaultThing, of: enum.Name}, spec.Names[0].Name)
			return
		}
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return
	}
	name := spec.Names[0].Name
	if enum, ok := spec.Type.(*ast.Ident); ok {
		e.add(thing{valueThing, enum.Name, value}, name)
	} else if strct, ok := strings.CutSuffix(name, "Type"); ok && spec.Type == nil {
		if _, eventType, ok := strings.Cut(value, "."); ok {
			e.add(thing{eventThing, "", eventType}, strct)
		}
	}
}

// reserve keeps the earlier names of the package's scope from being given to
// anything new.
func (b *builder) reserve() {
	for t, name := range b.earlier.names {
		if t.kind.inScope() {
			b.scope.Take(name)
		}
		if t.kind == eventThing {
			b.scope.Take(name + "Type")
		}
	}
}

// take names a thing of the package's scope: as it was called before, else by the
// first candidate that is free.
func (b *builder) take(t thing, candidates ...string) string {
	if had := b.earlier.name(t); had != "" {
		return had
	}
	return b.scope.Take(candidates[0], candidates[1:]...)
}
