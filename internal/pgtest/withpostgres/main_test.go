package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/restaq/restaq/internal/pgtest"
)

func TestExitCodeIsTheCommands(t *testing.T) {
	t.Setenv(pgtest.Env, "postgres://given")
	for _, test := range []struct {
		script string
		code   int
		err    string
	}{
		{"exit 0", 0, ""},
		{"exit 3", 3, ""},
		{"kill -KILL $$", 1, "killed"},
	} {
		code, err := run([]string{"/bin/sh", "-c", test.script})
		if code != test.code {
			t.Errorf("%s: exit code %d, want %d", test.script, code, test.code)
		}
		if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%s: error %v, want %q", test.script, err, test.err)
		}
	}
	if code, err := run([]string{filepath.Join(t.TempDir(), "missing")}); code != 1 || err == nil {
		t.Errorf("missing command: code %d, error %v, want 1 and an error", code, err)
	}
}

func TestCommandGetsTheServerThatWasGiven(t *testing.T) {
	t.Setenv(pgtest.Env, "postgres://given")
	if got := addressSeen(t); got != "postgres://given" {
		t.Errorf("command saw %q, want the address of the environment", got)
	}
}

func TestCommandGetsAServerIfNoneWasGiven(t *testing.T) {
	t.Setenv(pgtest.Env, "")
	if got := addressSeen(t); !strings.HasPrefix(got, "postgres://postgres:") {
		t.Errorf("command saw %q, want a private server's address", got)
	}
}

// addressSeen runs a command and returns the server that it was given.
func addressSeen(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "address")
	code, err := run([]string{"/bin/sh", "-c", `printf %s "$` + pgtest.Env + `" >"$1"`, "sh", file})
	if code != 0 || err != nil {
		t.Fatalf("run: code %d, error %v", code, err)
	}
	address, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(address)
}

func TestTerminationReachesTheCommand(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	// The command ends only by the signal: nothing is ever written to the pipe.
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	stdin := os.Stdin
	os.Stdin = reader
	defer func() { os.Stdin = stdin }()
	code, err := runWith("postgres://given", []string{"/bin/cat"}, signals)
	if code != 1 || err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("code %d, error %v, want 1 and terminated", code, err)
	}
}
