package schema

import "strings"

// Draft is a version of JSON Schema, or of OpenAPI, which has its own.
type Draft string

// The drafts that are read.
const (
	Draft04   Draft = "draft-04"
	Draft06   Draft = "draft-06"
	Draft07   Draft = "draft-07"
	Draft2019 Draft = "2019-09"
	Draft2020 Draft = "2020-12"
	OpenAPI30 Draft = "OpenAPI 3.0"
	OpenAPI31 Draft = "OpenAPI 3.1"
)

// refAlone reports whether keywords beside $ref have no effect.
func (d Draft) refAlone() bool {
	return d == Draft04 || d == Draft06 || d == Draft07 || d == OpenAPI30
}

// id is the keyword that names a schema.
func (d Draft) id() string {
	if d == Draft04 {
		return "id"
	}
	return "$id"
}

// draftOf returns the draft that a $schema names.
func draftOf(uri string) (Draft, bool) {
	uri = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://"), "#")
	switch uri {
	case "json-schema.org/draft-04/schema", "json-schema.org/draft-04/hyper-schema", "json-schema.org/schema":
		return Draft04, true
	case "json-schema.org/draft-06/schema", "json-schema.org/draft-06/hyper-schema":
		return Draft06, true
	case "json-schema.org/draft-07/schema", "json-schema.org/draft-07/hyper-schema":
		return Draft07, true
	case "json-schema.org/draft/2019-09/schema", "json-schema.org/draft/2019-09/hyper-schema":
		return Draft2019, true
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2020-12/hyper-schema",
		"spec.openapis.org/oas/3.1/dialect/base", "spec.openapis.org/oas/3.1/schema/latest":
		return Draft2020, true
	}
	return "", false
}

// draft returns the draft of a file: the one that it names, else the one that its
// root is spelled in. Without $schema, keywords beside $ref count in any draft.
func (r *reader) draft(n *Node) (d Draft, said bool) {
	if uri := n.Member("$schema"); uri != nil && uri.Kind == String {
		if d, ok := draftOf(uri.Text); ok {
			return d, true
		}
		r.problems.Warnf(uri.Position, "unknown $schema %q: read as %s", uri.Text, Draft2020)
		return Draft2020, false
	}
	for _, sign := range []struct {
		keyword string
		draft   Draft
	}{
		{"$defs", Draft2020}, {"$anchor", Draft2020}, {"$dynamicAnchor", Draft2020}, {"prefixItems", Draft2020},
		{"unevaluatedProperties", Draft2020}, {"dependentSchemas", Draft2020}, {"dependentRequired", Draft2020},
		{"$recursiveAnchor", Draft2019}, {"definitions", Draft07}, {"additionalItems", Draft07}, {"dependencies", Draft07},
		{"id", Draft04},
	} {
		at := n.Member(sign.keyword)
		if at == nil || sign.keyword == "id" && at.Kind != String {
			continue
		}
		if d = sign.draft; d == Draft07 && n.Member("$id") == nil && isString(n.Member("id")) {
			d = Draft04
		}
		if d != Draft2020 {
			r.problems.Warnf(n.Position, "no $schema: read as %s, for it has %q", d, sign.keyword)
		}
		return d, false
	}
	return Draft2020, false
}

func isString(n *Node) bool { return n != nil && n.Kind == String }
