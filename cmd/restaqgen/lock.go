package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/problem"
)

// lock writes the lock files of packages alone, with breaking changes accepted.
func (p *process) lock(args []string) int {
	var s settings
	var names []string
	flags := p.flagSet("lock")
	s.define(flags)
	flags.Func("accept", "take the breaking changes of this step or handler on purpose; may be repeated", func(name string) error {
		if name == "" {
			return errors.New("it is the name of a step or a handler")
		}
		names = append(names, name)
		return nil
	})
	dry := flags.Bool("n", false, "print what would be written; write nothing")
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
	if status := p.report(s, problems); status != statusOK {
		return status
	}
	files, idle, err := accept(result, names)
	if err != nil {
		return p.fail(err)
	}
	if len(idle) > 0 {
		p.say("nothing to accept of %s: no breaking change is about a step or handler of that name; restaqgen check lists them", strings.Join(idle, ", "))
		return statusProblems
	}
	changes, problems := compare(files)
	if status := p.report(s, problems); status != statusOK {
		return status
	}
	return p.write(changes, *dry)
}

// accept returns the lock files in which breaking changes are accepted, and the
// names that have none in any package.
func accept(result generate.Result, names []string) (files []output.File, idle []string, err error) {
	idle = names
	for _, e := range result.Evolutions {
		file, others, err := e.Accept(names)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file)
		idle = slices.DeleteFunc(slices.Clone(idle), func(name string) bool { return !slices.Contains(others, name) })
	}
	return files, idle, nil
}

// evolved returns what changed since a lock file, as problems: what stops
// something, and what is only worth a note.
func (p *process) evolved(result generate.Result, against string) (problems, notes problem.List, err error) {
	changes, err := result.Changes(context.Background(), against, p.dir)
	for _, c := range changes {
		if c.Note {
			notes.Add(c)
		} else {
			problems.Add(c)
		}
	}
	return problems, notes, err
}

// formats are the forms in which check reports.
var formats = []string{"text", "json", "github"}

// format adds the flag of that name to a verb's.
func (s *settings) format(value string) error {
	if !slices.Contains(formats, value) {
		return fmt.Errorf("the formats are %s", strings.Join(formats, ", "))
	}
	s.json, s.github = value == "json", value == "github"
	return nil
}
