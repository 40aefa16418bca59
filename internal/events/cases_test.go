package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/schema"
)

// Each case in testdata is a provider:
//
//	*.json      its schemas; *.yaml too
//	only        patterns of the event types that are wanted, one a line
//	problems    what is reported, one line each
//	instances   payloads: EVENT JSON, and where encoding gives something else,
//	            => JSON on the next line; => error TEXT where decoding refuses it
//	validate    payloads: EVENT JSON, and what Validate says of them:
//	            => POINTER KEYWORD on a line for each deviation
//	check.go    a function Check() error in the generated package
//	want/*.go   the generated files; -update writes them
//
// Those in testdata/cases are inputs on which other generators are known to fail.
// They are not compared with golden files: what counts is that the output compiles
// and what becomes of the instances.
//
// The generated packages are vetted, built and run together in a module of their
// own.
func TestCases(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	known, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(known) == 0 {
		t.Fatal("no cases", err)
	}
	names = append(names, known...)
	m := newModule(t)
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		about, _, _ := strings.Cut(string(archive.Comment), ".\n")
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+" "+about, func(t *testing.T) { m.add(t, name, archive) })
	}
	m.run(t)
}

// add generates one case, compares it, and adds it to the module.
func (m *module) add(t *testing.T, name string, archive *txtar.Archive) {
	pkg := strings.TrimSuffix(filepath.Base(name), ".txtar")
	c := testcase{pkg: pkg}
	options := events.Options{Provider: pkg, Package: pkg}
	var in []schema.File
	var wantProblems string
	want := map[string][]byte{}
	for _, f := range archive.Files {
		switch {
		case filepath.Ext(f.Name) == ".json", filepath.Ext(f.Name) == ".yaml":
			in = append(in, schema.File{Path: f.Name, Data: f.Data})
		case f.Name == "only":
			options.Only = strings.Fields(string(f.Data))
		case f.Name == "problems":
			wantProblems = string(f.Data)
		case f.Name == "instances":
			c.instances = parseInstances(t, f.Data)
		case f.Name == "validate":
			c.strict = parseStrict(t, f.Data)
		case f.Name == "check.go":
			c.check = f.Data
		case strings.HasPrefix(f.Name, "want/"):
			want[strings.TrimPrefix(f.Name, "want/")] = f.Data
		default:
			t.Fatalf("unknown section %s", f.Name)
		}
	}
	files, problems := events.Generate(options, in)
	if again, _ := events.Generate(options, in); !slices.EqualFunc(files, again, func(a, b events.File) bool { return a.Path == b.Path && bytes.Equal(a.Content, b.Content) }) {
		t.Error("a second run gave other bytes")
	}
	var text strings.Builder
	for _, p := range problems {
		fmt.Fprintln(&text, p)
	}
	golden := files
	if filepath.Base(filepath.Dir(name)) == "cases" {
		want, golden = nil, nil
	}
	if *update {
		rewrite(t, name, archive, golden, text.String())
		want, wantProblems = nil, text.String()
	}
	if text.String() != wantProblems {
		t.Errorf("problems:\n%swant:\n%s", text.String(), wantProblems)
	}
	for _, f := range files {
		formatted, err := format.Source(f.Content)
		if err != nil || !bytes.Equal(formatted, f.Content) {
			t.Errorf("%s is not formatted: %v", f.Path, err)
		}
		if want != nil && !bytes.Equal(f.Content, want[f.Path]) {
			t.Errorf("%s differs from the golden file; got:\n%s", f.Path, f.Content)
		}
		delete(want, f.Path)
	}
	for name := range want {
		t.Errorf("%s was not generated", name)
	}
	if c.files = files; len(files) > 0 {
		m.cases = append(m.cases, c)
	} else if len(c.instances)+len(c.strict) > 0 || c.check != nil {
		t.Error("there is no package to try the instances with")
	}
}

func rewrite(t *testing.T, name string, archive *txtar.Archive, files []events.File, problems string) {
	kept := slices.DeleteFunc(slices.Clone(archive.Files), func(f txtar.File) bool {
		return f.Name == "problems" || strings.HasPrefix(f.Name, "want/")
	})
	if problems != "" {
		kept = append(kept, txtar.File{Name: "problems", Data: []byte(problems)})
	}
	for _, f := range files {
		kept = append(kept, txtar.File{Name: "want/" + f.Path, Data: f.Content})
	}
	if err := os.WriteFile(name, txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: kept}), 0o644); err != nil {
		t.Fatal(err)
	}
}

// instance is a payload and what becomes of it.
type instance struct {
	Event, JSON string
	Want        string // what it encodes to
	Error       string // what the error says, if it is refused
}

func parseInstances(t *testing.T, data []byte) []instance {
	var list []instance
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "=> error "); ok {
			list[len(list)-1].Error = rest
		} else if rest, ok := strings.CutPrefix(line, "=> "); ok {
			list[len(list)-1].Want = rest
		} else if line != "" {
			event, payload, ok := strings.Cut(line, " ")
			if !ok || !json.Valid([]byte(payload)) {
				t.Fatalf("instance %q", line)
			}
			list = append(list, instance{Event: event, JSON: payload, Want: payload})
		}
	}
	return list
}

// strict is a payload and how it deviates from its schema.
type strict struct {
	Event, JSON string
	Want        string // POINTER KEYWORD, several joined by "; "
}

func parseStrict(t *testing.T, data []byte) []strict {
	var list []strict
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if deviation, ok := strings.CutPrefix(line, "=> "); ok {
			last := &list[len(list)-1]
			last.Want = strings.TrimPrefix(last.Want+"; "+deviation, "; ")
		} else if line != "" {
			event, payload, ok := strings.Cut(line, " ")
			if !ok || !json.Valid([]byte(payload)) {
				t.Fatalf("instance %q", line)
			}
			list = append(list, strict{Event: event, JSON: payload})
		}
	}
	return list
}

type testcase struct {
	pkg       string
	files     []events.File
	instances []instance
	strict    []strict
	check     []byte
}

// module is a Go module with the generated packages, runtime/payload and what it
// imports, and a program that decodes and encodes the instances.
type module struct {
	dir   string
	cases []testcase
}

func newModule(t *testing.T) *module {
	m := &module{dir: t.TempDir()}
	m.write(t, "go.mod", []byte("module github.com/restaq/restaq\n\ngo 1.26\n"))
	var sources []string
	for _, pkg := range []string{"codec", "payload", "validate"} {
		found, err := filepath.Glob("../../runtime/" + pkg + "/*.go")
		if err != nil || len(found) == 0 {
			t.Fatal("no sources", err)
		}
		sources = append(sources, found...)
	}
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m.write(t, strings.TrimPrefix(filepath.ToSlash(name), "../../"), data)
	}
	return m
}

func (m *module) write(t *testing.T, name string, data []byte) {
	t.Helper()
	name = filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// run vets, builds and runs the module, and compares what became of the
// instances.
func (m *module) run(t *testing.T) {
	var imports, table strings.Builder
	for _, c := range m.cases {
		for _, f := range c.files {
			m.write(t, c.pkg+"/"+f.Path, f.Content)
		}
		fmt.Fprintf(&imports, "\t%q\n", "github.com/restaq/restaq/"+c.pkg)
		if c.check != nil {
			m.write(t, c.pkg+"/check.go", c.check)
			fmt.Fprintf(&table, "\tcheck(%q, %s.Check)\n", c.pkg, c.pkg)
		}
		for _, in := range c.instances {
			fmt.Fprintf(&table, "\ttry(%s.Decode, %q, %q)\n", c.pkg, c.pkg+"."+in.Event, in.JSON)
		}
		for _, in := range c.strict {
			fmt.Fprintf(&table, "\tstrict(%s.Validate, %q, %q)\n", c.pkg, c.pkg+"."+in.Event, in.JSON)
		}
	}
	m.write(t, "main.go", []byte("package main\n\nimport (\n\t\"encoding/json\"\n\t\"errors\"\n\t\"fmt\"\n\t\"strings\"\n\n\t\"github.com/restaq/restaq/runtime/validate\"\n"+imports.String()+")\n\nfunc main() {\n"+table.String()+"}\n"+program))
	for _, args := range [][]string{{"vet", "./..."}, {"build", "-o", "program", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = m.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
	cmd := exec.Command(filepath.Join(m.dir, "program"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	next := func() string {
		if len(lines) == 0 {
			return "nothing"
		}
		line := lines[0]
		lines = lines[1:]
		return line
	}
	for _, c := range m.cases {
		if c.check != nil {
			if got := next(); got != "ok" {
				t.Errorf("%s: %s", c.pkg, got)
			}
		}
		for _, in := range c.instances {
			got := next()
			switch {
			case in.Error != "":
				if !strings.HasPrefix(got, "error ") || !strings.Contains(got, in.Error) {
					t.Errorf("%s.%s %s\n got %s\nwant error %s", c.pkg, in.Event, in.JSON, got, in.Error)
				}
			case got != in.Want:
				t.Errorf("%s.%s %s\n got %s\nwant %s", c.pkg, in.Event, in.JSON, got, in.Want)
			}
		}
		for _, in := range c.strict {
			if got := next(); got != in.Want {
				t.Errorf("%s.%s %s\n got %s\nwant %s", c.pkg, in.Event, in.JSON, got, in.Want)
			}
		}
	}
}

const program = `
func check(name string, f func() error) {
	if err := f(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ok")
}

func try(decode func(string, []byte) (any, error), event, data string) {
	v, err := decode(event, []byte(data))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	out, err := json.Marshal(v)
	if err != nil {
		fmt.Println("encode", err)
		return
	}
	fmt.Println(string(out))
}

func strict(check func(string, []byte) error, event, data string) {
	err := check(event, []byte(data))
	deviates, ok := errors.AsType[*validate.Error](err)
	if err != nil && !ok {
		fmt.Println("error", err)
		return
	}
	var list []string
	if ok {
		for _, d := range deviates.Deviations {
			list = append(list, strings.TrimSpace(d.Pointer+" "+d.Keyword))
		}
	}
	fmt.Println(strings.Join(list, "; "))
}
`
