package graph_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/check"
	"github.com/restaq/restaq/internal/graph"
	"github.com/restaq/restaq/internal/load"
)

var update = flag.Bool("update", false, "record golden files")

// graphs returns the graphs of the packages of a folder that have handlers, in
// the order of their paths, and their folders.
func graphs(t testing.TB, dir string, patterns ...string) (all []*graph.Graph, dirs []string) {
	t.Helper()
	loaded, problems := load.Load(context.Background(), load.Config{Dir: dir, Patterns: patterns})
	packages, more := check.Packages(loaded.Packages, loaded.Dependencies)
	for _, p := range append(problems, more...) {
		t.Error(p)
	}
	for i, p := range packages {
		if g := graph.Of(p, loaded.Packages[i]); len(g.Handlers) > 0 {
			all, dirs = append(all, g), append(dirs, p.Dir)
		}
	}
	if len(all) == 0 {
		t.Fatal("no handlers")
	}
	return all, dirs
}

// TestOutline compares the graphs of the packages below testdata with the
// outlines there, which say the same as restaq.graph.json in fewer lines.
func TestOutline(t *testing.T) {
	all, dirs := graphs(t, "testdata", "./...")
	for i, g := range all {
		golden(t, filepath.Join(dirs[i], "outline.txt"), []byte(outline(g)))
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// outline is a graph as indented text.
func outline(g *graph.Graph) string {
	var b strings.Builder
	for _, name := range g.Names() {
		h := g.Handlers[name]
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(h.Events, " "))
		nodes(&b, h.Flow, "\t")
	}
	return b.String()
}

func nodes(b *strings.Builder, list []*graph.Node, indent string) {
	for _, n := range list {
		fmt.Fprintf(b, "%s%s", indent, n.Kind)
		for _, part := range []string{n.Name, n.Text} {
			if part != "" {
				fmt.Fprintf(b, " %s", part)
			}
		}
		for _, flag := range []struct {
			is   bool
			word string
		}{{n.Fails, " fails"}, {n.Many, " many"}, {n.Endless, " endless"}} {
			if flag.is {
				b.WriteString(flag.word)
			}
		}
		b.WriteByte('\n')
		for _, c := range n.Cases {
			when := "else"
			if c.When != "" {
				when = "when " + c.When
			}
			if c.Falls {
				when += " falls"
			}
			fmt.Fprintf(b, "%s%s\n", indent+"  ", when)
			nodes(b, c.Body, indent+"\t")
		}
		nodes(b, n.Body, indent+"\t")
	}
}

// TestDrawings compares the drawings of the packages below testdata with those
// there.
func TestDrawings(t *testing.T) {
	all, dirs := graphs(t, "testdata", "./...")
	for i, g := range all {
		one := []*graph.Graph{g}
		golden(t, filepath.Join(dirs[i], "graph.mmd"), graph.Mermaid(one))
		golden(t, filepath.Join(dirs[i], "graph.dot"), graph.DOT(one))
		golden(t, filepath.Join(dirs[i], "graph.svg"), graph.SVG(one))
	}
}
