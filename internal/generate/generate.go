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
	"github.com/restaq/restaq/internal/lock"
	"github.com/restaq/restaq/internal/model"
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

	// Delegated are the types that codecs leave to encoding/json, and why.
	Delegated []string

	// Loaded is what it was generated from.
	Loaded *load.Result
}

// A Note is a remark about a file.
type Note struct{ Path, Text string }

// Packages generates for the packages that cfg names, if fuzz says so with a
// fuzz test of the codecs, which is kept current where it is there. With
// problems there are no files.
func Packages(ctx context.Context, cfg load.Config, fuzz bool) (Result, problem.List) {
	loaded, problems := load.Load(ctx, cfg)
	packages, more := check.Packages(loaded.Packages, loaded.Dependencies)
	problems = append(problems, more...)
	result := Result{Loaded: loaded}
	for i, p := range packages {
		problems = append(problems, result.add(p, loaded.Packages[i], fuzz)...)
	}
	if problems.Sort(); len(problems) > 0 {
		return Result{Notes: result.Notes}, problems
	}
	return result, nil
}

// add generates for one package, which was built from source.
func (r *Result) add(p *model.Package, source *model.Source, fuzz bool) problem.List {
	file := func(name string, content []byte) {
		r.Files = append(r.Files, output.File{Path: filepath.Join(p.Dir, name), Content: content})
	}
	if p.Empty() {
		file(templates.WrapperFile, nil)
		file(templates.CodecFile, nil)
		file(templates.FuzzFile, nil)
		file(lock.Name, nil)
		file(graph.Name, nil)
		return nil
	}
	shapes, problems := r.shapes(p)
	if len(problems) > 0 {
		return problems
	}
	in := templates.Input{Package: p, Shapes: shapes.outputs(), Plan: templates.NewPlan(p)}
	guard(&in)
	wrappers, err := templates.Wrappers(in)
	codecs, err2 := templates.Codecs(in)
	test, err3 := fuzzTest(in, fuzz)
	record, err4 := shapes.encode()
	flow, err5 := graph.Of(p, source).Encode()
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		return problem.List{{Subject: "package " + p.Path, Reason: err.Error()}}
	}
	file(templates.WrapperFile, wrappers)
	file(templates.CodecFile, codecs)
	file(templates.FuzzFile, test)
	file(lock.Name, record)
	file(graph.Name, flow)
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
