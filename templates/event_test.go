package templates

import (
	"strings"
	"testing"
)

func TestForeignTextStaysInItsComment(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb":                             "// a b",
		"a\n\n\nb":                         "// a|//|// b",
		"x\r*/ func init(){} /*":           "// x */ func init(){} /*",
		"//go:generate rm":                 "// | //go:generate rm",
		"go:embed x":                       "// \"go:embed x\"",
		"Deprecated: no":                   "// \"Deprecated: no\"",
		"Restaq:step":                      "// \"Restaq:step\"",
		"- item":                           "// | - item",
		"12. item":                         "// | 12. item",
		"2 items":                          "// 2 items",
		"a\u2028\u2028b\u0000\u202e\ufeff": "// a|//|// b",
		"\u00a0 \t":                        "",
	} {
		if got := strings.Join(comment(nil, in, false), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for _, line := range comment(nil, strings.Repeat("word ", 300), false) {
		if len(line) > commentWidth+3 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

func TestTaggable(t *testing.T) {
	for name, want := range map[string]bool{"id": true, "+1": true, "a b": true, "名": true, "": false, `a"b`: false, "a,b": false, "a`b": false, `a\b`: false, "a\nb": false} {
		if got := Taggable(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// Names that another owner chose never become a line of their own.
func FuzzComment(f *testing.F) {
	f.Add("x\n*/ y", "z\u2029//go:x")
	f.Fuzz(func(t *testing.T, ours, foreign string) {
		for _, line := range comment([]string{ours}, foreign, true) {
			if line != "//" && !strings.HasPrefix(line, "// ") || strings.ContainsAny(line, "\n\r\u2028\u2029\x00") {
				t.Errorf("line %q", line)
			}
		}
	})
}
