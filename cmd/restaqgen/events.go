package main

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/schema"
	"github.com/restaq/restaq/schemas"
)

// eventFlags are the flags of the verb events.
type eventFlags struct {
	events.Options
	out, dir    string
	dry, report bool
}

func (e *eventFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&e.Provider, "provider", "", "the provider, first word of every event type")
	flags.Func("in", "a schema, or a folder of schemas; may be repeated", func(s string) error {
		e.In = append(e.In, s)
		return nil
	})
	flags.Func("only", "patterns of event types, separated by commas; may be repeated", func(s string) error {
		for p := range strings.SplitSeq(s, ",") {
			if p = strings.TrimSpace(p); p != "" {
				e.Only = append(e.Only, p)
			}
		}
		return nil
	})
	flags.StringVar(&e.out, "out", "", "the package's folder")
	flags.StringVar(&e.Package, "package", "", "the package's name; default: from the provider")
	flags.BoolVar(&e.report, "report", false, "print how schemas were read, and where Go types say less than they do")
	flags.StringVar(&e.dir, "C", "", "run in this folder")
	flags.BoolVar(&e.dry, "n", false, "print what would be written; write nothing")
}

// events writes an event package.
func (p *process) events(args []string) int {
	var e eventFlags
	flags := p.flagSet("events")
	e.define(flags)
	if status, ok := p.parse(flags, args); !ok {
		return status
	}
	switch {
	case flags.NArg() > 0:
		return p.usage("events takes no arguments: schemas are given by -in")
	case e.out == "":
		return p.usage("events needs -out")
	case e.Provider == "" && (len(e.In) > 0 || len(e.Only) > 0 || e.Package != ""):
		return p.usage("events needs -provider")
	}
	if err := p.enter(e.dir); err != nil {
		return p.fail(err)
	}
	out := p.path(e.out)
	for i, in := range e.In {
		e.In[i] = p.path(in)
	}
	if e.Provider == "" { // what the package was made of before
		saved, err := events.ReadSettings(out)
		if errors.Is(err, fs.ErrNotExist) {
			return p.usage("events needs -provider: %s has no %s to take it from", e.out, events.SettingsFile)
		}
		if err != nil {
			return p.fail(err)
		}
		e.Options = saved
	}
	return p.generateEvents(e, out)
}

// generateEvents generates and writes an event package.
func (p *process) generateEvents(e eventFlags, out string) int {
	files, problems, err := eventFiles(e.Options, out)
	for _, found := range problems {
		if !found.Widened { // those are the report's
			found.File = p.name(found.File)
			p.plain(found.String())
		}
	}
	if problems.Failed() {
		return statusProblems
	}
	if err != nil {
		return p.fail(err)
	}
	if e.report {
		e.Shipped = schemas.Files
		if err := events.Report(p.stdout, e.Options, problems, p.name); err != nil {
			return p.fail(err)
		}
	}
	changes, errs := output.Compare(files)
	if len(errs) > 0 {
		return p.fail(errors.Join(errs...))
	}
	widened := 0
	for _, found := range problems {
		if found.Widened {
			widened++
		}
	}
	if widened > 0 && len(changes) > 0 && !e.report {
		p.say("Go types say less than the schemas in %s: -report lists them", count(widened, "place", "places"))
	}
	return p.write(changes, e.dry)
}

// eventFiles are the files of an event package in its folder. Generated files
// of types that are gone should not exist.
func eventFiles(o events.Options, dir string) ([]output.File, schema.Problems, error) {
	o.Shipped, o.Earlier = schemas.Files, os.DirFS(dir)
	generated, problems := events.Run(o)
	if problems.Failed() {
		return nil, problems, nil
	}
	saved, err := o.Settings(dir)
	if err != nil {
		return nil, problems, err
	}
	files := []output.File{{Path: filepath.Join(dir, events.SettingsFile), Content: saved}}
	wanted := map[string]bool{}
	for _, g := range generated {
		wanted[filepath.Clean(g.Path)] = true
		files = append(files, output.File{Path: filepath.Join(dir, g.Path), Content: g.Content})
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, problems, err
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, "_gen.go") && !wanted[name] && !generate.Emits(name) {
			files = append(files, output.File{Path: filepath.Join(dir, name)})
		}
	}
	return files, problems, nil
}
