package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/output"
)

// schema writes the JSON Schemas of events that a person declared in Go, and of
// what steps take and return.
func (p *process) schema(args []string) int {
	var s settings
	var out string
	flags := p.flagSet("schema")
	s.define(flags)
	flags.StringVar(&out, "out", "", "write files into this folder; default: print")
	dry := flags.Bool("n", false, "print what would be written; write nothing")
	if status, ok := p.parse(flags, args); !ok {
		return status
	}
	if *dry && out == "" {
		return p.usage("-n goes with -out")
	}
	if err := p.enter(s.dir); err != nil {
		return p.fail(err)
	}
	schemas, problems := generate.ReadSchemas(context.Background(), p.load(s, flags.Args()))
	if status := p.report(s, problems); status != statusOK {
		return status
	}
	if out == "" {
		text, err := schemas.Text()
		if err == nil {
			_, err = p.stdout.Write(text)
		}
		if err != nil {
			return p.fail(err)
		}
		return statusOK
	}
	changes, err := schemaChanges(schemas, p.path(out))
	if err != nil {
		return p.fail(err)
	}
	return p.write(changes, *dry)
}

// schemaChanges returns what is to be written to a folder: a file for each event
// type, below its provider's name, as restaqgen events reads them, and one for
// all steps, which it passes over.
func schemaChanges(schemas generate.Schemas, dir string) ([]output.Change, error) {
	var files []output.File
	for _, e := range schemas.Events {
		text, err := e.Text()
		if err != nil {
			return nil, err
		}
		provider, name, _ := strings.Cut(e.Type, ".")
		files = append(files, output.File{Path: filepath.Join(dir, provider, name+".json"), Content: text})
	}
	if schemas.Events = nil; len(schemas.Steps) > 0 {
		text, err := schemas.Text()
		if err != nil {
			return nil, err
		}
		files = append(files, output.File{Path: filepath.Join(dir, "restaq.steps.json"), Content: text})
	}
	changes, errs := output.Compare(files)
	return changes, errors.Join(errs...)
}
