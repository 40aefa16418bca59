package main

import (
	"context"
	"errors"
	"go/token"
	"strings"

	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/problem"
)

// generate writes the files of packages.
func (p *process) generate(args []string) int {
	var s settings
	flags := p.flagSet("")
	s.define(flags)
	dry := flags.Bool("n", false, "print what would be written; write nothing")
	flags.BoolVar(&s.verbose, "v", false, "print which types codecs leave to encoding/json, and why")
	flags.BoolVar(&s.fuzz, "fuzz", false, "add a test that compares codecs with encoding/json")
	if status, ok := p.parse(flags, args); !ok {
		return status
	}
	if *dry && s.json {
		return p.usage("-n and -json do not go together")
	}
	if err := p.enter(s.dir); err != nil {
		return p.fail(err)
	}
	result, problems := p.result(s, flags.Args())
	var changes []output.Change
	if len(problems) == 0 {
		changes, problems = compare(result.Files)
	}
	if status := p.report(s, problems); status != statusOK {
		return status
	}
	breaks, _, err := p.evolved(result, "")
	if err != nil {
		return p.fail(err)
	}
	if len(breaks) > 0 {
		p.say("%s in flight: run restaqgen check", count(len(breaks), "change breaks executions", "changes break executions"))
	}
	return p.write(changes, *dry)
}

// result generates.
func (p *process) result(s settings, patterns []string) (generate.Result, problem.List) {
	cfg := p.load(s, patterns)
	result, problems := generate.Packages(context.Background(), cfg, generate.Options{Fuzz: s.fuzz})
	for _, note := range result.Notes {
		p.say("%s %s", p.name(note.Path), note.Text)
	}
	if len(problems) > 0 {
		return generate.Result{}, problems
	}
	if s.verbose {
		for _, line := range result.Delegated {
			p.say("%s", line)
		}
	}
	if len(result.Files) == 0 {
		p.say("%s matches no packages", strings.Join(cfg.Patterns, " "))
	}
	return result, nil
}

// compare returns what differs from the files on disk.
func compare(files []output.File) (changes []output.Change, problems problem.List) {
	changes, errs := output.Compare(files)
	for _, err := range errs {
		found := problem.Problem{Reason: err.Error()}
		var foreign *output.ForeignError
		if errors.As(err, &foreign) {
			found = problem.Problem{
				Pos: token.Position{Filename: foreign.Path}, Reason: "restaqgen did not write this file and would overwrite it",
				Hint: "rename or remove it",
			}
		}
		problems.Add(found)
	}
	return changes, problems
}
