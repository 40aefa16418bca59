// Package shape describes what a Go type looks like as JSON, so that a record
// written by one build can be told from what another build expects.
//
// A shape is a JSON Schema with a fingerprint. It holds what decides whether a
// record can be read without loss: the members of objects and whether they may
// be absent, kinds and sizes of numbers, what may be null. It leaves out what
// does not: the names of Go types, the order of fields, comments. A type whose
// methods decide its JSON is known by its name only; a type of an event package
// by its name and fingerprint, as its whole shape would be long and belongs to
// the provider.
//
// Shapes do not depend on the machine or on the version of Go: int counts as
// int64, and what encoding/json is built from does not show.
package shape

import (
	"go/types"

	"github.com/invopop/jsonschema"
)

// Shape is the JSON form of a Go type.
type Shape struct {
	// Schema describes it for people, with types under their own names where
	// they are needed.
	Schema *jsonschema.Schema

	// Fingerprint is the first 16 hexadecimal digits of the SHA-256 of the
	// schema's canonical form, in which types are numbered instead of named.
	Fingerprint string
}

// A Shaper makes shapes and remembers those of event types. The zero value is
// ready. It is not safe for concurrent use.
type Shaper struct {
	events   map[string]string // fingerprints of event packages' types, by name
	basics   map[types.BasicKind]*jsonschema.Schema
	packages map[*types.Package]bool // whether it is an event package
}

// Of returns the shape of t as seen from the package from. It fails for a type
// that has no JSON form, such as a channel.
func (s *Shaper) Of(t types.Type, from *types.Package) (Shape, error) {
	named := builder{shaper: s, from: from}
	schema, err := named.root(t)
	if err != nil {
		return Shape{}, err
	}
	print, err := s.fingerprint(t, false)
	if err != nil {
		return Shape{}, err
	}
	return Shape{Schema: schema, Fingerprint: print}, nil
}

// Inputs returns one fingerprint for a step's inputs, in order.
func (s *Shaper) Inputs(inputs []types.Type) (string, error) {
	prints := make([]string, len(inputs))
	for i, t := range inputs {
		var err error
		if prints[i], err = s.fingerprint(t, false); err != nil {
			return "", err
		}
	}
	return digestAll(prints), nil
}

// fingerprint returns the fingerprint of t; expand says to look into event
// packages' types, too.
func (s *Shaper) fingerprint(t types.Type, expand bool) (string, error) {
	numbered := builder{shaper: s, numbered: true, expand: expand}
	schema, err := numbered.root(t)
	if err != nil {
		return "", err
	}
	return digest(canonical(nil, schema)), nil
}

// eventType returns the fingerprint of a type of an event package.
func (s *Shaper) eventType(named *types.Named) (string, error) {
	key := types.TypeString(named, nil)
	if print, ok := s.events[key]; ok {
		return print, nil
	}
	var print string
	var err error
	if iface, ok := named.Underlying().(*types.Interface); ok {
		print, err = s.family(named.Obj().Pkg(), iface)
	} else {
		print, err = s.fingerprint(named, true)
	}
	if err != nil {
		return "", err
	}
	if s.events == nil {
		s.events = map[string]string{}
	}
	s.events[key] = print
	return print, nil
}

// family returns the fingerprint of a sealed interface: of its members' names
// and fingerprints.
func (s *Shaper) family(pkg *types.Package, iface *types.Interface) (string, error) {
	var members []string
	for _, name := range pkg.Scope().Names() { // sorted
		obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || types.IsInterface(obj.Type()) {
			continue
		}
		if types.Implements(obj.Type(), iface) || types.Implements(types.NewPointer(obj.Type()), iface) {
			print, err := s.fingerprint(obj.Type(), true)
			if err != nil {
				return "", err
			}
			members = append(members, name, print)
		}
	}
	return digestAll(members), nil
}

func (s *Shaper) isEventPackage(pkg *types.Package) bool {
	is, ok := s.packages[pkg]
	if !ok {
		if s.packages == nil {
			s.packages = map[*types.Package]bool{}
		}
		is = EventPackage(pkg)
		s.packages[pkg] = is
	}
	return is
}

// EventPackage reports whether pkg is an event package: one that declares
//
//	func Decode(eventType string, payload []byte) (any, error)
//
// and, for at least one of its structs, a string constant <Struct>Type.
func EventPackage(pkg *types.Package) bool {
	if pkg == nil {
		return false
	}
	decode, ok := pkg.Scope().Lookup("Decode").(*types.Func)
	if !ok || !isDecode(decode.Signature()) {
		return false
	}
	for _, name := range pkg.Scope().Names() {
		obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if _, ok := obj.Type().Underlying().(*types.Struct); !ok {
			continue
		}
		if c, ok := pkg.Scope().Lookup(name + "Type").(*types.Const); ok && types.AssignableTo(c.Type(), types.Typ[types.String]) {
			return true
		}
	}
	return false
}

func isDecode(sig *types.Signature) bool {
	return matches(sig.Params(), types.Typ[types.String], types.NewSlice(types.Typ[types.Byte])) &&
		matches(sig.Results(), types.NewInterfaceType(nil, nil), types.Universe.Lookup("error").Type())
}
