// Package check turns loaded packages into the model, and reports whatever in
// them cannot be generated for: everything in the user's code that a message
// can be had for before generated code fails to compile or to run.
//
// All problems are reported. A function with a problem is left out of the
// model, and what concerns only other functions is checked all the same.
//
// The order of the files follows the work: marks.go finds what is marked,
// function.go reads signatures, event.go fits handlers to their event types,
// nameable.go looks at types, expr.go at expressions, names.go at what is taken,
// and calls.go at who calls whom.
package check

import (
	"go/types"
	"path"
	"slices"

	"github.com/restaq/restaq/internal/eventtype"
	"github.com/restaq/restaq/internal/model"
	"github.com/restaq/restaq/internal/problem"
)

// Packages returns the model of each of sources, in their order, and the
// problems of all, in no particular order. Dependencies are packages that
// sources import and that were read from source; their markers are looked at
// for event types only.
func Packages(sources, dependencies []*model.Source) ([]*model.Package, problem.List) {
	var problems problem.List
	events := eventtype.NewCatalog()
	for _, s := range slices.Concat(sources, dependencies) {
		for _, file := range s.Files {
			events.Mark(s.Types, file.Syntax)
		}
	}
	packages := make([]*model.Package, len(sources))
	for i, source := range sources {
		c := &checker{src: source, events: events, problems: &problems}
		packages[i] = c.check()
	}
	return packages, problems
}

// checker checks one package.
type checker struct {
	src      *model.Source
	pkg      *model.Package
	events   *eventtype.Catalog
	problems *problem.List

	// marked are the marked functions and types, in source order.
	marked []*marked
}

// check is the straight line for one package.
func (c *checker) check() *model.Package {
	c.pkg = &model.Package{
		Path: c.src.Path, Name: c.src.Name, Dir: c.src.Dir, Word: word(c.src), Types: c.src.Types,
		Taken: map[string]bool{}, Imports: map[string]string{}, Families: map[*types.TypeName][]model.Member{},
	}
	c.strays()
	if c.src.Types == nil || len(c.src.Files) == 0 {
		return c.pkg
	}
	c.takeNames()
	c.findMarks()
	c.constraint()
	c.stems()
	for _, m := range c.marked {
		c.build(m)
	}
	c.names()
	c.oldNames()
	c.converters()
	c.calls()
	c.group()
	c.nameGroups()
	return c.pkg
}

// word returns the first word of the package's handler names.
func word(s *model.Source) string {
	if s.Name != "main" {
		return s.Name
	}
	if base := path.Base(s.Path); base != "." && base != "/" {
		return base
	}
	return s.Name
}
