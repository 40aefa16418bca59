package model

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
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

// Callee resolves a function-valued expression of the package: to a declared
// function, or to the function that a wrapper is made of. Wrappers of the
// package are not declared in what was loaded; a name that nothing declares and
// that ends in Step behind the name of a function stands for one.
func (s *Source) Callee(x ast.Expr) (fn, wrapped *types.Func) {
	x = ast.Unparen(x)
	switch generic := x.(type) {
	case *ast.IndexExpr:
		x = generic.X
	case *ast.IndexListExpr:
		x = generic.X
	}
	switch x := x.(type) {
	case *ast.Ident:
		obj := s.Info.Uses[x]
		if fn, ok := obj.(*types.Func); ok {
			return fn.Origin(), nil
		}
		if base, ok := strings.CutSuffix(x.Name, "Step"); ok && obj == nil {
			wrapped, _ = s.Types.Scope().Lookup(base).(*types.Func)
		}
	case *ast.SelectorExpr:
		if fn, ok := s.Info.Uses[x.Sel].(*types.Func); ok {
			return fn.Origin(), nil
		}
		if base, ok := strings.CutSuffix(x.Sel.Name, "Step"); ok && s.Info.Uses[x.Sel] == nil {
			wrapped = s.Member(x.X, base)
		}
	}
	return nil, wrapped
}

// Member returns the function or method of a name that is selected from x: from
// a package, or from a value. It is nil if there is none.
func (s *Source) Member(x ast.Expr, name string) *types.Func {
	var obj types.Object
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if pkg, ok := s.Info.Uses[id].(*types.PkgName); ok {
			obj = pkg.Imported().Scope().Lookup(name)
		}
	}
	if t := s.Info.TypeOf(x); obj == nil && t != nil {
		obj, _, _ = types.LookupFieldOrMethod(t, true, s.Types, name)
	}
	fn, ok := obj.(*types.Func)
	if !ok {
		return nil
	}
	return fn.Origin()
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
