//go:build linux

package chaos

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
)

// server is a PostgreSQL server of the test's own, which it kills and starts
// again as it was started.
type server struct {
	url  string
	data string // directory
	logs string // directory
	exe  string
	args []string
	as   *syscall.Credential
}

// newServer starts a server that ends with t.
func newServer(t *testing.T) *server {
	t.Helper()
	return newServerWith(t, pgtest.Config{})
}

func newServerWith(t *testing.T, cfg pgtest.Config) *server {
	t.Helper()
	started, err := pgtest.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := started.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := &server{url: started.URL(), logs: t.TempDir()}
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := conn.QueryRow(t.Context(), "SHOW data_directory").Scan(&s.data); err != nil {
		t.Fatal(err)
	}
	if err := s.look(); err != nil {
		t.Fatal(err)
	}
	return s
}

// pid returns the server's first process.
func (s *server) pid() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.data, "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}

// look notes how the server was started.
func (s *server) look() error {
	pid, err := s.pid()
	if err != nil {
		return err
	}
	proc := fmt.Sprintf("/proc/%d", pid)
	if s.exe, err = os.Readlink(proc + "/exe"); err != nil {
		return err
	}
	line, err := os.ReadFile(proc + "/cmdline")
	if err != nil {
		return err
	}
	for arg := range bytes.SplitSeq(bytes.TrimRight(line, "\x00"), []byte{0}) {
		s.args = append(s.args, string(arg))
	}
	info, err := os.Stat(proc)
	if err != nil {
		return err
	}
	if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != os.Geteuid() {
		s.as = &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
	}
	return nil
}

// parentOf returns a process's parent and whether the process still lives.
func parentOf(pid string) (parent string, lives bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "", false
	}
	// pid (name) state parent …; the name may hold anything.
	rest := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(rest) < 2 || rest[0] == "Z" {
		return "", false
	}
	return rest[1], true
}

// processes returns the server's first process and its children.
func (s *server) processes() ([]int, error) {
	first, err := s.pid()
	if err != nil {
		return nil, err
	}
	// It must not have more children while they are counted.
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil {
		return nil, err
	}
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	all := []int{first}
	for _, name := range names {
		name = filepath.Base(name)
		if parent, lives := parentOf(name); lives && parent == strconv.Itoa(first) {
			pid, err := strconv.Atoi(name)
			if err != nil {
				return nil, err
			}
			all = append(all, pid)
		}
	}
	return all, nil
}

// kill ends all of the server's processes as a crash of its machine does, but
// for what the kernel has in memory, and returns when they have gone.
func (s *server) kill(ctx context.Context) error {
	all, err := s.processes()
	if err != nil {
		return err
	}
	for _, pid := range all {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	for _, pid := range all {
		for {
			if _, lives := parentOf(strconv.Itoa(pid)); !lives {
				break
			}
			if err := pause(ctx, 5*time.Millisecond); err != nil {
				return fmt.Errorf("kill postgres: process %d is still there: %w", pid, err)
			}
		}
	}
	// Somebody else may get the number by now, and the server would then not
	// start.
	return os.Remove(filepath.Join(s.data, "postmaster.pid"))
}

// start starts the server after kill, and returns when it takes connections. A
// process of the old one that was being born may keep its memory for a moment:
// the server is started until it does.
func (s *server) start(ctx context.Context) error {
	for {
		said, err := s.startOnce(ctx)
		if err == nil {
			return nil
		}
		if pause(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("start postgres again: %w\n%s", err, said)
		}
	}
}

func (s *server) startOnce(ctx context.Context) (said []byte, err error) {
	log, err := os.Create(filepath.Join(s.logs, "postgres.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(s.exe, s.args[1:]...)
	cmd.Dir = filepath.Dir(s.data)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.as}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what it says is in the log
		close(ended)
	}()
	if s.ready(ctx, ended) {
		return nil, nil
	}
	said, _ = os.ReadFile(log.Name()) // best effort
	return said, cmp.Or(ctx.Err(), errors.New("it ended"))
}

// ready reports whether the server took a connection before it ended.
func (s *server) ready(ctx context.Context, ended <-chan struct{}) bool {
	for {
		conn, err := pgx.Connect(ctx, s.url)
		if err == nil {
			conn.Close(ctx)
			return true
		}
		select {
		case <-ended:
			return false
		default:
		}
		if pause(ctx, 20*time.Millisecond) != nil {
			return false
		}
	}
}
