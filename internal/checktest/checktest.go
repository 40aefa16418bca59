// Package checktest runs a check over the packages under testdata, which are
// source as a user writes it: what restaqgen generates is generated for the test.
package checktest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/load"
)

// Run makes a [Module] of the caller's folder testdata and runs each analyzer
// over all packages in it, as [analysistest.RunWithSuggestedFixes] does: findings
// are held to comments // want, and what the fixes make of FILE to FILE.golden.
func Run(t *testing.T, analyzers ...*analysis.Analyzer) {
	t.Helper()
	dir := Module(t, "testdata")
	for _, a := range analyzers {
		analysistest.RunWithSuggestedFixes(t, dir, a, "./...")
	}
}

// Module copies a folder into one of the test's own, as the module example.com
// that requires this one, and generates for its packages. A package that comes
// with a restaq_gen.go keeps it: so can wrappers be written that restaqgen refuses
// to generate, as go vet meets them when the source has changed since. It returns
// the module's folder.
func Module(t *testing.T, from string) string {
	t.Helper()
	dir := Source(t, from)
	patterns, err := ungenerated(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(patterns) == 0 {
		return dir
	}
	result, problems := generate.Packages(t.Context(), load.Config{Dir: dir, Patterns: patterns}, generate.Options{Fresh: true})
	for _, p := range problems {
		t.Error(p)
	}
	if len(problems) > 0 {
		t.FailNow()
	}
	for _, f := range result.Files {
		if f.Content == nil {
			continue
		}
		if err := os.WriteFile(f.Path, f.Content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Source copies a folder as [Module] does and generates nothing.
func Source(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := WriteModule(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// WriteModule writes go.mod and go.sum of a module example.com in dir that requires
// the one that the working directory is in, from there.
func WriteModule(dir string) error {
	root, err := filepath.Abs(".")
	for err == nil {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	_, requirements, _ := strings.Cut(string(own), "\nrequire (") // two blocks, in front of the tools
	requirements, _, _ = strings.Cut(requirements, "\ntool ")
	mod := "module example.com\n\ngo 1.26.0\n\nrequire github.com/restaq/restaq v0.0.0\n\nrequire (" +
		requirements + "\nreplace github.com/restaq/restaq => " + root + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666)
}

// ungenerated returns the folders with packages that have no restaq_gen.go, as
// patterns.
func ungenerated(dir string) ([]string, error) {
	var patterns []string
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		folder := filepath.Dir(path)
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || seen[folder] {
			return err
		}
		seen[folder] = true
		if _, err := os.Stat(filepath.Join(folder, "restaq_gen.go")); err != nil {
			rel, err := filepath.Rel(dir, folder)
			patterns = append(patterns, "./"+filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	return patterns, err
}
