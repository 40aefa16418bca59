package main

// What restaqgen prints, and its exit status:
//
// Standard output has results and nothing else: diffs, what would be written,
// changes that break nothing, problems under -json and -format, help that was
// asked for, the version. Everything else
// goes to standard error. Problems of the user's code have the form
//
//	file:line:col: step NAME: reason
//		hint: …
//
// that editors know, with file names relative to the working directory; all
// other lines begin with "restaqgen: ". Without anything to say it is silent.
//
//	0  done; for check: everything is up to date, and nothing breaks
//	1  problems, or for check: a file is stale or left over, or a change breaks
//	   executions in flight
//	2  a wrong command line

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/restaq/restaq/internal/load"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/problem"
)

const (
	statusOK       = 0
	statusProblems = 1
	statusUsage    = 2
)

// process is what a verb sees of the world.
type process struct {
	stdout, stderr io.Writer
	getenv         func(string) string

	dir string // absolute: where packages are looked for, and names relative to
}

// settings are the flags that generating and checking share.
type settings struct {
	json bool
	tags string
	dir  string

	verbose, fuzz bool // for generating alone
	github        bool // for checking alone: print problems as annotations
}

func (s *settings) define(flags *flag.FlagSet) {
	flags.BoolVar(&s.json, "json", false, "print problems as a JSON array on standard output")
	flags.StringVar(&s.tags, "tags", "", "build tags, separated by commas")
	flags.StringVar(&s.dir, "C", "", "run in this folder")
}

// flagSet returns an empty set for a verb.
func (p *process) flagSet(verb string) *flag.FlagSet {
	flags := flag.NewFlagSet("restaqgen "+verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// parse parses a verb's arguments. If it returns false, status is the exit
// status.
func (p *process) parse(flags *flag.FlagSet, args []string) (status int, ok bool) {
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return p.help(nil), false
	}
	if err != nil {
		return p.usage("%v", err), false
	}
	for _, arg := range flags.Args() {
		if strings.HasSuffix(arg, ".go") {
			return p.usage("%s is a file: name its package, by its folder", arg), false
		}
	}
	return statusOK, true
}

// usage reports a wrong command line.
func (p *process) usage(format string, args ...any) int {
	p.say(format, args...)
	p.say(`run "restaqgen help" for usage`)
	return statusUsage
}

// fail reports an error.
func (p *process) fail(err error) int {
	p.say("%v", err)
	return statusProblems
}

// plain prints a line on standard error that has a form of its own.
func (p *process) plain(line string) { fmt.Fprintln(p.stderr, line) }

// say prints a line on standard error.
func (p *process) say(format string, args ...any) {
	fmt.Fprintf(p.stderr, "restaqgen: "+format+"\n", args...)
}

// enter makes dir, or the working directory, the one in which the verb works.
func (p *process) enter(dir string) error {
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	// The go command names files as the shell's working directory is named.
	if pwd := p.getenv("PWD"); pwd != "" && sameFile(pwd, wd) {
		wd = pwd
	}
	p.dir = wd
	p.dir = p.path(dir)
	return nil
}

// path is a path of the command line as an absolute one.
func (p *process) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(p.dir, name)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// load is what to load for a verb's arguments.
func (p *process) load(s settings, patterns []string) load.Config {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
		if p.getenv("GOFILE") != "" && p.getenv("GOPACKAGE") != "" { // go generate
			patterns = []string{"."}
		}
	}
	return load.Config{Dir: p.dir, Patterns: patterns, Tags: s.tags}
}

// report prints problems and returns the exit status.
func (p *process) report(s settings, problems problem.List) int {
	var err error
	switch {
	case s.json:
		err = problems.WriteJSON(p.stdout, p.dir)
	case s.github:
		err = problems.WriteGitHub(p.stdout, p.dir)
	default:
		err = problems.Write(p.stderr, p.dir)
	}
	if err != nil {
		return p.fail(err)
	}
	if problems.Stops() {
		return statusProblems
	}
	return statusOK
}

// name is a file's name as it is printed.
func (p *process) name(path string) string {
	if rel, err := filepath.Rel(p.dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// write makes the changes, or only prints them in a dry run.
func (p *process) write(changes []output.Change, dry bool) int {
	for _, c := range changes {
		if dry {
			fmt.Fprintf(p.stdout, "%s %s\n", c.Verb(), p.name(c.Path))
			continue
		}
		if err := c.Commit(); err != nil {
			return p.fail(err)
		}
	}
	return statusOK
}
