// Package marked tells the checks what a package has: its handlers and steps,
// the wrappers of its own steps and of those of packages that it imports, and the
// comments that silence checks.
//
// A check requires [Analyzer], asks its result, a [*Package], and reports by
// [Package.Report], which leaves out what is silenced:
//
//	var Analyzer = &analysis.Analyzer{
//		Name:     "directcall",
//		Requires: []*analysis.Analyzer{marked.Analyzer},
//		Run:      run,
//	}
//
//	func run(pass *analysis.Pass) (any, error) {
//		pkg := marked.Of(pass)
//		for _, h := range pkg.Handlers {
//			…
//			pkg.Report(pass, marked.Finding{…})
//		}
//		return nil, nil
//	}
//
// Checks see complete types: the generated files are part of the package, on disk
// for go vet and fresh from memory for restaqgen check. Files that restaqgen wrote
// and tests are not among [Package.Files], so that both find the same.
package marked

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/internal/marker"
	"github.com/restaq/restaq/internal/naming"
)

// Runtime is the import path of package restaq.
const Runtime = "github.com/restaq/restaq/runtime"

// Analyzer finds what is marked. Its result is a [*Package].
var Analyzer = &analysis.Analyzer{
	Name:       "marked",
	Doc:        "find handlers, steps and their wrappers",
	Run:        run,
	ResultType: reflect.TypeFor[*Package](),
	FactTypes:  []analysis.Fact{new(stepFact)},
}

// Of returns the package of a pass whose analyzer requires [Analyzer].
func Of(pass *analysis.Pass) *Package { return pass.ResultOf[Analyzer].(*Package) }

// Package is what a package has. It may be read by many at the same time.
type Package struct {
	// Inside says whether the package is one to look into: one of the user's
	// module, or one for which code was generated. Of others, the standard
	// library among them, nothing below is known.
	Inside bool

	// Files are the files that a person wrote, tests aside, in the order of their
	// names.
	Files []*ast.File

	// Handlers and Steps are those of the package, in source order.
	Handlers []*Handler
	Steps    []*Step

	// Funcs are the functions and methods with a body in Files, in source order.
	Funcs []*types.Func

	// Decls are the declarations of Funcs.
	Decls map[*types.Func]*ast.FuncDecl

	pass      *analysis.Pass
	steps     map[*types.Func]*Step // by function and by wrapper
	handlers  map[*types.Func]*Handler
	silencers []*Silencer
	does      func() []*Do

	wrongSilencers []marker.Error
}

// Handler is a handler of the package.
type Handler struct {
	Func   *types.Func
	Decl   *ast.FuncDecl
	Marker *marker.Marker
	Name   string // such as billing.Billing.ChargeSucceeded
}

// String names the handler as findings do.
func (h *Handler) String() string { return "handler " + h.Name }

// Step is a step, of the package or of one that it imports.
type Step struct {
	Func    *types.Func // the function that the user wrote
	Wrapper *types.Func // nil while none was generated
	Name    string      // of its records
	Keyed   bool        // whether it has key=; unknown, thus false, outside the user's module
	Pure    bool        // likewise

	// Decl and Marker are nil for a step of another package.
	Decl   *ast.FuncDecl
	Marker *marker.Marker
}

// String names the step as findings do.
func (s *Step) String() string { return "step " + s.Name }

// stepFact says that a function is a step's, and what its marker says. It is
// known of functions that other packages can name.
type stepFact struct {
	Name        string
	Keyed, Pure bool
}

func (*stepFact) AFact() {}

func (f *stepFact) String() string { return "step " + f.Name }

func run(pass *analysis.Pass) (any, error) {
	p := &Package{
		pass: pass, Decls: map[*types.Func]*ast.FuncDecl{}, steps: map[*types.Func]*Step{}, handlers: map[*types.Func]*Handler{},
	}
	p.does = sync.OnceValue(p.findDoes)
	if p.Inside = inside(pass); !p.Inside {
		return p, nil
	}
	for _, file := range pass.Files {
		if name := fileName(pass.Fset, file); !isGenerated(name, file) && !strings.HasSuffix(name, "_test.go") {
			p.Files = append(p.Files, file)
		}
	}
	slices.SortFunc(p.Files, func(a, b *ast.File) int { return cmp.Compare(fileName(pass.Fset, a), fileName(pass.Fset, b)) })
	for _, file := range p.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok && decl.Body != nil {
				if fn, ok := pass.TypesInfo.Defs[decl.Name].(*types.Func); ok {
					p.Funcs = append(p.Funcs, fn)
					p.Decls[fn] = decl
				}
			}
		}
		silencers, errs := marker.Silencers(pass.Fset, file)
		for _, s := range silencers {
			p.silencers = append(p.silencers, &Silencer{Silencer: s, file: fileName(pass.Fset, file)})
		}
		p.wrongSilencers = append(p.wrongSilencers, errs...)
		if decls, _ := marker.Find(file); len(decls) > 0 {
			p.addMarked(decls)
		}
	}
	return p, nil
}

// addMarked adds the handlers and steps among decls. What is wrong with them the
// generator says.
func (p *Package) addMarked(decls []*marker.Decl) {
	for _, d := range decls {
		if d.Func == nil || d.Marker == nil {
			continue
		}
		fn, ok := p.pass.TypesInfo.Defs[d.Func.Name].(*types.Func)
		if !ok || d.Func.Body == nil {
			continue
		}
		switch d.Marker.Verb {
		case marker.On:
			h := &Handler{Func: fn, Decl: d.Func, Marker: d.Marker, Name: p.handlerName(d, fn)}
			p.Handlers = append(p.Handlers, h)
			p.handlers[fn] = h
		case marker.Step:
			s := &Step{
				Func: fn, Wrapper: beside(fn, wrapperSuffix), Name: cmp.Or(d.Marker.Name.Text, naming.Kebab(fn.Name())),
				Keyed: d.Marker.Key.Text != "", Pure: d.Marker.Pure, Decl: d.Func, Marker: d.Marker,
			}
			p.Steps = append(p.Steps, s)
			p.steps[fn] = s
			p.pass.ExportObjectFact(fn, &stepFact{s.Name, s.Keyed, s.Pure})
			if s.Wrapper != nil {
				p.steps[s.Wrapper] = s
			}
		}
	}
}

// handlerName returns a handler's stable name.
func (p *Package) handlerName(d *marker.Decl, fn *types.Func) string {
	if d.Marker.Name.Text != "" {
		return d.Marker.Name.Text
	}
	word := p.pass.Pkg.Name()
	if word == "main" {
		importPath, _, _ := strings.Cut(p.pass.Pkg.Path(), " ") // vet's variants for tests have more behind it
		word = path.Base(importPath)
	}
	return word + "." + Name(fn)
}

// Name names a function as Go does: Billing.send, or send.
func Name(fn *types.Func) string {
	if recv := receiver(fn); recv != nil {
		return recv.Obj().Name() + "." + fn.Name()
	}
	return fn.Name()
}

// NameOf names a function as the code of the package does: of another package's
// with that package's name in front.
func (p *Package) NameOf(fn *types.Func) string {
	if fn.Pkg() == nil || fn.Pkg() == p.pass.Pkg {
		return Name(fn)
	}
	return fn.Pkg().Name() + "." + Name(fn)
}

// inside reports whether the package of a pass is one to look into.
func inside(pass *analysis.Pass) bool {
	first, _, _ := strings.Cut(pass.Pkg.Path(), "/")
	switch m := pass.Module; {
	case m != nil && m.Path != "" && m.Path != "std" && m.Path != "cmd" && m.Version == "":
		return true
	case (m == nil || m.Path == "") && strings.Contains(first, "."): // a driver that knows of no modules
		return true
	}
	return slices.ContainsFunc(pass.Files, func(f *ast.File) bool { return isGenerated(fileName(pass.Fset, f), f) })
}

// generatedNames are the names under which restaqgen writes Go files.
var generatedNames = []string{"restaq_gen.go", "restaq_codec_gen.go", "restaq_fuzz_test.go"}

// isGenerated reports whether restaqgen wrote a file.
func isGenerated(name string, file *ast.File) bool {
	return slices.Contains(generatedNames, filepath.Base(name)) && ast.IsGenerated(file)
}

func fileName(fset *token.FileSet, file *ast.File) string {
	return fset.PositionFor(file.FileStart, false).Filename
}
