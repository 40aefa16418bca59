package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The schemas that are committed are what the pinned specifications give: nothing
// in them is changed by hand, and a refresh of nothing changes nothing.
func TestCommittedSchemasComeFromTheSpecifications(t *testing.T) {
	for _, spec := range specifications {
		t.Run(spec.provider, func(t *testing.T) {
			dir := t.TempDir()
			if err := spec.refresh(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			committed := filepath.Join("..", "..", "schemas", spec.provider)
			want, got := schemasIn(t, committed), schemasIn(t, dir)
			for name, text := range got {
				if !bytes.Equal(text, want[name]) {
					t.Errorf("%s is not what the specification gives: run make schemas", filepath.Join(committed, name))
				}
			}
			for name, text := range want {
				if got[name] == nil {
					t.Errorf("%s comes from nowhere", filepath.Join(committed, name))
				}
				for _, prose := range []string{`"description"`, `"title"`, `"summary"`, `"examples"`, `"$comment"`} {
					// A property may be called so; then its value is a schema.
					if i := bytes.Index(text, []byte(prose+`: "`)); i >= 0 {
						t.Errorf("%s has prose: %s", name, text[i:min(i+80, len(text))])
					}
				}
			}
			if len(got) < 60 {
				t.Errorf("%d files", len(got))
			}
		})
	}
}

// What is no longer in a specification goes, but for the options of the package.
func TestRefreshRemovesWhatIsGone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"gone.json", "restaq.events.json", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := specifications[0].refresh(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"gone.json": false, "restaq.events.json": true, "notes.txt": true, "push.json": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func schemasIn(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if base := filepath.Base(name); !strings.HasPrefix(base, "restaq.") {
			if files[base], err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}
