package coding

import (
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// name returns base, or a variation of it that is free for encode<Name>,
// decode<Name> and <name>Fields, and behind the other words.
func (p *Plan) name(base string, words ...string) string {
	words = append(words, "encode", "decode")
	isTaken := func(name string) bool {
		return p.used[name] || p.taken(Table(name)) || slices.ContainsFunc(words, func(word string) bool { return p.taken(word + name) })
	}
	name := base
	for n := 2; isTaken(name); n++ {
		name = base + strconv.Itoa(n)
	}
	p.used[name] = true
	return name
}

// Table is the name of the table of a struct's names: chargeFields.
func Table(name string) string {
	upper := 0
	for i, c := range name {
		if !unicode.IsUpper(c) {
			break
		}
		upper = i + utf8.RuneLen(c)
	}
	if first := utf8.RuneLen([]rune(name)[0]); upper > first && upper < len(name) {
		_, size := utf8.DecodeLastRuneInString(name[:upper])
		upper -= size // HTTPServer: httpServer
	}
	return strings.ToLower(name[:upper]) + name[upper:] + "Fields"
}

// typeName is what a struct's functions are named after: the name of its type,
// behind its package's if that is another, and before its type arguments'.
func (p *Plan) typeName(t types.Type, named *types.Named) string {
	if named == nil {
		return describe(t)
	}
	name := title(named.Obj().Name())
	if pkg := named.Obj().Pkg(); pkg != nil && pkg != p.from {
		name = title(pkg.Name()) + name
	}
	for arg := range named.TypeArgs().Types() {
		name += describe(arg)
	}
	return name
}

// describe is a name for any type.
func describe(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		name := title(t.Obj().Name())
		for arg := range t.TypeArgs().Types() {
			name += describe(arg)
		}
		return name
	case *types.Basic:
		return title(t.Name())
	case *types.Pointer:
		return describe(t.Elem()) + "Pointer"
	case *types.Slice:
		return describe(t.Elem()) + "Slice"
	case *types.Array:
		return describe(t.Elem()) + "Array" + strconv.FormatInt(t.Len(), 10)
	case *types.Map:
		return describe(t.Elem()) + "By" + describe(t.Key())
	case *types.Interface:
		return "Any"
	}
	return "Struct"
}

func title(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}
