package schema

import "strings"

// kept are the keywords that have no part in a Go type: they validate or
// annotate. They go to Rest as read.
var kept = set(`
	$comment $vocabulary $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor
	not if then else dependentSchemas dependentRequired dependencies
	contains minContains maxContains additionalItems unevaluatedItems unevaluatedProperties
	patternProperties propertyNames minProperties maxProperties
	multipleOf minLength maxLength pattern minItems maxItems uniqueItems
	contentEncoding contentMediaType contentSchema
	readOnly writeOnly examples example externalDocs xml discriminator`)

// kinds are the words that "type" may hold.
var kinds = map[string]Kind{
	"boolean": Bool, "integer": Integer, "number": Number, "string": String, "array": Array, "object": Object,
}

// Draft is a version of JSON Schema.
type Draft string

// The drafts that can be told apart by $schema.
const (
	Draft04   Draft = "draft-04"
	Draft06   Draft = "draft-06"
	Draft07   Draft = "draft-07"
	Draft2019 Draft = "2019-09"
	Draft2020 Draft = "2020-12"
)

// draftOf returns the draft that a $schema names.
func draftOf(uri string) (Draft, bool) {
	uri = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://"), "#")
	switch uri {
	case "json-schema.org/draft-04/schema", "json-schema.org/schema":
		return Draft04, true
	case "json-schema.org/draft-06/schema":
		return Draft06, true
	case "json-schema.org/draft-07/schema":
		return Draft07, true
	case "json-schema.org/draft/2019-09/schema":
		return Draft2019, true
	case "json-schema.org/draft/2020-12/schema":
		return Draft2020, true
	}
	return "", false
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
