package problem

import (
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnnotationsEscapeWhatEndsThem(t *testing.T) {
	dir := t.TempDir()
	l := List{
		{Pos: token.Position{Filename: filepath.Join(dir, "a,b:c%.go"), Line: 3, Column: 2}, Subject: "step x", Reason: "100% gone", Hint: "one\ntwo",
			Rule: "field-removed", Verdict: "needs a converter"},
		{Reason: "no position\r", Note: true},
	}
	var out strings.Builder
	if err := l.WriteGitHub(&out, dir); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a%2Cb%3Ac%25.go,line=3,col=2,title=restaq field-removed::step x: 100%25 gone [field-removed: needs a converter]%0Ahint: one%0A      two\n" +
		"::notice title=restaq::no position%0D\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	if !l.Stops() || l[1:].Stops() {
		t.Error("a note stops nothing, anything else does")
	}
}
