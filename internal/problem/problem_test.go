package problem

import (
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

func sample(dir string) List {
	at := func(file string, line, column int) token.Position {
		return token.Position{Filename: filepath.Join(dir, file), Line: line, Column: column, Offset: line}
	}
	l := List{
		{Pos: at("b.go", 2, 1), Subject: "step x", Reason: "second"},
		{Pos: at("a.go", 10, 1), Reason: "no subject", Hint: "one\ntwo"},
		{Pos: at("a.go", 9, 3), Subject: "step y", Reason: "r"},
		{Reason: "no position"},
		{Pos: at("a.go", 0, 0), Reason: "whole file"},
		{Pos: at("b.go", 2, 1), Subject: "step x", Reason: "second"},
	}
	l.Sort()
	return l
}

func TestProblemsAreSortedByPositionAndPrintedRelativeToTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := sample(dir).Write(&out, dir); err != nil {
		t.Fatal(err)
	}
	want := `no position
a.go: whole file
a.go:9:3: step y: r
a.go:10:1: no subject
	hint: one
	      two
b.go:2:1: step x: second
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestJSONFormLeavesOutWhatIsUnknown(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := sample(dir)[:3].WriteJSON(&out, dir); err != nil {
		t.Fatal(err)
	}
	want := `[
  {
    "reason": "no position"
  },
  {
    "file": "a.go",
    "reason": "whole file"
  },
  {
    "file": "a.go",
    "line": 9,
    "column": 3,
    "subject": "step y",
    "reason": "r"
  }
]
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if err := (List(nil)).WriteJSON(&out, dir); err != nil || out.String() != "[]\n" {
		t.Errorf("empty list: %q, %v", out.String(), err)
	}
}

func TestFilesOutsideTheWorkingDirectoryKeepTheShorterName(t *testing.T) {
	for _, c := range []struct{ dir, file, want string }{
		{"/src/shop", "/src/shop/a/b.go", "a/b.go"},
		{"/src/shop/cmd", "/src/shop/a.go", "../a.go"},
		{"/home/someone/deep/down", "/x/a.go", "/x/a.go"},
		{"", "/x/a.go", "/x/a.go"},
		{"/src", "a.go", "a.go"},
	} {
		if got := relative(filepath.FromSlash(c.dir), filepath.FromSlash(c.file)); filepath.ToSlash(got) != c.want {
			t.Errorf("relative(%q, %q) = %q, want %q", c.dir, c.file, got, c.want)
		}
	}
}
