package main

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/checktest"
)

var update = flag.Bool("update", false, "record the findings in the bad fixtures")

const (
	fixtures = "../../checks/testdata/fixtures"
	bad      = "../../checks/testdata/bad"
)

// TestNoFalseAlarms runs all checks, in both ways, over handlers in the shape of real
// ones: of a payment desk, a bot for builds and a bot in a chat. They are in order.
func TestNoFalseAlarms(t *testing.T) {
	gen, vet := commands(t)
	dir := checktest.Module(t, fixtures)
	for _, cmd := range []*exec.Cmd{gen, vet} {
		if out, err := run(cmd, dir); err != nil || out != "" {
			t.Errorf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
}

// TestMistakesAreFound runs them over the same handlers with mistakes in them.
func TestMistakesAreFound(t *testing.T) {
	gen, vet := commands(t)
	source := t.TempDir()
	for _, from := range []string{fixtures, bad} {
		overlay(t, source, from)
	}
	dir := checktest.Module(t, source)
	found, _ := run(gen, dir)
	byVet, _ := run(vet, dir)
	if got, want := strings.Join(findings(byVet), "\n"), strings.Join(findings(found), "\n"); got != want {
		t.Errorf("go vet finds\n%s\nand restaqgen check\n%s", got, want)
	}
	golden := filepath.Join(bad, "findings.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(found), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if found != string(want) {
		t.Errorf("found\n%s\nwant\n%s", found, want)
	}
}

// overlay copies the Go files of one folder into another, over those that are there.
func overlay(t *testing.T, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o777); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), content, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// commands returns restaqgen check ./... and go vet with all checks.
func commands(t *testing.T) (gen, vet *exec.Cmd) {
	t.Helper()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "../restaqgen", ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build commands: %v\n%s", err, out)
	}
	return exec.Command(filepath.Join(bin, "restaqgen"), "check", "./..."),
		exec.Command("go", "vet", "-vettool="+filepath.Join(bin, "restaqvet"), "./...")
}

// run runs a command in a folder, without a network, and returns what it prints.
func run(cmd *exec.Cmd, dir string) (string, error) {
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "PWD="+dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
