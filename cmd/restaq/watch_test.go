package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// watched are the commands that run beside their scripts.
var watched sync.Map // of *watching, by *testscript.TestScript

// watching is a command that runs.
type watching struct {
	cmd   *exec.Cmd
	lines chan string // of both outputs; closed at their end
}

func watch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: watch COMMAND ARGS...")
	}
	program, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.Command(program, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "RESTAQ_STORE", "RESTAQ_UI_LOGIN"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	out, in, err := os.Pipe()
	ts.Check(err)
	cmd.Stdout, cmd.Stderr = in, in
	ts.Check(cmd.Start())
	in.Close()
	w := &watching{cmd, make(chan string, 1000)}
	ts.Defer(func() { cmd.Process.Kill() })
	go func() {
		defer close(w.lines)
		defer out.Close()
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if line != "" {
				w.lines <- line
			}
			if err == io.EOF {
				return
			}
		}
	}()
	watched.Store(ts, w)
}

// running returns the command that runs beside the script.
func running(ts *testscript.TestScript) *watching {
	w, ok := watched.Load(ts)
	if !ok {
		ts.Fatalf("no command is watched")
	}
	return w.(*watching)
}

func sees(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sees PATTERN")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	patience := time.After(time.Minute)
	for {
		select {
		case line, ok := <-running(ts).lines:
			if !ok {
				ts.Fatalf("the command has ended, and printed no line that matches")
			}
			ts.Logf("%s", line)
			if pattern.MatchString(line) {
				return
			}
		case <-patience:
			ts.Fatalf("the command prints no line that matches")
		}
	}
}

func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: interrupt")
	}
	w := running(ts)
	ts.Check(w.cmd.Process.Signal(os.Interrupt))
	for line := range w.lines {
		ts.Logf("%s", line)
	}
	ts.Check(w.cmd.Wait())
}
