package check_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/check"
	"github.com/restaq/restaq/internal/load"
	"github.com/restaq/restaq/internal/model"
	"github.com/restaq/restaq/internal/problem"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPackages loads all packages under testdata at once. What is wrong with a
// package is compared with its problems.txt, what is known of it with its
// model.txt.
func TestPackages(t *testing.T) {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	loaded, problems := load.Load(t.Context(), load.Config{Dir: dir, Patterns: []string{"./..."}})
	packages, more := check.Packages(loaded.Packages, loaded.Dependencies)
	problems = append(problems, more...)
	problems.Sort()
	if len(packages) == 0 {
		t.Fatal("no packages")
	}
	found := map[string]problem.List{}
	for _, p := range problems {
		found[filepath.Dir(p.Pos.Filename)] = append(found[filepath.Dir(p.Pos.Filename)], p)
	}
	for _, p := range packages {
		t.Run(filepath.Base(p.Dir), func(t *testing.T) {
			var b strings.Builder
			if err := found[p.Dir].Write(&b, p.Dir); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join(p.Dir, "problems.txt"), b.String())
			golden(t, filepath.Join(p.Dir, "model.txt"), describe(p))
		})
		delete(found, p.Dir)
	}
	for dir, list := range found {
		t.Errorf("problems elsewhere, in %q: %v", dir, list)
	}
}

// golden compares got with a file, which is absent if got is empty.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		err := os.Remove(file)
		if got != "" {
			err = os.WriteFile(file, []byte(got), 0o644)
		}
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it anew): got\n%s\nwant\n%s", filepath.Base(file), got, want)
	}
}

// describe writes a package's model as text.
func describe(p *model.Package) string {
	if p.Empty() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "package %s, word %s\n", p.Name, p.Word)
	if p.Constraint != "" {
		fmt.Fprintf(&b, "constraint %s\n", p.Constraint)
	}
	for _, e := range p.Events {
		fmt.Fprintf(&b, "event %s %s %s\n", e.Obj.Name(), e.Type, e.Const)
	}
	for _, g := range p.Groups {
		if g.Type == nil {
			b.WriteString("functions\n")
		} else {
			fmt.Fprintf(&b, "receiver %s %s pointer=%t\n", g.Param, g.Type.Name(), g.Pointer)
		}
		for _, h := range g.Handlers {
			fmt.Fprintf(&b, "  handler %s: %s(%s, %s %s) kind=%d stem=%s", h.FullName, describeFunc(&h.Func), h.Ctx, h.Param, h.Event, h.Kind, h.Stem)
			for _, e := range h.Events {
				fmt.Fprintf(&b, " %s", e.Type)
				if e.Const != "" {
					fmt.Fprintf(&b, "(%s.%s)", e.Package, e.Const)
				}
			}
			if h.Decoder != "" {
				fmt.Fprintf(&b, " decoder=%s", h.Decoder)
			}
			describeWas(&b, h.Was)
			describeRest(&b, "order", h.Order, h.Attempts, h.Backoff, h.Timeout.String())
		}
		for _, s := range g.Steps {
			fmt.Fprintf(&b, "  step %s: %s(%s", s.Record, describeFunc(&s.Func), s.Ctx)
			if s.Tx != model.NoTx {
				fmt.Fprintf(&b, ", tx %s", s.TxType)
			}
			for _, in := range s.Inputs {
				fmt.Fprintf(&b, ", %s %s", in.Name, in.Type)
			}
			fmt.Fprintf(&b, ") %v wrapper=%s stem=%s", s.Output, s.Wrapper, s.Stem)
			if s.Pure {
				b.WriteString(" pure")
			}
			describeWas(&b, s.Was)
			for _, conv := range s.Converters {
				fmt.Fprintf(&b, " converter=%s(%s)", conv.Name, conv.From)
			}
			describeRest(&b, "key", s.Key, s.Attempts, s.Backoff, s.Timeout.String())
		}
	}
	return strings.ReplaceAll(b.String(), "github.com/restaq/restaq/", "…/")
}

func describeWas(b *strings.Builder, was []string) {
	for _, old := range was {
		fmt.Fprintf(b, " was=%s", old)
	}
}

func describeFunc(f *model.Func) string {
	if f.Recv == nil {
		return f.Name
	}
	star := ""
	if f.RecvPointer {
		star = "*"
	}
	return fmt.Sprintf("(%s %s%s).%s", f.RecvParam, star, f.Recv.Name(), f.Name)
}

func describeRest(b *strings.Builder, option string, e *model.Expr, attempts int, backoff model.Backoff, timeout string) {
	if e != nil {
		fmt.Fprintf(b, " %s=%s result=%d parts=%+v", option, e, e.Result, e.Parts)
	}
	if attempts != 0 {
		fmt.Fprintf(b, " attempts=%d", attempts)
	}
	if backoff != (model.Backoff{}) {
		fmt.Fprintf(b, " backoff=%s..%s", backoff.Min, backoff.Max)
	}
	if timeout != "0s" {
		fmt.Fprintf(b, " timeout=%s", timeout)
	}
	b.WriteString("\n")
}
