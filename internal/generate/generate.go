// Package generate is the generator in one line: load, check, emit. It is pure;
// bringing the files to disk is package output's.
package generate

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/restaq/restaq/internal/check"
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
}

// A Note is a remark about a file.
type Note struct{ Path, Text string }

// Packages generates for the packages that cfg names. With problems there are
// no files.
func Packages(ctx context.Context, cfg load.Config) (Result, problem.List) {
	loaded, problems := load.Load(ctx, cfg)
	packages, more := check.Packages(loaded.Packages, loaded.Dependencies)
	problems = append(problems, more...)
	var result Result
	for _, p := range packages {
		problems = append(problems, result.add(p)...)
	}
	if problems.Sort(); len(problems) > 0 {
		return Result{Notes: result.Notes}, problems
	}
	return result, nil
}

// add generates for one package.
func (r *Result) add(p *model.Package) problem.List {
	file := func(name string, content []byte) {
		r.Files = append(r.Files, output.File{Path: filepath.Join(p.Dir, name), Content: content})
	}
	if p.Empty() {
		file(templates.WrapperFile, nil)
		file(templates.CodecFile, nil)
		file(lock.Name, nil)
		return nil
	}
	shapes, problems := r.shapes(p)
	if len(problems) > 0 {
		return problems
	}
	in := templates.Input{Package: p, Shapes: shapes.outputs()}
	guard(&in)
	wrappers, err := templates.Wrappers(in)
	codecs, err2 := templates.Codecs(in)
	record, err3 := shapes.encode()
	if err := errors.Join(err, err2, err3); err != nil {
		return problem.List{{Subject: "package " + p.Path, Reason: err.Error()}}
	}
	file(templates.WrapperFile, wrappers)
	file(templates.CodecFile, codecs)
	file(lock.Name, record)
	return nil
}

// Emits reports whether a Go file of this base name is one that Packages writes.
func Emits(name string) bool { return name == templates.WrapperFile || name == templates.CodecFile }
