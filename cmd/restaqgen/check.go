package main

import (
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"path/filepath"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/problem"
)

// check prints what the checks find, what has changed for executions in flight,
// and what generating would change.
func (p *process) check(args []string) int {
	var s settings
	flags := p.flagSet("check")
	s.define(flags)
	fix := flags.Bool("fix", false, "make the changes that checks suggest")
	against := flags.String("against", "", "compare with git:REVISION, a lock file or a folder of them, not with what was committed last")
	flags.Func("format", "text, json or github", s.format)
	if status, ok := p.parse(flags, args); !ok {
		return status
	}
	if err := p.enter(s.dir); err != nil {
		return p.fail(err)
	}
	if s.json || s.github || *fix || *against != "" {
		return p.checkAll(s, flags.Args(), *fix, *against)
	}
	memory, known := p.cleanBefore(p.load(s, flags.Args()))
	if known {
		return statusOK
	}
	stdout, stderr := &counter{Writer: p.stdout}, &counter{Writer: p.stderr}
	p.stdout, p.stderr = stdout, stderr
	status := p.checkAll(s, flags.Args(), false, "")
	if status == statusOK && stdout.n+stderr.n == 0 {
		memory.remember()
	}
	return status
}

// checkAll checks, whatever was found before.
func (p *process) checkAll(s settings, patterns []string, fix bool, against string) int {
	result, problems := p.result(s, patterns)
	packages, more := eventPackages(result.Files)
	var changes []output.Change
	if problems = append(problems, more...); len(problems) == 0 {
		changes, problems = compare(append(result.Files, packages...))
	}
	var notes problem.List
	if len(problems) == 0 {
		found, err := p.findings(result, patterns, fix)
		if err != nil {
			return p.fail(err)
		}
		breaks, others, err := p.evolved(result, against)
		if err != nil {
			return p.fail(err)
		}
		problems, notes = append(found, breaks...), others
		problems.Sort()
	}
	return p.checked(s, problems, notes, changes)
}

// checked reports what check has found, and returns the exit status.
func (p *process) checked(s settings, problems, notes problem.List, changes []output.Change) int {
	if s.json || s.github {
		problems = append(problems, stale(changes)...)
		problems = append(problems, notes...)
		return p.report(s, problems)
	}
	if err := notes.Write(p.stdout, p.dir); err != nil {
		return p.fail(err)
	}
	status := p.report(s, problems)
	if len(changes) == 0 {
		return status
	}
	for _, c := range changes {
		if _, err := p.stdout.Write(c.Diff(p.name(c.Path))); err != nil {
			return p.fail(err)
		}
	}
	p.say("%s not up to date: run go generate", count(len(changes), "generated file is", "generated files are"))
	return statusProblems
}

// eventPackages returns the files, as they should be, of the event packages in the
// folders of other files.
func eventPackages(files []output.File) (all []output.File, problems problem.List) {
	seen := map[string]bool{}
	for _, f := range files {
		dir := filepath.Dir(f.Path)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		options, err := events.ReadSettings(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			problems.Add(problem.Problem{Pos: token.Position{Filename: filepath.Join(dir, events.SettingsFile)}, Reason: err.Error()})
			continue
		}
		made, found, err := eventFiles(options, dir)
		if err != nil {
			problems.Add(problem.Problem{Pos: token.Position{Filename: dir}, Reason: err.Error()})
		}
		for _, f := range found {
			if !f.Warning {
				problems.Add(problem.Problem{
					Pos:    token.Position{Filename: f.File, Line: f.Line, Column: f.Col},
					Reason: f.Message,
					Hint:   "see " + filepath.Join(dir, events.SettingsFile) + " for what the package is made of",
				})
			}
		}
		all = append(all, made...)
	}
	return all, problems
}

// stale are changes that generating would make, as problems.
func stale(changes []output.Change) problem.List {
	var list problem.List
	for _, c := range changes {
		reason := map[string]string{"create": "is missing", "update": "is stale", "remove": "is left over"}[c.Verb()]
		list.Add(problem.Problem{Pos: token.Position{Filename: c.Path}, Reason: reason, Hint: "run go generate"})
	}
	return list
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
