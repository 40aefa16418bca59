package load

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"
)

// Complete is a package as the compiler sees it: type-checked with the bodies of
// its functions, and with what the generated files declare. What those have in
// bodies and variables is left out, for nobody but the compiler looks at it.
type Complete struct {
	// Path is the import path, Name the package clause.
	Path, Name string

	// Root says whether the patterns match the package. Others are here for what
	// roots call in them.
	Root bool

	// Module is the path of the module that the package is of, Version its
	// version, "" for the main module, and GoVersion that of its go.mod.
	Module, Version, GoVersion string

	// Fset holds the positions of all packages of one load.
	Fset *token.FileSet

	// Files are the package's files, the generated one last. They share the syntax
	// trees of [Result.Packages].
	Files []*ast.File

	Types *types.Package
	Info  *types.Info
	Sizes types.Sizes

	// Errors are why the package does not compile; empty for one that does.
	Errors []error

	// Unlisted says that a generated file imports a package that nothing on disk
	// imports yet, so that little is known: it is to be written first.
	Unlisted bool

	// Imports are those of its imports that are complete too.
	Imports []*Complete
}

// Complete returns the packages that the patterns match, and those that they
// import directly or not and that are of the main module or have generated files:
// dependencies ahead of those that import them. Generated is the content that the
// generated files of the former should have, by name; what is on disk under such a
// name does not count. Of all other packages the generated files are those on
// disk.
//
// Nothing is loaded again: a package that a generated file changes the types of,
// and each that imports such a one, is type-checked a second time, from the
// same syntax trees.
func (r *Result) Complete(generated map[string][]byte) []*Complete {
	c := &completer{generated: map[string]string{}, contents: generated, nodes: map[*packages.Package]*node{}, known: map[string]*types.Package{}}
	for name := range generated {
		if filepath.Base(name) == wrapperFile {
			c.generated[filepath.Dir(name)] = name
		}
	}
	for _, p := range r.roots {
		c.node(p).root = true
	}
	for _, p := range r.roots {
		c.visit(p)
	}
	return c.check()
}

// completer completes packages.
type completer struct {
	generated map[string]string // the file of wrappers, by its folder
	contents  map[string][]byte
	nodes     map[*packages.Package]*node
	order     []*node // dependencies first

	exports sync.Mutex // while export data is read into
	known   map[string]*types.Package
}

// node is a package in the graph of imports.
type node struct {
	*packages.Package
	root    bool
	visited bool
	again   bool          // it is type-checked here
	done    chan struct{} // closed when that is over
	result  *Complete     // nil for a package of which the types suffice
}

func (c *completer) node(p *packages.Package) *node {
	n := c.nodes[p]
	if n == nil {
		n = &node{Package: p, done: make(chan struct{})}
		c.nodes[p] = n
	}
	return n
}

// visit decides what is to be done about a package and all that it imports.
func (c *completer) visit(p *packages.Package) *node {
	n := c.node(p)
	if n.visited {
		return n
	}
	n.visited = true
	n.again = n.wanted()
	if n.root {
		n.again = c.generated[folder(p)] != "" || p.TypesInfo == nil
	}
	for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
		if c.visit(p.Imports[path]).again {
			n.again = true
		}
	}
	if n.again || n.root {
		n.result = &Complete{
			Path: p.PkgPath, Name: p.Name, Root: n.root, Fset: p.Fset, Files: slices.Clone(p.Syntax),
			Types: p.Types, Info: p.TypesInfo, Sizes: p.TypesSizes,
		}
		if m := p.Module; m != nil {
			n.result.Module, n.result.Version, n.result.GoVersion = m.Path, m.Version, m.GoVersion
		}
	}
	if !n.again {
		c.known[p.PkgPath] = p.Types
	}
	c.order = append(c.order, n)
	return n
}

// wanted reports whether the bodies of a package that no pattern matches count.
func (n *node) wanted() bool {
	if n.Module != nil && n.Module.Main {
		return true
	}
	return slices.ContainsFunc(n.GoFiles, func(name string) bool { return isOutputName(name) })
}

// check type-checks what is to be checked, as much at a time as there are
// processors.
func (c *completer) check() []*Complete {
	var all []*Complete
	processors := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, n := range c.order {
		if n.result != nil {
			for _, path := range slices.Sorted(maps.Keys(n.Package.Imports)) {
				if dep := c.nodes[n.Package.Imports[path]]; dep.result != nil {
					n.result.Imports = append(n.result.Imports, dep.result)
				}
			}
			all = append(all, n.result)
		}
		if !n.again {
			if n.root {
				n.result.Errors = typeErrors(n.TypeErrors)
			}
			close(n.done)
			continue
		}
		go func() {
			defer close(n.done)
			for _, p := range n.Package.Imports {
				<-c.nodes[p].done
			}
			processors <- struct{}{}
			c.checkAgain(n)
			<-processors
		}()
	}
	for _, n := range c.order {
		<-n.done
	}
	return all
}

func typeErrors(list []types.Error) []error {
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return errs
}

// parse parses what is missing of a package: of a root what is generated for it, of
// another all.
func (c *completer) parse(n *node) {
	if name := c.generated[folder(n.Package)]; n.root && name != "" {
		n.result.add(name, c.contents[name])
	}
	if n.root {
		return
	}
	n.result.Files = nil
	for _, name := range n.CompiledGoFiles {
		src, err := os.ReadFile(name)
		if err != nil {
			n.result.Errors = append(n.result.Errors, err)
		} else if filepath.Base(name) == wrapperFile || !isOutput(name, src) {
			n.result.add(name, src)
		}
	}
}

// add parses a file, and adds it to the package.
func (p *Complete) add(name string, src []byte) {
	file, err := parser.ParseFile(p.Fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		p.Errors = append(p.Errors, err)
	}
	if file == nil {
		return
	}
	if isOutput(name, src) {
		file.Decls = declared(file.Decls)
	}
	p.Files = append(p.Files, file)
}

// declared returns what others use of a generated file: no variables, and
// functions without their bodies.
func declared(decls []ast.Decl) []ast.Decl {
	return slices.DeleteFunc(decls, func(decl ast.Decl) bool {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			decl.Body = nil
		case *ast.GenDecl:
			return decl.Tok == token.VAR
		}
		return false
	})
}

// checkAgain parses what is missing of a package and type-checks it.
func (c *completer) checkAgain(n *node) {
	result := n.result
	c.parse(n)
	fail := func(err error) {
		if e, ok := err.(types.Error); !ok || !isOutputName(result.Fset.PositionFor(e.Pos, false).Filename) || isHardTypeError(e.Msg) {
			result.Errors = append(result.Errors, err)
		}
	}
	result.Types = types.NewPackage(n.PkgPath, n.Name)
	result.Info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
	cfg := &types.Config{
		Importer: importerFunc(func(path string) (*types.Package, error) { return c.types(n, path) }),
		Sizes:    result.Sizes,
		Error:    fail,
	}
	if n.Module != nil && n.Module.GoVersion != "" {
		cfg.GoVersion = "go" + n.Module.GoVersion
	}
	// Every error has been handed to cfg.Error.
	_ = types.NewChecker(cfg, result.Fset, result.Types, result.Info).Files(result.Files)
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// types returns the types of a package that n imports.
func (c *completer) types(n *node, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p := n.Package.Imports[path]
	if p == nil { // only a generated file imports it, and did not when packages were listed
		i := slices.IndexFunc(c.order, func(n *node) bool { return n.PkgPath == path && !n.again })
		if i < 0 {
			n.result.Unlisted = true
			return nil, fmt.Errorf("package %s is not imported yet: run go generate", path)
		}
		p = c.order[i].Package
	}
	if dep := c.nodes[p]; dep.result != nil {
		return dep.result.Types, nil
	}
	return c.exported(p)
}

// exported returns the types of a package from what the compiler wrote of it, if
// nobody has asked for them before.
func (c *completer) exported(p *packages.Package) (*types.Package, error) {
	c.exports.Lock()
	defer c.exports.Unlock()
	if p.Types != nil && p.Types.Complete() {
		return p.Types, nil
	}
	if p.ExportFile == "" {
		return nil, fmt.Errorf("package %s does not compile", p.PkgPath)
	}
	file, err := os.Open(p.ExportFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	//lint:ignore SA1019 what the go command lists are such archives
	in, err := gcexportdata.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("read export data of %s: %w", p.PkgPath, err)
	}
	return gcexportdata.Read(in, p.Fset, c.known, p.PkgPath)
}
