package dashboard

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/restaq/restaq/runtime/redact"
)

// tags are those that a tree of JSON is made of.
var tags = regexp.MustCompile(`</?(div|details|summary|bdi|mark|span)( class="[a-z ]+")?( open)?>`)

// FuzzPayload holds the view of a payload to what makes it harmless: no tag but
// its own, nothing that cannot be seen, all that is open closed again.
func FuzzPayload(f *testing.F) {
	f.Add([]byte(`{"a":[1,true,null,"<script>"],"b\u202e":{"c":{"d":{}}}}`), "script")
	f.Add([]byte(`"\u0000 </details>"`), "")
	f.Add([]byte(strings.Repeat("[", 200)+strings.Repeat("]", 200)), "x")
	f.Add([]byte("no JSON \x00\xff"), "no")
	f.Fuzz(func(t *testing.T, payload []byte, find string) {
		v, _ := viewPayload(payload, redact.Rules{}, find)
		if v.JSON != json.Valid(payload) {
			t.Fatalf("is JSON: %v", v.JSON)
		}
		text := string(v.HTML)
		for _, element := range []string{"div", "details", "summary", "bdi", "mark", "span"} {
			if strings.Count(text, "</"+element+">") != strings.Count(text, "<"+element+" ")+strings.Count(text, "<"+element+">") {
				t.Fatalf("%s is not closed in %s", element, text)
			}
		}
		rest := tags.ReplaceAllString(text, "")
		if strings.ContainsAny(rest, `<>"'`) {
			t.Fatalf("%q has markup of its own in %s", payload, rest)
		}
		shown := html.UnescapeString(rest) + v.Text
		if !utf8.ValidString(shown) || strings.ContainsFunc(shown, hidden) || strings.ContainsFunc(shown, func(r rune) bool { return r == '\r' || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Fatalf("%q shows what cannot be seen: %q", payload, shown)
		}
	})
}

func TestLargeJSONIsCutAndStillSearched(t *testing.T) {
	v := viewJSON([]byte(`[`+strings.Repeat(`"x",`, 10_000)+`"needle"]`), 3, "needle")
	if !v.cut || v.found != 1 || !strings.Contains(string(v.html), "more are in the file") {
		t.Errorf("cut %v, found %d", v.cut, v.found)
	}
	if v := viewJSON([]byte(`{"a":"`+strings.Repeat("é", 5000)+`"}`), 3, ""); !strings.Contains(string(v.html), "… (10,000 bytes)") {
		t.Error("a long string is not cut")
	}
}
