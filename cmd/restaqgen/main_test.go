package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"restaqgen": main})
}

var update = flag.Bool("update", false, "rewrite the texts that scripts compare with")

// TestScript runs testdata/script. Besides the commands of testscript there are
//
//	module PATH [tool]  write go.mod and go.sum of a module that uses this one,
//	                    and has restaqgen as a tool
//	says FILE TEXT      one of the compiler's messages on the last command's
//	                    standard error is about a line of FILE that has TEXT
func TestScript(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	goEnv := map[string]string{}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOROOT"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		goEnv[name] = strings.TrimSpace(string(out))
	}
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		UpdateScripts:      *update,
		Setup: func(env *testscript.Env) error {
			for name, value := range goEnv {
				env.Setenv(name, value)
			}
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOSUMDB", "off")
			env.Setenv("GOTOOLCHAIN", "local")
			env.Setenv("GOFLAGS", "")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"module": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) == 0 || len(args) > 2 {
					ts.Fatalf("usage: module PATH [tool]")
				}
				ts.Check(writeModule(root, ts.MkAbs("."), args[0], len(args) == 2))
			},
			"says": says,
		},
	})
}

// writeModule writes go.mod and go.sum of a module in dir that requires the one
// in root, from root.
func writeModule(root, dir, path string, tool bool) error {
	own, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	_, requirements, _ := strings.Cut(string(own), "require (") // two blocks, in front of the tools
	requirements, _, _ = strings.Cut(requirements, "\ntool ")
	mod := "module " + path + "\n\ngo 1.26.0\n\nrequire github.com/restaq/restaq v0.0.0\n\nrequire (" +
		requirements + "\nreplace github.com/restaq/restaq => " + root + "\n"
	if tool {
		mod += "\ntool github.com/restaq/restaq/cmd/restaqgen\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666)
}

// says implements the command of that name.
func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: says FILE TEXT")
	}
	file, text := args[0], args[1]
	for message := range strings.Lines(ts.ReadFile("stderr")) {
		_, at, ok := strings.Cut(message, file+":")
		if !ok {
			continue
		}
		var line int
		if _, err := fmt.Sscanf(at, "%d", &line); err != nil {
			continue
		}
		lines := strings.Split(ts.ReadFile(file), "\n")
		if line <= len(lines) && strings.Contains(lines[line-1], text) {
			return
		}
	}
	ts.Fatalf("no compiler message on a line of %s that says %q", file, text)
}
