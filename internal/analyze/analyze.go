// Package analyze runs go/analysis analyzers over packages that are in memory, as
// go vet runs them over packages one by one.
package analyze

import (
	"fmt"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/internal/load"
)

// Finding is what an analyzer has found.
type Finding struct {
	Check   string         // the analyzer's name
	Pos     token.Position // line directives do not count
	Message string
	Fixes   []Fix // alternatives, the preferred one first
}

// Fix is a change of the source that sets a finding right.
type Fix struct {
	Message string
	Edits   []Edit
}

// Edit replaces the bytes of a file from Start to End, exclusive.
type Edit struct {
	File       string
	Start, End int
	Text       string
}

// Run runs the analyzers over the packages, of which dependencies come ahead of
// those that import them, and returns what they find in roots that compile, by
// package and analyzer. Facts about a package reach all that import it. Packages
// that do not depend on each other are analyzed at the same time.
//
// Whole are functions that are given the results of an analyzer for all packages,
// and return what only all of them show; nil if the packages are not a whole module.
//
// An error is a fault of an analyzer, a panic among them.
func Run(analyzers []*analysis.Analyzer, packages []*load.Complete, whole map[*analysis.Analyzer]func(results []any) []analysis.Diagnostic) ([]Finding, error) {
	if err := analysis.Validate(analyzers); err != nil {
		return nil, err
	}
	facts := &facts{objects: map[objectKey]analysis.Fact{}, packages: map[packageKey]analysis.Fact{}}
	runs := make([]*run, len(packages))
	byPackage := map[*load.Complete]*run{}
	for i, p := range packages {
		runs[i] = &run{pkg: p, facts: facts, results: map[*analysis.Analyzer]any{}, done: make(chan struct{})}
		if p.Root {
			runs[i].report = analyzers
		}
		byPackage[p] = runs[i]
	}
	processors := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, r := range runs {
		go func() {
			defer close(r.done)
			for _, dep := range r.pkg.Imports {
				<-byPackage[dep].done
			}
			processors <- struct{}{}
			if len(r.pkg.Errors) == 0 {
				r.err = r.all(analyzers)
			}
			<-processors
		}()
	}
	var found []Finding
	var err error
	for _, r := range runs {
		<-r.done
		if r.err != nil && err == nil {
			err = r.err
		}
		found = append(found, r.found...)
	}
	if err != nil {
		return found, err
	}
	for _, a := range analyzers {
		if of := whole[a]; of != nil {
			found = append(found, ofWhole(a, runs, of)...)
		}
	}
	return found, nil
}

// ofWhole returns what an analyzer finds when it has seen all packages; nothing if
// it could not look at one of them.
func ofWhole(a *analysis.Analyzer, runs []*run, of func(results []any) []analysis.Diagnostic) []Finding {
	var results []any
	for _, r := range runs {
		if len(r.pkg.Errors) > 0 {
			return nil
		}
		if result, ok := r.results[a]; ok {
			results = append(results, result)
		}
	}
	var found []Finding
	for _, d := range of(results) {
		found = append(found, runs[0].finding(a, d)) // they share their positions
	}
	return found
}

// run is the analysis of one package.
type run struct {
	pkg     *load.Complete
	facts   *facts
	report  []*analysis.Analyzer // whose findings count
	results map[*analysis.Analyzer]any
	found   []Finding
	done    chan struct{}
	err     error
}

// all runs the analyzers over the package; where nothing is reported, those that
// have facts.
func (r *run) all(analyzers []*analysis.Analyzer) error {
	for _, a := range analyzers {
		if !r.pkg.Root && len(a.FactTypes) == 0 {
			if err := r.all(a.Requires); err != nil {
				return err
			}
			continue
		}
		if err := r.one(a); err != nil {
			return err
		}
	}
	return nil
}

// one runs an analyzer, behind those that it requires, unless it has run.
func (r *run) one(a *analysis.Analyzer) (err error) {
	if _, ran := r.results[a]; ran {
		return nil
	}
	inputs := map[*analysis.Analyzer]any{}
	for _, req := range a.Requires {
		if err := r.one(req); err != nil {
			return err
		}
		inputs[req] = r.results[req]
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("check %s of package %s: panic: %v\n%s", a.Name, r.pkg.Path, v, debug.Stack())
		}
	}()
	result, err := a.Run(r.pass(a, inputs))
	if err != nil {
		return fmt.Errorf("check %s of package %s: %w", a.Name, r.pkg.Path, err)
	}
	r.results[a] = result
	return nil
}

// pass is what an analyzer sees of the package.
func (r *run) pass(a *analysis.Analyzer, inputs map[*analysis.Analyzer]any) *analysis.Pass {
	p := r.pkg
	report := slices.Contains(r.report, a)
	return &analysis.Pass{
		Analyzer: a, Fset: p.Fset, Files: p.Files, Pkg: p.Types, TypesInfo: p.Info, TypesSizes: p.Sizes,
		Module:   &analysis.Module{Path: p.Module, Version: p.Version, GoVersion: p.GoVersion},
		ResultOf: inputs, ReadFile: os.ReadFile,
		Report: func(d analysis.Diagnostic) {
			if report {
				r.found = append(r.found, r.finding(a, d))
			}
		},
		ImportObjectFact: func(obj types.Object, fact analysis.Fact) bool {
			return r.facts.object(objectKey{obj, reflect.TypeOf(fact)}, fact)
		},
		ExportObjectFact: func(obj types.Object, fact analysis.Fact) {
			r.facts.setObject(objectKey{obj, reflect.TypeOf(fact)}, fact)
		},
		ImportPackageFact: func(pkg *types.Package, fact analysis.Fact) bool {
			return r.facts.of(packageKey{pkg, reflect.TypeOf(fact)}, fact)
		},
		ExportPackageFact: func(fact analysis.Fact) {
			r.facts.setOf(packageKey{p.Types, reflect.TypeOf(fact)}, fact)
		},
		AllObjectFacts:  r.facts.allObjects,
		AllPackageFacts: r.facts.allPackages,
	}
}

// finding takes a diagnostic's positions apart.
func (r *run) finding(a *analysis.Analyzer, d analysis.Diagnostic) Finding {
	f := Finding{Check: a.Name, Pos: r.pkg.Fset.PositionFor(d.Pos, false), Message: d.Message}
	for _, suggested := range d.SuggestedFixes {
		fix := Fix{Message: suggested.Message}
		for _, e := range suggested.TextEdits {
			end := e.End
			if !end.IsValid() {
				end = e.Pos
			}
			start := r.pkg.Fset.PositionFor(e.Pos, false)
			fix.Edits = append(fix.Edits, Edit{start.Filename, start.Offset, r.pkg.Fset.PositionFor(end, false).Offset, string(e.NewText)})
		}
		f.Fixes = append(f.Fixes, fix)
	}
	return f
}

// facts are what analyzers have found out about objects and packages. Packages
// that import each other share their objects, so that facts need no encoding.
type facts struct {
	mu       sync.Mutex
	objects  map[objectKey]analysis.Fact
	packages map[packageKey]analysis.Fact
}

type objectKey struct {
	of   types.Object
	fact reflect.Type
}

type packageKey struct {
	of   *types.Package
	fact reflect.Type
}

func (f *facts) object(key objectKey, fact analysis.Fact) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return assign(fact, f.objects[key])
}

func (f *facts) setObject(key objectKey, fact analysis.Fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[key] = fact
}

func (f *facts) of(key packageKey, fact analysis.Fact) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return assign(fact, f.packages[key])
}

func (f *facts) setOf(key packageKey, fact analysis.Fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.packages[key] = fact
}

// assign sets what a fact points to, if it is known.
func assign(to, known analysis.Fact) bool {
	if known == nil {
		return false
	}
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(known).Elem())
	return true
}

func (f *facts) allObjects() []analysis.ObjectFact {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []analysis.ObjectFact
	for key, fact := range f.objects {
		all = append(all, analysis.ObjectFact{Object: key.of, Fact: fact})
	}
	return all
}

func (f *facts) allPackages() []analysis.PackageFact {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []analysis.PackageFact
	for key, fact := range f.packages {
		all = append(all, analysis.PackageFact{Package: key.of, Fact: fact})
	}
	return all
}
