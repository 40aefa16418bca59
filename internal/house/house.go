// Package house keeps the rules of this repository that the compiler does not:
// which package may import which, and what may not stand in any file.
//
// The rules themselves are tables in the tests, where a change of them is seen
// in review; the functions here only apply them, to plain data, so that they
// are tested too.
package house

import (
	"fmt"
	"slices"
	"strings"
)

// Package is a package as far as the table of imports is concerned. Paths of
// this module's packages begin with "./", the root is ".".
type Package struct {
	Path        string
	Imports     []string
	TestImports []string // of its test files, in the package and beside it
}

// Rule says what the packages of a tree may import besides the standard library,
// which is everyone's. Patterns are a path, or a path and "/..." for it and all
// below it.
type Rule struct {
	Tree     string   // whom the rule is about; of several, the longest counts
	May      []string // what their files may import
	TestsMay []string // what their test files may import as well
}

// Violations returns a message for each import that the rules do not allow and
// each package that they do not know, in the order of packages. Any test may
// import what the patterns in tests allow.
func Violations(rules []Rule, tests []string, packages []Package) []string {
	var found []string
	for _, p := range packages {
		rule, ok := ruleFor(rules, p.Path)
		if !ok {
			found = append(found, fmt.Sprintf("package %s: not in the table of imports: "+
				"add a row {Tree: %q, May: …} that says what it may import and why", p.Path, p.Path))
			continue
		}
		for _, path := range p.Imports {
			if !allowed(path, rule.May) {
				found = append(found, fmt.Sprintf("package %s: imports %s: row %q allows %s",
					p.Path, path, rule.Tree, describe(rule.May)))
			}
		}
		for _, path := range p.TestImports {
			may := slices.Concat(rule.May, rule.TestsMay, tests)
			if path != p.Path && !allowed(path, may) {
				found = append(found, fmt.Sprintf("package %s: its tests import %s: row %q allows them %s",
					p.Path, path, rule.Tree, describe(may)))
			}
		}
	}
	return found
}

// ruleFor returns the rule with the longest tree that holds path.
func ruleFor(rules []Rule, path string) (Rule, bool) {
	var best Rule
	for _, r := range rules {
		if match(r.Tree, path) && len(r.Tree) > len(best.Tree) {
			best = r
		}
	}
	return best, best.Tree != ""
}

func allowed(path string, may []string) bool {
	return standard(path) || slices.ContainsFunc(may, func(pattern string) bool { return match(pattern, path) })
}

// standard reports whether path is of the standard library: its first element
// has no dot. Cgo's "C" is not.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && path != "C"
}

func match(pattern, path string) bool {
	tree, ok := strings.CutSuffix(pattern, "/...")
	return path == tree || ok && strings.HasPrefix(path, tree+"/")
}

func describe(may []string) string {
	if len(may) == 0 {
		return "the standard library only"
	}
	return "the standard library, " + strings.Join(may, ", ")
}
