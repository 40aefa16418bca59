// Restaqvet checks how handlers and steps are written. The go command runs it:
//
//	go vet -vettool=$(go tool -n restaqvet) ./...
//
// which needs "go get -tool github.com/restaq/restaq/cmd/restaqvet" once. It finds
// what restaqgen check finds, in packages whose generated files are up to date.
// Flags of the go command choose checks: -directcall runs that one alone,
// -directcall=false all others. docs/checks has a page on each check, and says how
// to silence it on a line.
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/restaq/restaq/checks"
)

func main() { unitchecker.Main(checks.All()...) }
