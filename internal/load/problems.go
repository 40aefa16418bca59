package load

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/restaq/restaq/internal/problem"
)

// packageProblems returns the errors of a package that the user must know:
// those of the go command and the parser. Type errors are data, save those that
// say that a package cannot be imported or read at all.
func packageProblems(cfg Config, p *packages.Package) problem.List {
	var problems problem.List
	for _, e := range p.Errors {
		pos, message := position(cfg.Dir, e.Pos), strings.TrimSpace(e.Msg)
		switch {
		case isVersionNote(e) || isCompileFailure(e) || e.Kind == packages.TypeError:
			continue
		case isOutputName(pos.Filename) && outputOnDisk(pos.Filename):
			continue
		case pos.Filename == "" && outputAtFault(p, message):
			continue
		}
		problems.Add(problem.Problem{Pos: pos, Reason: firstLine(message), Hint: listHint(cfg.Dir, message)})
	}
	for _, e := range p.TypeErrors {
		if !isHardTypeError(e.Msg) {
			continue
		}
		problems.Add(problem.Problem{Pos: e.Fset.PositionFor(e.Pos, false), Reason: importReason(p, firstLine(e.Msg))})
	}
	if newerGo(p) && len(problems) > 0 {
		problems.Add(updateProblem(p))
	}
	return problems
}

var notInStd = regexp.MustCompile(`^package (\S+) is not in std`)

// listHint says what to do about an error of the go command, "" if that is
// clear.
func listHint(dir, message string) string {
	if strings.Contains(message, "does not contain main module") || strings.Contains(message, "go.mod file not found") {
		return "packages are in a module: run go mod init, or name the module's folder with -C"
	}
	if m := notInStd.FindStringSubmatch(message); m != nil {
		if info, err := os.Stat(filepath.Join(dir, m[1])); err == nil && info.IsDir() {
			return "a folder is written ./" + m[1]
		}
	}
	return ""
}

// newerGo reports whether the go command is newer than the parser and type
// checker that this program was built with.
func newerGo(p *packages.Package) bool {
	for _, e := range p.Errors {
		if isVersionNote(e) {
			return true
		}
	}
	return false
}

var versionNote = regexp.MustCompile(`^This application uses version go1\.\d+ of the source-processing packages but runs version (go1\.\d+) of 'go list'`)

func isVersionNote(e packages.Error) bool { return versionNote.MatchString(e.Msg) }

// isHardTypeError reports whether a type error means that nothing about the
// package can be relied on.
func isHardTypeError(message string) bool {
	if strings.HasPrefix(message, "could not import ") {
		return !strings.Contains(message, "(import cycle: ") // which the go command reports
	}
	return strings.HasPrefix(message, "package requires newer Go version")
}

// importReason returns the message of a failed import, with what the go command
// says about the package in the place of what the type checker does.
func importReason(p *packages.Package, message string) string {
	path, _, ok := strings.Cut(strings.TrimPrefix(message, "could not import "), " (")
	if dep := p.Imports[path]; ok && dep != nil {
		for _, e := range dep.Errors {
			if e.Kind == packages.ListError && !isCompileFailure(e) {
				return fmt.Sprintf("could not import %s (%s)", path, strings.TrimSuffix(firstLine(e.Msg), "; to add it:"))
			}
		}
	}
	return message
}

func updateProblem(p *packages.Package) problem.Problem {
	command := "the go command is newer"
	for _, e := range p.Errors {
		if m := versionNote.FindStringSubmatch(e.Msg); m != nil {
			command = "the go command is " + m[1]
		}
	}
	return problem.Problem{
		Reason: fmt.Sprintf("update restaqgen: it was built with %s, and %s", minor(runtime.Version()), command),
		Hint:   "go get -tool github.com/restaq/restaq/cmd/restaqgen@latest, or build it again with the newer Go",
	}
}

// minor returns a Go version without its patch number.
func minor(version string) string {
	if parts := strings.SplitN(version, ".", 3); len(parts) == 3 {
		return parts[0] + "." + parts[1]
	}
	return version
}

// isCompileFailure reports whether an error of the go command repeats what the
// compiler said, which the type checker finds too.
func isCompileFailure(e packages.Error) bool {
	return e.Kind == packages.ListError && strings.HasPrefix(e.Msg, "# ")
}

// outputAtFault reports whether an error that has no position is the fault of
// our own output: a package clause or an import that it still has.
func outputAtFault(p *packages.Package, message string) bool {
	if _, stack, ok := strings.Cut(message, "import cycle not allowed: import stack: ["); ok {
		return outputClosesCycle(p, strings.Fields(strings.TrimSuffix(stack, "]")))
	}
	for _, name := range outputNames {
		for _, mention := range []string{"(" + name + ")", name + ":"} {
			if strings.Contains(message, mention) && outputOnDisk(filepath.Join(folder(p), name)) {
				return true
			}
		}
	}
	return false
}

// outputClosesCycle reports whether, on a cycle of imports, p's step to the
// next package is one that no file of the user's takes.
func outputClosesCycle(p *packages.Package, stack []string) bool {
	for i, path := range stack[:max(len(stack)-1, 0)] {
		if path == p.PkgPath && !imports(p, stack[i+1]) {
			return true
		}
	}
	return false
}

func imports(p *packages.Package, path string) bool {
	for _, file := range p.Syntax {
		for _, spec := range file.Imports {
			if spec.Path.Value == strconv.Quote(path) {
				return true
			}
		}
	}
	return false
}

// position reads the position of a go/packages error: "file:line:col", with
// column or line left out, or "-" or "" for none.
func position(dir, pos string) token.Position {
	if pos == "" || pos == "-" {
		return token.Position{}
	}
	var numbers []int
	for len(numbers) < 2 {
		i := strings.LastIndexByte(pos, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(pos[i+1:])
		if err != nil {
			break
		}
		numbers = append([]int{n}, numbers...)
		pos = pos[:i]
	}
	p := token.Position{Filename: pos}
	if len(numbers) > 0 {
		p.Line = numbers[0]
	}
	if len(numbers) > 1 {
		p.Column = numbers[1]
	}
	if !filepath.IsAbs(p.Filename) {
		if abs, err := filepath.Abs(filepath.Join(dir, p.Filename)); err == nil {
			p.Filename = abs
		}
	}
	return p
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}

// listFailure is the problem of a go command that did not run to its end.
func listFailure(err error) problem.Problem {
	message := strings.TrimSpace(err.Error())
	p := problem.Problem{Reason: "list packages: " + strings.ReplaceAll(message, "\n", "\n\t")}
	if strings.Contains(message, "GOTOOLCHAIN=local") || strings.Contains(message, "requires go >=") {
		p.Hint = "the module asks for a newer Go: install it, then update restaqgen"
	}
	return p
}
