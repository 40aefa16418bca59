// Restaqgen reads the markers in Go packages and writes the code that makes
// durable webhook handlers of the functions they stand on.
//
// Usage:
//
//	restaqgen [flags] [packages]
//	restaqgen check [flags] [packages]
//	restaqgen lock [-accept NAME] [flags] [packages]
//	restaqgen events -provider P [-in FILE|DIR] [-only TYPES] -out DIR [-package NAME] [-report]
//	restaqgen schema [flags] [packages]
//	restaqgen graph [-format mermaid|dot|svg|json] [-o FILE] [-handler NAME] [packages]
//	restaqgen help [markers]
//	restaqgen version
//
// It is made for go generate:
//
//	//go:generate go tool restaqgen
//
// which needs "go get -tool github.com/restaq/restaq/cmd/restaqgen" once.
//
// # Generating
//
// Without a verb it generates for packages, by default the one that go generate
// runs in, else ./... . Into the folder of each package that has a marker it
// writes
//
//	restaq_gen.go        wrappers, registration, descriptions of steps
//	restaq_codec_gen.go  codecs, and guards that stop compiling when the source
//	                     has changed and was not generated again
//	restaq.lock.json     what records look like and looked like before; commit it
//	restaq.graph.json    what the handlers do, step by step, which restaq_gen.go
//	                     embeds for tools
//
// A package without markers gets none of them, and loses those that restaqgen
// wrote. A file that a person wrote is never touched. Files that need no change
// keep their time. If anything is wrong with the packages, all of it is reported
// and nothing is written. It does not matter what is in the generated Go files:
// they may be missing, stale, broken or in a merge conflict. The lock file is
// another matter, as it says what cannot be read off the source: a damaged one is
// an error.
//
// The flags are
//
//	-n          print what would be written; write nothing
//	-json       print problems as a JSON array on standard output
//	-tags list  build tags, separated by commas
//	-C dir      run in dir
//
// # Checking
//
// Check writes nothing. It reports what the checks find and what a change of the
// source does to executions in flight, and prints a unified diff of what
// generating would change. It exits with status 1 if a check has found something,
// if a change breaks executions in flight, or if a generated file is not up to
// date. It is made for CI, and takes the flags -json, -tags and -C, and
//
//	-fix          make the changes that checks suggest
//	-against X    compare with git:REVISION, a lock file, or a folder that has
//	              lock files where this one has packages; default: git:HEAD,
//	              and where there is no git the files on disk
//	-format F     text, json (as -json), or github: annotations of files
//
// That check had nothing to say is remembered in the user's cache, until something
// changes that it read.
//
// Changes that break nothing are printed on standard output, in JSON with the
// member "note", as annotations with the level notice.
//
// # Locking
//
// Lock writes the lock files alone, as generating does. Accept takes the breaking
// changes of a step or a handler on purpose, and may be repeated:
//
//	restaqgen lock -accept record-payment ./billing
//
// It takes -n, -json, -tags and -C, too.
//
// # Events
//
// Events turns JSON Schemas into a Go package with a struct for each event type
// of a provider:
//
//	restaqgen events -provider acme -in schemas/acme -out acme
//
// In is a file, or a folder that is searched for files, and can be given more than
// once. It may be JSON Schema of any draft since 04 or OpenAPI 3.0 and 3.1, in
// JSON or YAML. References lead to given files alone; nothing is fetched. Without
// in, the schemas that restaqgen has of the provider are read:
//
//	restaqgen events -provider stripe -only 'charge.*,customer.created' -out stripe
//
// Only picks event types, by patterns in which * stands for any text; types that
// they do not reach are left out. Package is the package's name, by default made
// from the provider's. Report prints how each file was read, and where the Go
// types say less than the schema. It takes -n and -C, too.
//
// The options are kept beside the package, in restaq.events.json. With out alone
// they are taken from there, and check compares the package with what they give.
//
// # Schemas
//
// Schema prints JSON Schemas, of draft 2020-12, of structs marked //restaq:event
// and of the inputs and outputs of steps, as one JSON object. With -out DIR it
// writes DIR/PROVIDER/TYPE.json for each event type, as events reads them, and
// DIR/restaq.steps.json. It takes -n, -json, -tags and -C, too.
//
// # Graphs
//
// Graph draws what handlers do, from their source: steps in their order, branches,
// loops, early returns. It prints a flowchart for Mermaid, or in another format:
// dot for Graphviz, svg for a picture that needs nothing else, json for tools.
// With -o it writes a file, whose ending says the format. Handler is the one
// handler to draw, by its name. It takes -tags and -C, too.
package main

import (
	"os"
	"runtime/debug"
	"slices"

	"github.com/restaq/restaq/internal/marker"
)

func main() {
	// The process is short: collecting garbage would cost a fifth of its time.
	// Above the limit it is collected all the same.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 30)
	os.Exit(run(os.Args[1:], process{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}))
}

// run runs the verb that args begin with and returns the exit status.
func run(args []string, p process) int {
	verb := ""
	if len(args) > 0 {
		verb = args[0]
	}
	switch verb {
	case "check":
		return p.check(args[1:])
	case "events":
		return p.events(args[1:])
	case "lock":
		return p.lock(args[1:])
	case "schema":
		return p.schema(args[1:])
	case "graph":
		return p.graph(args[1:])
	case "version":
		return p.version(args[1:])
	case "help":
		return p.help(args[1:])
	}
	status := p.generate(args)
	if status == statusOK {
		return status
	}
	verbs := []string{"check", "events", "graph", "help", "lock", "schema", "version"}
	late := slices.IndexFunc(args, func(arg string) bool { return slices.Contains(verbs, arg) })
	if near := marker.Nearest(verb, verbs); near != "" {
		p.say("did you mean the verb %s?", near)
	} else if late >= 0 {
		p.say("the verb %s comes before its flags", args[late])
	}
	return status
}
