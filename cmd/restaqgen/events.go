package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/output"
)

// events writes an event package.
func (p *process) events(args []string) int {
	var o events.Options
	var out, dir string
	flags := p.flagSet("events")
	flags.StringVar(&o.Provider, "provider", "", "the provider, first word of every event type")
	flags.Func("in", "a schema, or a folder of schemas; may be repeated", func(s string) error {
		o.In = append(o.In, s)
		return nil
	})
	flags.StringVar(&out, "out", "", "the package's folder")
	flags.StringVar(&o.Package, "package", "", "the package's name; default: from the provider")
	flags.StringVar(&dir, "C", "", "run in this folder")
	dry := flags.Bool("n", false, "print what would be written; write nothing")
	if status, ok := p.parse(flags, args); !ok {
		return status
	}
	switch {
	case flags.NArg() > 0:
		return p.usage("events takes no arguments: schemas are given by -in")
	case o.Provider == "" || len(o.In) == 0 || out == "":
		return p.usage("events needs -provider, -in and -out")
	}
	if err := p.enter(dir); err != nil {
		return p.fail(err)
	}
	for i, in := range o.In {
		o.In[i] = p.path(in)
	}
	generated, problems := events.Run(o)
	for _, found := range problems {
		found.File = p.name(found.File)
		p.plain(found.String())
	}
	if problems.Failed() {
		return statusProblems
	}
	files, err := eventFiles(p.path(out), generated)
	if err != nil {
		return p.fail(err)
	}
	changes, errs := output.Compare(files)
	if len(errs) > 0 {
		return p.fail(errors.Join(errs...))
	}
	return p.write(changes, *dry)
}

// eventFiles are the files of an event package in its folder. Generated files
// of types that are gone should not exist.
func eventFiles(dir string, generated []events.File) ([]output.File, error) {
	var files []output.File
	wanted := map[string]bool{}
	for _, g := range generated {
		wanted[filepath.Clean(g.Path)] = true
		files = append(files, output.File{Path: filepath.Join(dir, g.Path), Content: g.Content})
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, "_gen.go") && !wanted[name] && !generate.Emits(name) {
			files = append(files, output.File{Path: filepath.Join(dir, name)})
		}
	}
	return files, nil
}
