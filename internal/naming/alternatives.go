package naming

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Alternatives returns exported identifiers for a name, of which the first that
// is free is to be taken: the one that [Exported] gives, then ones that keep more
// of the name's own spelling. They depend on nothing but the name, and the last
// is as good as always free.
//
//	user_id  UserID, User_id, UserIDSnake, …
//	userId   UserID, UserId, UserIDCamel, …
func Alternatives(name string) []string { return alternatives(name, Exported(name)) }

// Parts is [Alternatives] for the tail of an identifier, as [Part] gives it.
func Parts(name string) []string { return alternatives(name, Part(name)) }

func alternatives(name, first string) []string {
	list := []string{first}
	if s := spelled(name); s != "" && s != first {
		list = append(list, s)
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return append(list, first+style(name), fmt.Sprintf("%s_%08x", first, hash.Sum32()))
}

// spelled returns a name as it is, with a capital in front, or "" if that is no
// identifier.
func spelled(name string) string {
	for i, r := range name {
		if !unicode.IsLetter(r) && r != '_' && !(i > 0 && unicode.IsDigit(r)) {
			return ""
		}
	}
	r, size := utf8.DecodeRuneInString(name)
	if !unicode.IsUpper(unicode.ToUpper(r)) {
		return ""
	}
	return string(unicode.ToUpper(r)) + name[size:]
}

// style returns a word for the way in which a name is written.
func style(name string) string {
	lower := strings.IndexFunc(name, unicode.IsLower) >= 0
	upper := strings.IndexFunc(name, unicode.IsUpper) >= 0
	switch {
	case name == "":
		return "Empty"
	case strings.Contains(name, "-"):
		return "Kebab"
	case strings.Contains(name, "."):
		return "Dotted"
	case strings.Contains(name, " "):
		return "Spaced"
	case strings.Contains(name, "_"):
		return "Snake"
	case lower && upper:
		return "Camel"
	case upper:
		return "Upper"
	case lower:
		return "Lower"
	}
	return "Sign"
}

// ByPreference returns names, each once, in an order that does not depend on
// theirs: plain snake case first, then by their bytes. Names that want one
// identifier choose in this order.
func ByPreference(names []string) []string {
	plain := func(name string) int {
		if strings.ContainsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLower(r) && !unicode.IsDigit(r) }) || name == "" || !unicode.IsLower([]rune(name)[0]) {
			return 1
		}
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return cmp.Or(plain(a)-plain(b), strings.Compare(a, b))
	})
	return slices.Compact(sorted)
}
