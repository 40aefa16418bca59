package model

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Source is a package as package load hands it on: parsed and type-checked,
// without our own output, so that calls of wrappers are type errors in it.
type Source struct {
	// Path is the import path, Name the package clause, Dir the absolute
	// folder of its files.
	Path, Name, Dir string

	// Fset holds the positions of all packages of one load.
	Fset *token.FileSet

	// Files are the package's files, in the order of their names.
	Files []*File

	// Types and Info are what the type checker found. Info is nil for a
	// package that is not generated for.
	Types *types.Package
	Info  *types.Info

	// TypeErrors are the errors that the type checker found, most of them
	// calls of wrappers.
	TypeErrors []types.Error

	// Strays are the files of the folder that may hold markers but are not
	// part of the package.
	Strays []*Stray
}

// Position returns where pos is. Line directives do not count.
func (s *Source) Position(pos token.Pos) token.Position {
	return s.Fset.PositionFor(pos, false)
}

// File is a file of a package.
type File struct {
	// Name is the file's absolute name.
	Name string

	// Syntax is the parsed file, with comments.
	Syntax *ast.File

	// Constraint is the build constraint that the file is under, that of its
	// name included, in the form of a //go:build line without its beginning;
	// "" if there is none.
	Constraint string
}

// Stray is a file that is not part of its package in this load.
type Stray struct {
	File
	Kind StrayKind
}

// StrayKind says why a file is not part of its package.
type StrayKind int

// The kinds of strays.
const (
	TestStray     StrayKind = iota // a _test.go file
	CgoStray                       // a file that imports "C"
	ExcludedStray                  // excluded by a build constraint
)
