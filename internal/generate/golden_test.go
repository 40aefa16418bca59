package generate_test

import (
	"bytes"
	"context"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/load"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/pgtest"
)

var update = flag.Bool("update", false, "record golden files and what the golden programs print")

// TestGolden generates for the packages below testdata/golden, compares with
// the files there, builds the programs, runs them, and compares what they print
// with want.txt. With -update new files are recorded only after the programs
// were built and ran.
func TestGolden(t *testing.T) {
	root, err := filepath.Abs("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	goldenProvider(t, filepath.Join(root, "provider"))
	result, problems := generate.Packages(context.Background(), load.Config{Dir: root, Patterns: []string{"./..."}}, generate.Options{Fresh: true})
	for _, p := range problems {
		t.Error(p)
	}
	if t.Failed() {
		return
	}
	changes, errs := output.Compare(result.Files)
	for _, err := range errs {
		t.Error(err)
	}
	if len(changes) > 0 && !*update {
		for _, c := range changes {
			name, _ := filepath.Rel(root, c.Path)
			t.Errorf("differs from what is generated:\n%s", c.Diff(name))
		}
		return
	}
	for _, c := range changes {
		if err := c.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	runPrograms(t, root)
	if t.Failed() {
		restore(t, changes)
	}
}

// goldenProvider generates the event package of a provider of one's own, as the
// line for go generate in its program does.
func goldenProvider(t *testing.T, dir string) {
	out := filepath.Join(dir, "acme")
	o := events.Options{Provider: "acme", In: []string{filepath.Join(dir, "schemas")}, Earlier: os.DirFS(out)}
	generated, problems := events.Run(o)
	for _, p := range problems {
		t.Error(p)
	}
	for _, f := range generated {
		name := filepath.Join(out, f.Path)
		if *update {
			if err := os.WriteFile(name, f.Content, 0o644); err != nil {
				t.Error(err)
			}
		}
		if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, f.Content) {
			t.Errorf("%s differs from what is generated: %v", name, err)
		}
	}
}

// restore undoes changes.
func restore(t *testing.T, changes []output.Change) {
	for _, c := range changes {
		undo := output.Change{Path: c.Path, Old: c.New, New: c.Old}
		if err := undo.Commit(); err != nil {
			t.Error(err)
		}
	}
}

// runPrograms builds and runs the golden programs.
func runPrograms(t *testing.T, root string) {
	mains, err := filepath.Glob(filepath.Join(root, "*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("no golden programs: %v", err)
	}
	bin := t.TempDir() + string(filepath.Separator)
	args := []string{"build", "-o", bin}
	for _, main := range mains {
		args = append(args, filepath.Dir(main))
	}
	if out, err := command(root, "go", args...).CombinedOutput(); err != nil {
		t.Errorf("go build: %v\n%s", err, out)
		return
	}
	if out, err := command(root, "go", "vet", "./...").CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
		return
	}
	for _, main := range mains {
		dir := filepath.Dir(main)
		t.Run(filepath.Base(dir), func(t *testing.T) { runProgram(t, dir, bin+filepath.Base(dir)) })
	}
}

// runProgram runs a program and compares what it prints with dir's want.txt.
func runProgram(t *testing.T, dir, program string) {
	var stderr strings.Builder
	cmd := command(dir, program)
	cmd.Stderr = &stderr
	if filepath.Base(dir) == "transactions" {
		cmd.Env = append(os.Environ(), pgtest.Env+"="+pgtest.URL(t))
	}
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("run: %v\n%s%s", err, got, &stderr)
	}
	wantFile := filepath.Join(dir, "want.txt")
	if *update {
		if err := os.WriteFile(wantFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(wantFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

func command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd
}

// What a person reads is data and one-line calls: a wrapper decides nothing.
func TestWrappersHoldNoLogic(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*/restaq_gen.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
				t.Errorf("%s: a %T", fset.Position(n.Pos()), n)
			case *ast.BlockStmt:
				if len(n.List) > 2 {
					t.Errorf("%s: %d statements", fset.Position(n.Pos()), len(n.List))
				}
			}
			return true
		})
	}
}
