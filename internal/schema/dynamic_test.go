package schema

import (
	"strings"
	"testing"
)

// Where a reference leads may depend on the way that led to it. What is not
// followed is told, and what makes no difference is not.
func TestReferencesThatDependOnTheWayAreReported(t *testing.T) {
	const tree = `{"$id":"https://a.test/tree","$dynamicAnchor":"node","type":"object","properties":{"children":{"type":"array","items":{"$dynamicRef":"#node"}}}}`
	const recursive = `{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"https://a.test/tree","$recursiveAnchor":true,"type":"object","properties":{"children":{"type":"array","items":{"$recursiveRef":"#"}}}}`
	for name, c := range map[string]struct {
		files []string
		want  string // empty: nothing
	}{
		"one tree":         {[]string{tree}, ""},
		"one in 2019-09":   {[]string{recursive}, ""},
		"a plain anchor":   {[]string{tree, `{"$id":"https://a.test/b","$anchor":"node","$ref":"tree"}`}, ""},
		"another name":     {[]string{tree, `{"$id":"https://a.test/b","$dynamicAnchor":"other","$ref":"tree"}`}, ""},
		"a stricter tree":  {[]string{tree, `{"$id":"https://a.test/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false}`}, `a.json:1:134: warning: $dynamicRef "#node" is read as $ref: it depends on the way here which of 2 schemas it means, and that is not supported (at #/properties/children/items/$dynamicRef)`},
		"stricter 2019-09": {[]string{recursive, strings.Replace(recursive, "/tree", "/strict", 1)}, `$recursiveRef "#" is read as $ref`},
		"not recursive":    {[]string{recursive, `{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"https://a.test/b","$recursiveAnchor":false,"$ref":"tree"}`}, ""},
		"within a file":    {[]string{`{"$id":"https://a.test/outer","$dynamicAnchor":"items","type":"string","$defs":{"list":{"$id":"list","type":"array","items":{"$dynamicRef":"#items"},"$defs":{"any":{"$dynamicAnchor":"items"}}}}}`}, `$dynamicRef "#items" is read as $ref`},
	} {
		var files []File
		for i, text := range c.files {
			files = append(files, File{Path: string(rune('a'+i)) + ".json", Data: []byte(text)})
		}
		_, problems := Load(files)
		var all strings.Builder
		for _, p := range problems {
			all.WriteString(p.String() + "\n")
		}
		if text := all.String(); c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}
