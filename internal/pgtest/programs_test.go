//go:build linux || darwin || freebsd

package pgtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	const all = "initdb pg_ctl postgres"
	for _, test := range []struct {
		name    string
		folders map[string]string // folder → programs in it
		path    string            // folders on PATH
		want    string
	}{
		{"nothing", nil, "", ""},
		{"on PATH", map[string]string{"a": "psql", "b": all, "c": all}, "a b c", "b"},
		{"on PATH before Debian's", map[string]string{"a": all, "pg/15/bin": all}, "a", "a"},
		{"Debian's newest", map[string]string{"pg/9.6/bin": all, "pg/15/bin": all, "pg/8/bin": all}, "", "pg/15/bin"},
		{"only the client's programs", map[string]string{"a": "psql pg_dump", "pg/15/bin": "psql"}, "a", ""},
		{"newest has only the client", map[string]string{"pg/17/bin": "psql pg_ctl", "pg/15/bin": all}, "", "pg/15/bin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			for folder, names := range test.folders {
				if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
					t.Fatal(err)
				}
				for name := range strings.FieldsSeq(names) {
					if err := os.WriteFile(filepath.Join(root, folder, name), nil, 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			var path []string
			for folder := range strings.FieldsSeq(test.path) {
				path = append(path, filepath.Join(root, folder))
			}
			want := programs("")
			if test.want != "" {
				want = programs(filepath.Join(root, test.want))
			}
			got, ok := find(strings.Join(path, string(filepath.ListSeparator)), filepath.Join(root, "pg/*/bin"))
			if got != want || ok != (want != "") {
				t.Errorf("found %q, %t, want %q", got, ok, want)
			}
		})
	}
}
