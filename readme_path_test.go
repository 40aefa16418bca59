//go:build unix

package restaq_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// replace replaces what stands exactly once in text.
func replace(t *testing.T, text, old, new string) string {
	t.Helper()
	if n := strings.Count(text, old); n != 1 {
		t.Fatalf("README.md: %d times %q in a block, want once:\n%s", n, old, text)
	}
	return strings.Replace(text, old, new, 1)
}

// TestFromAnEmptyFolder does what README.md tells a reader to do. Besides the
// commands of testscript there are
//
//	serve FILE        run a shell script that does not end, until its program
//	                  takes connections
//	interrupt         end it, as Ctrl-C does
//	take ID           set ID to the execution on the last standard output, and
//	                  put it into the last block, where the reader does
//	until TEXT FILE   run a shell script again and again, until it prints TEXT
func TestFromAnEmptyFolder(t *testing.T) {
	for _, program := range []string{"sh", "curl", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("README.md's commands need %s: install it (apt-get install %[1]s)", program)
		}
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	openFolders(t, root)
	if out, err := exec.CommandContext(t.Context(), "go", "mod", "download").CombinedOutput(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	texts := blocks(t, "From an empty folder", "sh", "go", "sh", "sh", "sh")
	address := freeAddress(t)
	s := &server{address: address}
	files := map[string]string{
		"1.sh": replace(t, texts[0], "go mod init example.com/shop\n",
			"go mod init example.com/shop\ngo mod edit -replace 'github.com/restaq/restaq="+root+"'\n"),
		"main.go": replace(t, texts[1], "localhost:8080", address),
		"2.sh":    texts[2],
		"3.sh":    replace(t, texts[3], "localhost:8080", address),
		"4.sh":    texts[4],
	}
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/from-an-empty-folder.txtar"},
		Setup: func(env *testscript.Env) error {
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o666); err != nil {
					return err
				}
			}
			env.Defer(s.kill)
			return readersGo(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":     s.serve,
			"interrupt": s.interrupt,
			"take":      take,
			"until":     until,
		},
	})
}

// openFolders opens every folder below root, which tells go test that a cached
// result is good only as long as no file there has changed.
func openFolders(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since its folder was read
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// freeAddress returns an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// readersGo sets what a reader's go command needs: this machine's caches, and
// where modules come from.
func readersGo(env *testscript.Env) error {
	names := []string{"GOCACHE", "GOMODCACHE", "GOROOT", "GOPROXY"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	values := strings.Split(string(out), "\n")
	for i, name := range names {
		if name == "GOPROXY" {
			name = "READERS_GOPROXY"
		}
		env.Setenv(name, values[i])
	}
	env.Setenv("GOSUMDB", "off") // the working tree's go.sum has verified what there is
	env.Setenv("GOFLAGS", "")
	env.Setenv("GOTOOLCHAIN", "local")
	return nil
}

// server is the program that the reader runs.
type server struct {
	address string
	cmd     *exec.Cmd
	ended   chan error
	out     strings.Builder // not read before the end
}

func (s *server) serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve FILE")
	}
	s.cmd = exec.Command("sh", "-e", ts.MkAbs(args[0]))
	s.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "GOCACHE", "GOMODCACHE", "GOROOT", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN"} {
		s.cmd.Env = append(s.cmd.Env, name+"="+ts.Getenv(name))
	}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does, so that Ctrl-C is for all of it
	ts.Check(s.cmd.Start())
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.cmd.Wait() }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := net.Dial("tcp", s.address); err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-s.ended:
			s.cmd = nil
			ts.Fatalf("the program ended: %v\n%s", err, &s.out)
		case <-tick.C:
		}
	}
}

func (s *server) interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: interrupt")
	}
	ts.Check(syscall.Kill(-s.cmd.Process.Pid, syscall.SIGINT))
	err := <-s.ended
	s.cmd = nil
	ts.Logf("[server]\n%s", &s.out)
	if exit := new(exec.ExitError); err != nil && !(errors.As(err, &exit) && interrupted(exit)) {
		ts.Fatalf("the program ended: %v", err)
	}
	if n := strings.Count(s.out.String(), "thank you"); n != 1 {
		ts.Fatalf("the program thanked %d times, want once", n)
	}
}

// interrupted reports whether the shell itself, not its last command, ended by
// the signal: shells differ in that.
func interrupted(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT
}

// kill ends the program after a script that failed.
func (s *server) kill() {
	if s.cmd != nil {
		syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.ended
	}
}

func take(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || args[0] != "ID" {
		ts.Fatalf("usage: take ID")
	}
	id := regexp.MustCompile(`[0-9a-f-]{36}`).FindString(ts.ReadFile("stdout"))
	if id == "" {
		ts.Fatalf("no execution's id on standard output")
	}
	ts.Setenv("ID", id)
	last := ts.MkAbs("../4.sh")
	text := strings.Replace(ts.ReadFile(last), "inspect ID", "inspect "+id, 1)
	ts.Check(os.WriteFile(last, []byte(text), 0o666))
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: until TEXT FILE")
	}
	for deadline := time.Now().Add(time.Minute); ; {
		ts.Check(ts.Exec("sh", "-e", args[1]))
		if strings.Contains(ts.ReadFile("stdout"), args[0]) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s never printed %q", args[1], args[0])
		}
	}
}
