package main

import (
	"errors"
	"fmt"
	"go/scanner"
	"go/types"
	"os"
	"path/filepath"
	"slices"

	"github.com/restaq/restaq/checks"
	"github.com/restaq/restaq/internal/analyze"
	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/problem"
)

// findings runs the checks over the packages that the patterns match, with the
// files that were generated for them. With fix it writes what they suggest, and
// returns what is left.
func (p *process) findings(result generate.Result, patterns []string, fix bool) (problem.List, error) {
	if result.Loaded == nil {
		return nil, nil
	}
	generated := map[string][]byte{}
	marked := map[string]bool{} // folders
	for _, f := range result.Files {
		if f.Content != nil {
			generated[f.Path] = f.Content
			marked[filepath.Dir(f.Path)] = true
		}
	}
	packages := result.Loaded.Complete(generated)
	var problems problem.List
	for _, pkg := range packages {
		if len(pkg.Errors) > 0 && len(pkg.Files) > 0 && !pkg.Unlisted &&
			marked[filepath.Dir(pkg.Fset.PositionFor(pkg.Files[0].FileStart, false).Filename)] {
			problems.Add(uncheckable(pkg.Errors[0]))
		}
	}
	whole := checks.Whole()
	if !p.wholeModule(patterns) {
		whole = nil
	}
	found, err := analyze.Run(checks.All(), packages, whole)
	if err != nil {
		return nil, err
	}
	if fix {
		if found, err = writeFixes(found); err != nil {
			return nil, err
		}
	}
	for _, f := range found {
		about, reason, hint := checks.Split(f.Message)
		problems.Add(problem.Problem{Pos: f.Pos, Subject: about, Reason: reason, Hint: hint})
	}
	problems.Sort()
	return problems, nil
}

// wholeModule reports whether patterns match all packages of the module that the
// folder of the command is the root of.
func (p *process) wholeModule(patterns []string) bool {
	_, err := os.Stat(filepath.Join(p.dir, "go.mod"))
	return err == nil && slices.Contains(patterns, "./...")
}

// uncheckable is the problem of a package that does not compile.
func uncheckable(err error) problem.Problem {
	found := problem.Problem{Reason: err.Error()}
	var typing types.Error
	var syntax scanner.ErrorList
	switch {
	case errors.As(err, &typing):
		found = problem.Problem{Pos: typing.Fset.PositionFor(typing.Pos, false), Reason: typing.Msg}
	case errors.As(err, &syntax) && len(syntax) > 0:
		found = problem.Problem{Pos: syntax[0].Pos, Reason: syntax[0].Msg}
	}
	found.Reason = "the package does not compile, and is not checked: " + found.Reason
	return found
}

// writeFixes makes fixes, and returns the findings that are left.
func writeFixes(found []analyze.Finding) ([]analyze.Finding, error) {
	files, left, err := analyze.Fixed(found)
	if err != nil {
		return nil, err
	}
	for name, content := range files {
		if err := (output.Change{Path: name, New: content}).Commit(); err != nil {
			return nil, fmt.Errorf("fix: %w", err)
		}
	}
	return left, nil
}
