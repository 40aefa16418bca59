package shape

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"

	"github.com/invopop/jsonschema"
)

// canonical appends the canonical form of a schema, of which fingerprints are
// made. It is this package's own, as it must stay the same for ever, whatever
// libraries do: a letter for each keyword with its value behind it, in
// alphabetical order, between parentheses. Texts have their length before them.
//
//	(P2:id(t6:string)r2:idt6:object)
func canonical(dst []byte, s *jsonschema.Schema) []byte {
	dst = append(dst, '(')
	text := func(key byte, value string) {
		if value != "" {
			dst = appendText(append(dst, key), value)
		}
	}
	schema := func(key byte, value *jsonschema.Schema) {
		if value != nil {
			dst = canonical(append(dst, key), value)
		}
	}
	schema('A', s.AdditionalProperties)
	schema('C', s.ContentSchema)
	for _, name := range slices.Sorted(maps.Keys(s.Definitions)) {
		dst = canonical(appendText(append(dst, 'D'), name), s.Definitions[name])
	}
	schema('I', s.Items)
	schema('N', s.PropertyNames)
	for _, one := range s.AnyOf {
		schema('O', one)
	}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		dst = canonical(appendText(append(dst, 'P'), pair.Key), pair.Value)
	}
	if arguments, ok := s.Extras[argumentsKey].([]*jsonschema.Schema); ok {
		for _, argument := range arguments {
			schema('X', argument)
		}
	}
	text('e', s.ContentEncoding)
	text('f', s.Format)
	text('m', s.ContentMediaType)
	if s.MinItems != nil {
		dst = strconv.AppendUint(append(dst, 'n'), *s.MinItems, 10)
	}
	if print, ok := s.Extras[fingerprintKey].(string); ok {
		text('p', print)
	}
	for _, name := range s.Required {
		text('r', name)
	}
	text('s', s.Ref)
	text('t', s.Type)
	return append(dst, ')')
}

func appendText(dst []byte, s string) []byte {
	dst = strconv.AppendInt(dst, int64(len(s)), 10)
	return append(append(dst, ':'), s...)
}

// Keywords of our own in schemas.
const (
	argumentsKey   = "arguments"   // of an opaque generic type: schemas
	fingerprintKey = "fingerprint" // of an event package's type
)

// digest returns a fingerprint of a canonical form.
func digest(form []byte) string {
	sum := sha256.Sum256(form)
	return hex.EncodeToString(sum[:8])
}

// digestAll returns a fingerprint of a list of texts.
func digestAll(texts []string) string {
	var form []byte
	for _, s := range texts {
		form = appendText(form, s)
	}
	return digest(form)
}
