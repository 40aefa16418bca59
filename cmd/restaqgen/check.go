package main

import (
	"fmt"
	"go/token"

	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/problem"
)

// check prints what generating would change.
func (p *process) check(args []string) int {
	var s settings
	flags := p.flagSet("check")
	s.define(flags)
	if status, ok := p.parse(flags, args); !ok {
		return status
	}
	if err := p.enter(s.dir); err != nil {
		return p.fail(err)
	}
	changes, problems := p.changes(s, flags.Args())
	if s.json {
		problems = append(problems, stale(changes)...)
	}
	if status := p.report(s, problems); status != statusOK || len(changes) == 0 {
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
