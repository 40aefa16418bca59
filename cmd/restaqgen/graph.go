package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/graph"
	"github.com/restaq/restaq/internal/marker"
	"github.com/restaq/restaq/internal/output"
)

// graph draws what handlers do.
func (p *process) graph(args []string) int {
	var s settings
	flags := p.flagSet("graph")
	flags.StringVar(&s.tags, "tags", "", "build tags, separated by commas")
	flags.StringVar(&s.dir, "C", "", "run in this folder")
	format := flags.String("format", "", "mermaid, dot, svg or json; default: as the ending of -o says, else mermaid")
	out := flags.String("o", "", "write this file; default: print")
	handler := flags.String("handler", "", "the one handler to draw, by its name; default: all")
	if status, ok := p.parse(flags, args); !ok {
		return status
	}
	draw, err := drawer(*format, *out)
	if err != nil {
		return p.usage("%v", err)
	}
	if err := p.enter(s.dir); err != nil {
		return p.fail(err)
	}
	cfg := p.load(s, flags.Args())
	graphs, problems := generate.ReadGraphs(context.Background(), cfg)
	if status := p.report(s, problems); status != statusOK {
		return status
	}
	if graphs, err = only(graphs, *handler, cfg.Patterns); err != nil {
		return p.fail(err)
	}
	text, err := draw(graphs)
	if err == nil && *out == "" {
		_, err = p.stdout.Write(text)
	} else if err == nil {
		err = writeGraph(p.path(*out), text)
	}
	if err != nil {
		return p.fail(err)
	}
	return statusOK
}

// drawer returns the function that draws in a format, which is taken from the
// ending of the file's name if it is not given.
func drawer(format, file string) (func([]*graph.Graph) ([]byte, error), error) {
	plain := func(draw func([]*graph.Graph) []byte) func([]*graph.Graph) ([]byte, error) {
		return func(graphs []*graph.Graph) ([]byte, error) { return draw(graphs), nil }
	}
	if format == "" {
		format = strings.TrimPrefix(filepath.Ext(file), ".")
	}
	switch format {
	case "mermaid", "mmd":
		return plain(graph.Mermaid), nil
	case "dot", "gv":
		return plain(graph.DOT), nil
	case "svg":
		return plain(graph.SVG), nil
	case "json":
		return graph.JSON, nil
	case "":
		if file == "" {
			return plain(graph.Mermaid), nil
		}
	}
	if format == "" {
		return nil, fmt.Errorf("-o %s does not say the format: give -format mermaid, dot, svg or json", file)
	}
	return nil, fmt.Errorf("no format %q: there are mermaid, dot, svg and json", format)
}

// only returns the graphs less all handlers but the one of a name, unless that
// is empty.
func only(graphs []*graph.Graph, name string, patterns []string) ([]*graph.Graph, error) {
	var names []string
	for _, g := range graphs {
		if h := g.Handlers[name]; h != nil {
			return []*graph.Graph{{Package: g.Package, Handlers: map[string]*graph.Handler{name: h}}}, nil
		}
		names = append(names, g.Names()...)
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s: no handlers there", strings.Join(patterns, " "))
	case name == "":
		return graphs, nil
	}
	slices.Sort(names)
	if near := marker.Nearest(name, names); near != "" {
		return nil, fmt.Errorf("no handler %q: did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("no handler %q: there are %s", name, strings.Join(names, ", "))
}

// writeGraph writes a file, unless that is what it holds.
func writeGraph(path string, text []byte) error {
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, text) {
		return nil
	}
	return output.Change{Path: path, Old: old, New: text}.Commit()
}
