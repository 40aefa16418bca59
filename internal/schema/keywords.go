package schema

import "strings"

// kept are the keywords that have no part in a Go type and hold no schemas: they
// validate or annotate. They go to Rest as read.
var kept = set(`
	$comment $vocabulary
	dependentRequired minContains maxContains minProperties maxProperties
	multipleOf minLength maxLength pattern minItems maxItems uniqueItems
	contentEncoding contentMediaType
	readOnly writeOnly examples example externalDocs xml discriminator`)

// conditions are the keywords that hold a schema and only validate.
var conditions = set(`
	not if then else contains propertyNames contentSchema unevaluatedItems unevaluatedProperties`)

// besideRef are the keywords that count beside $ref in the drafts where it stands
// alone: those that say nothing of the value.
var besideRef = set(`
	$ref $schema $comment definitions $defs title description deprecated default example examples externalDocs
	readOnly writeOnly nullable`)

// kinds are the words that "type" may hold.
var kinds = map[string]Kind{
	"boolean": Bool, "integer": Integer, "number": Number, "string": String, "array": Array, "object": Object,
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
