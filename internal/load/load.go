// Package load reads the user's packages: one run of the go command, then
// parsing and type checking. It is the only package that knows
// golang.org/x/tools/go/packages.
//
// Files that restaqgen wrote are not read, whatever is in them: a package looks
// the same whether they are missing, stale, broken or in a merge conflict.
// Calls of wrappers are therefore type errors, and type errors are handed on as
// data: what matters is whether signatures survived, which package check sees.
// All other errors are problems, unless they lie in our own output.
package load

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/restaq/restaq/internal/model"
	"github.com/restaq/restaq/internal/problem"
)

// Config says what to load. The zero value loads the package in the working
// directory.
type Config struct {
	// Dir is the folder in which the go command runs; "" is the working
	// directory.
	Dir string

	// Patterns are package patterns as the go command takes them; none means
	// the package in Dir.
	Patterns []string

	// Tags are build tags, as the -tags flag of the go command takes them:
	// separated by commas. "" leaves them to GOFLAGS.
	Tags string

	// Env is the environment of the go command; nil means that of this process.
	Env []string
}

// Result is what was loaded.
type Result struct {
	// Packages are those that the patterns match, by import path. A package
	// with errors is among them if any of its files could be read.
	Packages []*model.Source

	// Dependencies are packages beside those that had to be read from source,
	// because they do not compile: they have files and types but no Info.
	Dependencies []*model.Source

	roots []*packages.Package // that Packages were made of
}

// mode asks for no more than is used; every field costs time. Export files and
// sizes are known anyway.
const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule |
	packages.NeedExportFile | packages.NeedTypesSizes

// Load loads the packages, all in one run. It reports what is wrong with them
// as problems, in no particular order; an error in the go command itself is a
// problem too.
func Load(ctx context.Context, cfg Config) (*Result, problem.List) {
	pc := &packages.Config{
		Context: ctx, Mode: mode, Dir: cfg.Dir, Env: cfg.Env, Fset: token.NewFileSet(), ParseFile: parseFile,
	}
	// Positions in dependencies lead to their files, whatever GOFLAGS says.
	pc.BuildFlags = []string{"-trimpath=false"}
	if cfg.Tags != "" {
		pc.BuildFlags = append(pc.BuildFlags, "-tags="+cfg.Tags)
	}
	loaded, err := packages.Load(pc, cfg.Patterns...)
	if err != nil {
		return &Result{}, problem.List{listFailure(err)}
	}
	var problems problem.List
	result := &Result{}
	seen := map[*packages.Package]bool{}
	for _, p := range loaded {
		seen[p] = true
		problems = append(problems, packageProblems(cfg, p)...)
		if p.PkgPath == "command-line-arguments" {
			problems.Add(problem.Problem{Reason: "the arguments are packages, not files", Hint: "name the folder: ./" + filepath.Base(folder(p))})
			continue
		}
		source, err := newSource(p)
		if err != nil {
			problems.Add(problem.Problem{Reason: err.Error()})
			continue
		}
		if len(source.Files)+len(source.Strays) > 0 || source.Dir != "" {
			result.Packages = append(result.Packages, source)
			result.roots = append(result.roots, p)
		}
	}
	for _, p := range loaded {
		result.addDependencies(p, seen)
	}
	byPath := func(a, b *model.Source) int { return cmp.Compare(a.Path, b.Path) }
	slices.SortFunc(result.Packages, byPath)
	slices.SortFunc(result.Dependencies, byPath)
	return result, problems
}

// addDependencies adds the packages that p imports and that were read from
// source.
func (r *Result) addDependencies(p *packages.Package, seen map[*packages.Package]bool) {
	for _, dep := range p.Imports {
		if seen[dep] {
			continue
		}
		seen[dep] = true
		if len(dep.Syntax) > 0 && dep.Types != nil {
			r.Dependencies = append(r.Dependencies, &model.Source{
				Path: dep.PkgPath, Name: dep.Name, Dir: folder(dep), Fset: dep.Fset, Types: dep.Types, Files: files(dep),
			})
		}
		r.addDependencies(dep, seen)
	}
}

// newSource returns p as data.
func newSource(p *packages.Package) (*model.Source, error) {
	renamed(p)
	s := &model.Source{
		Path: p.PkgPath, Name: p.Name, Dir: folder(p), Fset: p.Fset,
		Types: p.Types, Info: p.TypesInfo, TypeErrors: p.TypeErrors, Files: files(p),
	}
	if s.Dir == "" {
		return s, nil
	}
	var err error
	if s.Strays, err = strays(s); err != nil {
		return nil, fmt.Errorf("read package %s: %w", s.Path, err)
	}
	return s, nil
}

// renamed checks p again if it got its name from a file of ours that is left
// over from before the user changed the package clause.
func renamed(p *packages.Package) {
	name := ""
	for _, file := range p.Syntax {
		if name != "" && file.Name.Name != name {
			return // the user's own files differ, which is a problem already
		}
		name = file.Name.Name
	}
	if name == "" || name == p.Name || p.TypesInfo == nil {
		return
	}
	p.Name, p.Types, p.TypeErrors = name, types.NewPackage(p.PkgPath, name), nil
	*p.TypesInfo = types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
	cfg := &types.Config{
		Importer: importer(p.Imports),
		Error: func(err error) {
			if e, ok := err.(types.Error); ok {
				p.TypeErrors = append(p.TypeErrors, e)
			}
		},
	}
	// Every error has been handed to cfg.Error.
	_ = types.NewChecker(cfg, p.Fset, p.Types, p.TypesInfo).Files(p.Syntax)
}

// importer finds packages that are loaded already.
type importer map[string]*packages.Package

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i[path]; p != nil && p.Types != nil {
		return p.Types, nil
	}
	return nil, fmt.Errorf("package %s is not loaded", path)
}

// folder returns the folder of p's files, "" if it has none.
func folder(p *packages.Package) string {
	if p.Dir != "" {
		return p.Dir
	}
	for _, file := range slices.Concat(p.GoFiles, p.IgnoredFiles) {
		return filepath.Dir(file)
	}
	return ""
}

// files returns the parsed files that lie in p's folder: not those that cgo
// made from others.
func files(p *packages.Package) []*model.File {
	var files []*model.File
	for _, syntax := range p.Syntax {
		name := p.Fset.PositionFor(syntax.FileStart, false).Filename
		if name == "" || filepath.Dir(name) != folder(p) {
			continue
		}
		files = append(files, &model.File{Name: name, Syntax: syntax, Constraint: constraintOf(name, syntax)})
	}
	slices.SortFunc(files, func(a, b *model.File) int { return cmp.Compare(a.Name, b.Name) })
	return files
}

// parseFile parses a file for go/packages. Our own output is left out.
func parseFile(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
	if isOutput(name, src) {
		return nil, nil
	}
	return parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
}

// strays returns the Go files in s's folder that may hold markers and are not
// among s's files, in the order of their names. The go command skips names that
// begin with "_" or ".", and so does this.
func strays(s *model.Source) ([]*model.Stray, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	var strays []*model.Stray
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		path := filepath.Join(s.Dir, name)
		if slices.ContainsFunc(s.Files, func(f *model.File) bool { return f.Name == path }) {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if !mayHoldMarker(src) || isOutput(path, src) {
			continue
		}
		syntax, _ := parser.ParseFile(s.Fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
		if syntax == nil {
			continue
		}
		stray := &model.Stray{File: model.File{Name: path, Syntax: syntax, Constraint: constraintOf(path, syntax)}, Kind: model.ExcludedStray}
		switch {
		case strings.HasSuffix(name, "_test.go"):
			stray.Kind = model.TestStray
		case slices.ContainsFunc(syntax.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` }):
			stray.Kind = model.CgoStray
		}
		strays = append(strays, stray)
	}
	return strays, nil
}

// mayHoldMarker is a quick look that is never wrong when it says no.
func mayHoldMarker(src []byte) bool { return bytes.Contains(src, []byte("//restaq:")) }
