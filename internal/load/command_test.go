//go:build unix

package load

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func standIn(t *testing.T, script string) {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script = "#!/bin/sh\n" + strings.ReplaceAll(script, "GO", goCommand) + "\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func TestAllPackagesAreListedInOneRun(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	standIn(t, `echo "$@" >>`+log+`; exec GO "$@"`)
	dir := module(t, strings.ReplaceAll(`
-- a/a.go --
PACKAGE
-- b/b.go --
PACKAGE
-- c/c.go --
PACKAGE
`, "PACKAGE", "package p"))
	result, problems := Load(t.Context(), Config{Dir: dir, Patterns: []string{"./a", "./b", "./c"}})
	if len(problems) > 0 || len(result.Packages) != 3 {
		t.Fatalf("packages %d, problems %v", len(result.Packages), problems)
	}
	runs, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(runs), " -json"); n != 1 {
		t.Errorf("packages were listed %d times:\n%s", n, runs)
	}
}

func TestAGoCommandThatIsNewerAsksForAnUpdate(t *testing.T) {
	standIn(t, "case \"$*\" in\n*ReleaseTags*) echo '[go1.98 go1.99]' ;;\n*) exec GO \"$@\" ;;\nesac")

	dir := module(t, billing)
	if _, problems := Load(t.Context(), Config{Dir: dir}); len(problems) > 0 {
		t.Errorf("a package that can be read: %s", text(t, dir, problems))
	}
	if err := os.WriteFile(filepath.Join(dir, "new.go"), []byte("package shop\n\nfunc f() { new syntax }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, problems := Load(t.Context(), Config{Dir: dir})
	want := "update restaqgen: it was built with " + minor(runtime.Version()) + ", and the go command is go1.99\n\thint: "
	if got := text(t, dir, problems); !strings.HasPrefix(got, want) || !strings.Contains(got, "new.go:3:16: ") {
		t.Errorf("got\n%s", got)
	}
}
