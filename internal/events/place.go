package events

import (
	"strings"

	"github.com/restaq/restaq/internal/naming"
	"github.com/restaq/restaq/internal/schema"
)

// spot is a place in the schema files.
type spot struct{ file, pointer string }

// spotOf returns the place where a schema stands.
func spotOf(s *schema.Schema) spot { return spot{s.File, s.Pointer} }

// stands reports whether a schema stands where its position says, and is not
// made of others.
func (b *builder) stands(s *schema.Schema) bool {
	if owner := b.shapes.partOf[s]; owner != nil {
		s = owner
	}
	return b.read[s]
}

// place returns what a type without a name of its own is named after: the type
// that its schema stands in, and the way from there. Both follow from where the
// schema stands alone, not from who refers to it.
func (b *builder) place(s *schema.Schema) (parent, field string) {
	tokens := strings.Split(s.Pointer, "/")
	for n := len(tokens) - 1; n > 0; n-- {
		if name, ok := b.places[spot{s.File, strings.Join(tokens[:n], "/")}]; ok {
			return name, b.way(s.File, tokens, n)
		}
		if word := tokens[n-1]; n > 1 && (word == "$defs" || word == "definitions" || word == "schemas" && tokens[n-2] == "components") {
			return naming.Exported(schema.Unescape(tokens[n])), b.way(s.File, tokens, n+1)
		}
	}
	return naming.Exported(baseName(s.File)), b.way(s.File, tokens, 1)
}

// way returns the pointer's tokens from n on as the tail of a name.
func (b *builder) way(file string, tokens []string, n int) string {
	tail := ""
	for ; n < len(tokens); n++ {
		switch tokens[n] {
		case "properties":
			n++
			tail += b.propertyName(spot{file, strings.Join(tokens[:min(n+1, len(tokens))], "/")}, tokens[min(n, len(tokens)-1)])
		case "items", "prefixItems":
			tail += "Item"
		case "additionalProperties":
			tail += "Value"
		case "patternProperties":
			tail += "Value"
			n++
		}
	}
	return tail
}

// propertyName returns a property's name in Go: that of its field, if the struct
// has its fields already, else the one that its schema chooses, or its own.
func (b *builder) propertyName(at spot, token string) string {
	if name, ok := b.goNames[at]; ok {
		return name
	}
	return naming.Part(schema.Unescape(token))
}
