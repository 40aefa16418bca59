// Package generate is the generator in one line: load, check, emit. It is pure;
// bringing the files to disk is package output's.
package generate

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"

	"github.com/restaq/restaq/internal/check"
	"github.com/restaq/restaq/internal/graph"
	"github.com/restaq/restaq/internal/load"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/problem"
	"github.com/restaq/restaq/templates"
)

// Result is what was generated.
type Result struct {
	// Files are the files of all packages as they should be, by package and in
	// a fixed order. Those that should not exist have no content.
	Files []output.File

	// Notes are what a person should know although it stops nothing.
	Notes []Note

	// Evolutions are what the packages were and are, in the order of the files.
	Evolutions []*Evolution

	// Delegated are the types that codecs leave to encoding/json, and why.
	Delegated []string

	// Loaded is what it was generated from.
	Loaded *load.Result
}

// A Note is a remark about a file.
type Note struct{ Path, Text string }

// Options say how to generate. The zero value is for go generate.
type Options struct {
	// Fuzz adds a fuzz test of the codecs, which is kept current where it is
	// there.
	Fuzz bool

	// Fresh takes packages as if no lock file had ever been written for them.
	Fresh bool
}

// Packages generates for the packages that cfg names. With problems there are no
// files.
func Packages(ctx context.Context, cfg load.Config, o Options) (Result, problem.List) {
	loaded, problems := load.Load(ctx, cfg)
	packages, more := check.Packages(loaded.Packages, loaded.Dependencies)
	problems = append(problems, more...)
	result := Result{Loaded: loaded}
	evolutions, notes, more := evolutions(ctx, loaded.Packages, packages, o.Fresh)
	result.Notes = notes
	problems = append(problems, more...)
	for _, e := range evolutions {
		problems = append(problems, result.add(e, o.Fuzz)...)
	}
	if problems.Sort(); len(problems) > 0 {
		return Result{Notes: result.Notes}, problems
	}
	return result, nil
}

// add generates for one package.
func (r *Result) add(e *Evolution, fuzz bool) problem.List {
	p := e.pkg
	file := func(name string, content []byte) {
		r.Files = append(r.Files, output.File{Path: filepath.Join(p.Dir, name), Content: content})
	}
	r.Evolutions = append(r.Evolutions, e)
	if !p.Empty() {
		var problems problem.List
		e.source.File, e.source.Converted, problems = describe(e.src, p)
		if problems = append(problems, e.converters()...); len(problems) > 0 {
			return problems
		}
	}
	record, err := e.file(e.source)
	if err != nil {
		return problem.List{{Subject: "package " + p.Path, Reason: err.Error()}}
	}
	if p.Empty() {
		file(templates.WrapperFile, nil)
		file(templates.CodecFile, nil)
		file(templates.FuzzFile, nil)
		r.Files = append(r.Files, record)
		file(templates.GraphFile, nil)
		return nil
	}
	in := templates.Input{Package: p, Shapes: e.shapes(), Plan: templates.NewPlan(p)}
	guard(&in)
	wrappers, err := templates.Wrappers(in)
	codecs, err2 := templates.Codecs(in)
	test, err3 := fuzzTest(in, fuzz)
	flow, err4 := graph.Of(p, e.src).Encode()
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return problem.List{{Subject: "package " + p.Path, Reason: err.Error()}}
	}
	file(templates.WrapperFile, wrappers)
	file(templates.CodecFile, codecs)
	file(templates.FuzzFile, test)
	r.Files = append(r.Files, record)
	file(templates.GraphFile, flow)
	for _, c := range in.Plan.Delegated() {
		name := types.TypeString(c.Type, (*types.Package).Name)
		r.Delegated = append(r.Delegated, fmt.Sprintf("package %s: %s is left to encoding/json: %s", p.Path, name, c.Why))
	}
	return nil
}

// fuzzTest returns the fuzz test of a package's codecs, nil if it is neither
// wanted nor there.
func fuzzTest(in templates.Input, wanted bool) ([]byte, error) {
	if _, err := os.Stat(filepath.Join(in.Package.Dir, templates.FuzzFile)); err != nil && !wanted {
		return nil, nil
	}
	return templates.Fuzz(in)
}

// Emits reports whether a Go file of this base name is one that Packages writes.
func Emits(name string) bool {
	return name == templates.WrapperFile || name == templates.CodecFile || name == templates.FuzzFile
}
