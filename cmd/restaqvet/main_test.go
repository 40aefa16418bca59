package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/restaq/restaq/internal/checktest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"restaqvet": main})
}

// TestScript runs testdata/script, each in a module example.com that requires this
// one. Besides the commands of testscript, and restaqgen, there is
//
//	same A B    two files have the same findings, in any order and grouping
func TestScript(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "../restaqgen")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build restaqgen: %v\n%s", err, out)
	}
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOROOT"} {
				out, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				env.Setenv(name, strings.TrimSpace(string(out)))
			}
			vet, err := exec.LookPath("restaqvet")
			if err != nil {
				return err
			}
			env.Setenv("RESTAQVET", vet)
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOSUMDB", "off")
			env.Setenv("GOFLAGS", "")
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			return checktest.WriteModule(env.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"same": same},
	})
}

// same implements the command of that name.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same A B")
	}
	a, b := findings(ts.ReadFile(args[0])), findings(ts.ReadFile(args[1]))
	if len(a) == 0 || !slices.Equal(a, b) {
		ts.Fatalf("%s has\n%s\n%s has\n%s", args[0], strings.Join(a, "\n"), args[1], strings.Join(b, "\n"))
	}
}

// findings returns what a command printed, by finding and sorted, without the
// lines that the go command adds.
func findings(out string) []string {
	var found []string
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#") || line == "":
		case strings.HasPrefix(line, "\t") && len(found) > 0:
			found[len(found)-1] += "\n" + line
		default:
			found = append(found, filepath.ToSlash(strings.TrimPrefix(line, "."+string(os.PathSeparator))))
		}
	}
	slices.Sort(found)
	return found
}
