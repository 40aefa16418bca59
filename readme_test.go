package restaq_test

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// blocks returns the code blocks of a section of README.md, which must be of
// the given kinds.
func blocks(t *testing.T, heading string, kinds ...string) []string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(readme), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("README.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var texts, have []string
	for _, m := range fence.FindAllStringSubmatch(section, -1) {
		have = append(have, m[1])
		texts = append(texts, m[2])
	}
	if !slices.Equal(have, kinds) {
		t.Fatalf("README.md, section %q: the code blocks are of the kinds %q; this test wants %q", heading, have, kinds)
	}
	return texts
}

// TestReadmeShowsTheExample holds what README.md shows to the program that it
// is taken from: the marked functions and what the demo prints.
func TestReadmeShowsTheExample(t *testing.T) {
	texts := blocks(t, "What you write", "go", "")
	shown := functions(t, "README.md", strings.ReplaceAll(texts[0], "{ … }", "{}"))
	source, err := os.ReadFile(filepath.Join("examples", "billing", "billing.go"))
	if err != nil {
		t.Fatal(err)
	}
	real := functions(t, "billing.go", string(source))
	if have, want := slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(real)); !slices.Equal(have, want) {
		t.Errorf("README.md shows the functions %q; the example has %q", have, want)
	}
	for name, text := range shown {
		want := real[name]
		if strings.HasSuffix(text, "{}") { // the body is left out
			want, _, _ = strings.Cut(want, " {\n")
			want += " {}"
		}
		if text != want {
			t.Errorf("README.md shows:\n%s\nthe example has, log lines left out:\n%s", text, want)
		}
	}

	_, tree, _ := strings.Cut(texts[1], "\n") // after the command
	tree = regexp.MustCompile(`[0-9a-f-]{36}`).ReplaceAllString(tree, "ID")
	demo, err := os.ReadFile(filepath.Join("examples", "billing", "demo_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(demo), "\n\n"+tree+"\n") {
		t.Errorf("README.md shows this history, which the demo does not print:\n%s", tree)
	}
}

// What README.md may leave out: log lines, the long form of a last step, and the
// values of a marker's options (the demo is in a hurry).
var (
	logLine  = regexp.MustCompile(`(?m)^\trestaq\.Logger\(ctx\)\..*\n`)
	lastStep = regexp.MustCompile(`\tif err := (.*); err != nil \{\n\t\treturn err\n\t\}\n\treturn nil\n\}$`)
	option   = regexp.MustCompile(`=\S+`)
)

// functions returns the functions of a Go file that have markers, by name: their
// markers, without the options' values, and their code.
func functions(t *testing.T, name, source string) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Doc == nil {
			continue
		}
		var markers string
		for _, comment := range f.Doc.List {
			if strings.HasPrefix(comment.Text, "//restaq:") {
				markers += option.ReplaceAllString(comment.Text, "=") + "\n"
			}
		}
		if markers == "" {
			continue
		}
		f.Doc = nil
		var code bytes.Buffer
		if err := format.Node(&code, files, f); err != nil {
			t.Fatal(err)
		}
		text := logLine.ReplaceAllString(code.String(), "")
		found[f.Name.Name] = markers + lastStep.ReplaceAllString(text, "\treturn $1\n}")
	}
	return found
}
