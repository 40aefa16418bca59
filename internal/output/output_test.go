package output

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const ours = Header + "\n\npackage p\n"

func TestCompare(t *testing.T) {
	const absent = "\x00"
	tests := []struct {
		name     string
		file     string // base name; restaq_gen.go if empty
		old, new string // absent: no such file
		verb     string // "": no change; "foreign": an error
	}{
		{name: "a missing file is created", old: absent, new: ours, verb: "create"},
		{name: "an equal file is left alone", old: ours, new: ours},
		{name: "line ends of a checkout do not count", old: strings.ReplaceAll(ours, "\n", "\r\n"), new: ours},
		{name: "a stale file is updated", old: ours + "var x int\n", new: ours, verb: "update"},
		{name: "an empty file is updated", old: "", new: ours, verb: "update"},
		{name: "a broken file is updated", old: "package p\n\nfunc {", new: ours, verb: "update"},
		{name: "a conflicted file is updated", old: "<<<<<<< HEAD\n=======\n>>>>>>> b\n", new: ours, verb: "update"},
		{name: "a bare package clause is updated", old: "package p\n", new: ours, verb: "update"},
		{name: "a person's file is not overwritten", old: "package p\n\nvar mine int\n", new: ours, verb: "foreign"},
		{name: "an orphan is removed", old: ours, new: absent, verb: "remove"},
		{name: "an orphan in a merge conflict is removed", old: "<<<<<<< HEAD\n" + ours, new: absent, verb: "remove"},
		{name: "a person's file is not removed", old: "package p\n\nvar mine int\n", new: absent},
		{name: "nothing stays nothing", old: absent, new: absent},
		{name: "an orphaned lock is removed", file: "restaq.lock.json", old: "{\n  \"//\": \"Written by restaqgen\"\n}\n", new: absent, verb: "remove"},
		{name: "a person's lock is not removed", file: "restaq.lock.json", old: "{}", new: absent},
		{name: "a person's lock is not overwritten", file: "restaq.lock.json", old: "{}", new: "{ }", verb: "foreign"},
		{name: "a conflicted lock is updated", file: "restaq.lock.json", old: "<<<<<<< HEAD\n{}\n", new: "{ }", verb: "update"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.file == "" {
				tt.file = "restaq_gen.go"
			}
			path := filepath.Join(t.TempDir(), tt.file)
			if tt.old != absent {
				if err := os.WriteFile(path, []byte(tt.old), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			f := File{Path: path}
			if tt.new != absent {
				f.Content = []byte(tt.new)
			}
			changes, errs := Compare([]File{f})
			err := errors.Join(errs...)
			var foreign *ForeignError
			if tt.verb == "foreign" {
				if !errors.As(err, &foreign) || foreign.Path != path || len(changes) != 0 {
					t.Fatalf("Compare = %v, %v; want a ForeignError", changes, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tt.verb == "" {
				if len(changes) != 0 {
					t.Fatalf("Compare = %v, want no change", changes)
				}
				return
			}
			if len(changes) != 1 || changes[0].Verb() != tt.verb {
				t.Fatalf("Compare = %v, want one change: %s", changes, tt.verb)
			}
			if err := changes[0].Commit(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if tt.new == absent {
				if !errors.Is(err, os.ErrNotExist) {
					t.Fatalf("after Commit: %v, want no file", err)
				}
			} else if string(got) != tt.new {
				t.Fatalf("after Commit: %q, want %q", got, tt.new)
			}
		})
	}
}

func TestAnUnchangedFileKeepsItsTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "restaq_gen.go")
	if err := os.WriteFile(path, []byte(ours), 0o644); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	changes, errs := Compare([]File{{Path: path, Content: []byte(ours)}})
	if len(errs) != 0 || len(changes) != 0 {
		t.Fatalf("Compare = %v, %v", changes, errs)
	}
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(then) {
		t.Fatalf("mod time %v, want %v", info.ModTime(), then)
	}
}

func TestCommitKeepsModeAndLinksAndLeavesNoTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.go"), filepath.Join(dir, "restaq_gen.go")
	if err := os.WriteFile(real, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.go", link); err != nil {
		t.Fatal(err)
	}
	if err := (Change{Path: link, Old: []byte{}, New: []byte(ours)}).Commit(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(real)
	if err != nil || info.Mode() != 0o640 || info.Size() != int64(len(ours)) {
		t.Fatalf("real file: %v, %v", info, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Fatalf("link: %v, %v", info, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"real.go", "restaq_gen.go"}) {
		t.Fatalf("files left: %v", names)
	}
}

func TestDiffNamesTheAbsentSide(t *testing.T) {
	for _, tt := range []struct {
		change Change
		want   string
	}{
		{Change{New: []byte("a\n")}, "--- /dev/null\n+++ b/p/x.go\n@@ -0,0 +1,1 @@\n+a\n"},
		{Change{Old: []byte("a\n")}, "--- a/p/x.go\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"},
		{Change{Old: []byte("a\r\nb\r\n"), New: []byte("a\nc\n")}, "--- a/p/x.go\n+++ b/p/x.go\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
	} {
		got := string(tt.change.Diff("p/x.go"))
		if _, body, _ := strings.Cut(got, "\n"); body != tt.want {
			t.Errorf("Diff =\n%s\nwant\n%s", body, tt.want)
		}
	}
}
