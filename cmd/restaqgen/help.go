package main

import (
	"fmt"
	"io"
	"strings"
)

// synopsis is what "restaqgen help" begins with.
const synopsis = `Restaqgen writes the code that makes durable webhook handlers of marked functions.

Usage:

	restaqgen [flags] [packages]        generate; default: the package of go generate, else ./...
	restaqgen check [flags] [packages]  report what checks find, what a change breaks for executions in
	                                    flight, and what is not up to date; fail if there is any of it
	restaqgen lock [flags] [packages]   write restaq.lock.json alone, with breaking changes accepted
	restaqgen events [flags]            make a Go package of a provider's JSON Schemas
	restaqgen schema [flags] [packages] print JSON Schemas of //restaq:event structs and of steps
	restaqgen graph [flags] [packages]  draw what handlers do, step by step
	restaqgen help [VERB|markers]       print this, what it says of a verb, or the table of markers
	restaqgen version                   print the version
`

// flagTexts say what the flags of each verb are, in the order of the synopsis.
var flagTexts = []struct{ verb, text string }{
	{"generate", `
Flags for generating and checking:

	-n          print what would be written; write nothing (not for check)
	-v          print which types codecs leave to encoding/json, and why (not for check)
	-fuzz       add restaq_fuzz_test.go, which compares codecs with encoding/json;
	            once there, it is kept up to date (not for check)
	-json       print problems as a JSON array on standard output
	-tags list  build tags, separated by commas
	-C dir      run in dir
`},
	{"check", `
Flags for check: -fix to make the changes that checks suggest; -against git:REVISION|FILE|DIR
to compare with other lock files than those committed last; -format text|json|github.
`},
	{"lock", `
Flags for lock: -accept NAME to take the breaking changes of a step or handler on purpose, may
be repeated; -n, -json, -tags and -C as above.
`},
	{"events", `
Flags for events:

	-provider P    the provider, first word of every event type
	-in FILE|DIR   JSON Schema or OpenAPI, in JSON or YAML, or a folder of such files;
	               may be repeated; default: the schemas of P that restaqgen has
	-only TYPES    patterns of event types, as in charge.*,customer.created; may be
	               repeated; what they do not reach is left out
	-out DIR       the package's folder
	-package NAME  the package's name; default: from the provider
	-report        print how schemas were read, and where Go types say less
	-n, -C dir     as above

With -out alone it does again what restaq.events.json in DIR says it did before.
`},
	{"schema", `
Flags for schema: -out DIR to write files instead of printing; -n, -json, -tags and -C as above.
`},
	{"graph", `
Flags for graph:

	-format F      mermaid (default), dot, svg or json
	-o FILE        write a file; its ending says the format
	-handler NAME  draw this handler alone
	-tags, -C dir  as above
`},
}

const exitText = `
Exit status: 0 done or up to date, 1 problems or not up to date, 2 wrong usage.
`

// help prints the usage, what it says of a verb, or the table of markers.
func (p *process) help(args []string) int {
	topic := strings.Join(args, " ")
	if topic == "markers" {
		fmt.Fprint(p.stdout, markerTable())
		return statusOK
	}
	var text strings.Builder
	for _, f := range flagTexts {
		// A check has the flags of generating, too.
		if topic == "" || topic == f.verb || topic == "check" && f.verb == "generate" {
			text.WriteString(f.text)
		}
	}
	if text.Len() == 0 {
		return p.usage("no help on %q: there is help on markers, generate, check, lock, events, schema and graph", topic)
	}
	if topic == "" {
		io.WriteString(p.stdout, synopsis+text.String()+exitText)
	} else {
		io.WriteString(p.stdout, strings.TrimPrefix(text.String(), "\n"))
	}
	return statusOK
}
