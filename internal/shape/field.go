package shape

import (
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A Field is a member of an object, as encoding/json sees it.
type Field struct {
	Name   string // of the member
	Index  []int  // of the field: that of an embedded struct first
	Type   types.Type
	Option Option
}

// Option are the options in a field's tag that have an effect.
type Option struct{ OmitEmpty, OmitZero, Quoted bool }

// Fields returns the fields of a struct by the rules of encoding/json, in the
// order in which it writes them.
func Fields(s *types.Struct) []Field {
	var all []Field
	for _, f := range fields(s) {
		all = append(all, Field{f.name, f.index, f.typ, f.option})
	}
	slices.SortFunc(all, func(a, b Field) int { return slices.Compare(a.Index, b.Index) })
	return all
}

// A field is a Field with what is needed to find out which ones count.
type field struct {
	name     string // of the member
	path     string // from the struct, as Go selects it: A.ID
	index    []int
	typ      types.Type
	option   Option
	tagged   bool // the name comes from a tag
	optional bool // omitted when empty or zero
	quoted   bool // put in a string by the option string
}

// fields returns the fields of a struct by the rules of encoding/json: embedded
// structs are looked into level by level; of several fields of one name the
// shallowest counts, at equal depth a tagged one, and else none.
func fields(s *types.Struct) []field {
	found, _ := read(s)
	return found
}

// Clash returns two fields of a struct, as Go selects them, that have the same
// member's name at the same depth, so that encoding/json leaves both out. It
// reports whether there are such.
func Clash(s *types.Struct) (first, second, name string, ok bool) {
	_, clashes := read(s)
	if len(clashes) == 0 {
		return "", "", "", false
	}
	rivals := clashes[0]
	return rivals[0].path, rivals[1].path, rivals[0].name, true
}

// read returns the fields of a struct that count, and those that clash, by name.
func read(s *types.Struct) (found []field, clashes [][]field) {
	type embedded struct {
		s     *types.Struct
		key   string // the type's full name
		path  string // to its fields
		index []int
	}
	settled := map[string]bool{} // names that a shallower level decided
	visited := map[string]bool{}
	current, times := []embedded{{s: s}}, map[string]int{}
	for len(current) > 0 {
		var here []field
		var next []embedded
		nextTimes := map[string]int{}
		for _, e := range current {
			if visited[e.key] && e.key != "" {
				continue
			}
			visited[e.key] = true
			for i := range e.s.NumFields() {
				f, inner := member(e.s.Field(i), e.s.Tag(i))
				f.path = e.path + e.s.Field(i).Name()
				f.index = append(slices.Clone(e.index), i)
				switch {
				case inner != nil:
					key := types.TypeString(f.typ, nil)
					if nextTimes[key]++; nextTimes[key] == 1 {
						next = append(next, embedded{inner, key, f.path + ".", f.index})
					}
				case f.name != "":
					here = append(here, f)
					if times[e.key] > 1 { // a clash with itself
						here = append(here, f)
					}
				}
			}
		}
		taken, lost := dominant(here, settled)
		found, clashes = append(found, taken...), append(clashes, lost...)
		current, times = next, nextTimes
	}
	return found, clashes
}

// dominant returns the fields of one level that encoding/json takes, and those
// of one name of which it takes none. It marks all their names as settled.
func dominant(level []field, settled map[string]bool) (taken []field, lost [][]field) {
	byName := map[string][]field{}
	for _, f := range level {
		byName[f.name] = append(byName[f.name], f)
	}
	for _, f := range level {
		rivals := byName[f.name]
		if rivals == nil || settled[f.name] {
			continue
		}
		settled[f.name] = true
		var tagged []field
		for _, r := range rivals {
			if r.tagged {
				tagged = append(tagged, r)
			}
		}
		switch {
		case len(tagged) == 1:
			taken = append(taken, tagged[0])
		case len(tagged) == 0 && len(rivals) == 1:
			taken = append(taken, rivals[0])
		default:
			lost = append(lost, rivals)
		}
	}
	return taken, lost
}

// member reads one field of a struct. The name is empty if encoding/json
// ignores it; inner is set if its own fields take its place.
func member(v *types.Var, tag string) (f field, inner *types.Struct) {
	typ := types.Unalias(v.Type())
	elem := typ
	if p, ok := typ.(*types.Pointer); ok { // *Named, in embedded fields
		elem = types.Unalias(p.Elem())
	}
	inner, isStruct := elem.Underlying().(*types.Struct)
	if !v.Exported() && (!v.Embedded() || !isStruct) {
		return field{}, nil
	}
	text := reflect.StructTag(tag).Get("json")
	if text == "-" {
		return field{}, nil
	}
	name, options, _ := strings.Cut(text, ",")
	if !ValidName(name) {
		name = ""
	}
	if name == "" && v.Embedded() && isStruct {
		return field{typ: elem}, inner
	}
	f = field{name: name, typ: v.Type(), tagged: name != ""}
	if name == "" {
		f.name = v.Name()
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitzero":
			f.optional, f.option.OmitZero = true, true
		case "omitempty":
			f.option.OmitEmpty = canBeEmpty(typ)
			f.optional = f.optional || f.option.OmitEmpty
		case "string":
			f.quoted = quotable(elem)
			f.option.Quoted = f.quoted
		}
	}
	return f, nil
}

// ValidName reports whether encoding/json accepts a name in a tag.
func ValidName(name string) bool {
	if name == "" {
		return false
	}
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return true
}

// canBeEmpty reports whether omitempty can leave out a value of type t.
func canBeEmpty(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return false
	case *types.Array:
		return u.Len() == 0
	}
	return true
}

// quotable reports whether the tag option string has an effect on t.
func quotable(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsBoolean|types.IsNumeric|types.IsString) != 0
}
