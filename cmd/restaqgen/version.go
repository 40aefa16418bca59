package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version prints restaqgen's version and that of the Go it was built with,
// which is the newest that it can read.
func (p *process) version(args []string) int {
	if len(args) > 0 {
		return p.usage("version takes no arguments")
	}
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	fmt.Fprintf(p.stdout, "restaqgen %s %s\n", version, runtime.Version())
	return statusOK
}
