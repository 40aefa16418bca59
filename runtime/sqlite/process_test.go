package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
)

// A test that needs another process runs this test program again, with the
// name of a role and a path in its environment.
const roleVariable, pathVariable = "RESTAQ_SQLITE_TEST_ROLE", "RESTAQ_SQLITE_TEST_PATH"

// roles are what other processes do. Each prints a line for each thing done.
var roles = map[string]func(ctx context.Context, path string) error{
	// open opens a fresh file at the same time as others.
	"open": func(ctx context.Context, path string) error {
		s, err := Open(path)
		if err != nil {
			return err
		}
		key, err := s.FingerprintKey(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("%x\n", key)
		return s.Close()
	},
	// insert stores events until it is killed.
	"insert": func(ctx context.Context, path string) error {
		s, err := Open(path)
		if err != nil {
			return err
		}
		for i := 0; ; i++ {
			id := fmt.Sprint("evt_killed_", i)
			if err := insert(ctx, s, id); err != nil {
				return err
			}
			fmt.Println(id)
		}
	},
	// write stores events from 32 goroutines.
	"write": func(ctx context.Context, path string) error {
		s, err := Open(path)
		if err != nil {
			return err
		}
		for err := range many(32, func(i int) error { return insert(ctx, s, fmt.Sprint("evt_other_", i)) }) {
			return err
		}
		return s.Close()
	},
	// read reads over and over until it is killed.
	"read": func(ctx context.Context, path string) error {
		s, err := OpenConfig(Config{Path: path, NoMigrate: true})
		if err != nil {
			return err
		}
		fmt.Println("reading")
		for {
			page, err := s.List(ctx, restaq.Filter{Limit: 1000})
			if err != nil {
				return err
			}
			for _, e := range page.Executions {
				if _, err := s.History(ctx, e.ID); err != nil {
					return err
				}
			}
		}
	},
}

// many runs fn n times at once and sends the errors.
func many(n int, fn func(i int) error) <-chan error {
	errs := make(chan error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for j := range 10 {
				if err := fn(10*i + j); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return errs
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := roles[role](context.Background(), os.Getenv(pathVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is another process in its role.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
	errs  strings.Builder
}

func start(t *testing.T, role, path string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.Env = append(os.Environ(), roleVariable+"="+role, pathVariable+"="+path)
	p.Stderr = &p.errs
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// kill ends the process as a crash would. It must not have ended by itself.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	err := p.Wait()
	if p.errs.Len() > 0 || err == nil || p.ProcessState.ExitCode() >= 0 {
		t.Errorf("the process had ended by itself: %v: %s", err, p.errs.String())
	}
}

func TestProcessesThatOpenAFreshFileAtOnceAllSucceed(t *testing.T) {
	path := newPath(t)
	var others []*process
	for range 4 {
		others = append(others, start(t, "open", path))
	}
	keys := map[string]bool{}
	for _, p := range others {
		for p.lines.Scan() {
			keys[p.lines.Text()] = true
		}
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %s", err, p.errs.String())
		}
	}
	if len(keys) != 1 {
		t.Errorf("%d fingerprint keys, want 1", len(keys))
	}
}

func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	path := newPath(t)
	p := start(t, "insert", path)
	var acknowledged []string
	for len(acknowledged) < 50 && p.lines.Scan() {
		acknowledged = append(acknowledged, p.lines.Text())
	}
	p.kill(t)
	if len(acknowledged) != 50 {
		t.Fatalf("%d events were acknowledged, want 50", len(acknowledged))
	}
	s := mustOpen(t, Config{Path: path})
	for _, id := range acknowledged {
		mustFind(t, s, id)
	}
	var result string
	err := s.reader.readOnce(t.Context(), func(query queryFunc) error {
		return scanOne(query, []any{&result}, `PRAGMA integrity_check`)
	})
	if err != nil || result != "ok" {
		t.Errorf("the file's integrity: %s, %v", result, err)
	}
	mustInsert(t, s, "evt_after")
}

// 32 writers here, 32 in another process, and a reader in a third: none of
// them hears that the file is busy.
func TestBusyReachesNoCaller(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	mustInsert(t, s, "evt_first")
	reading := start(t, "read", path)
	if !reading.lines.Scan() {
		t.Fatalf("the reader does not read: %s", reading.errs.String())
	}
	writing := start(t, "write", path)
	for err := range many(32, func(i int) error { return insert(t.Context(), s, fmt.Sprint("evt_", i)) }) {
		t.Error(err)
	}
	if err := writing.Wait(); err != nil {
		t.Errorf("the other writer: %v: %s", err, writing.errs.String())
	}
	reading.kill(t)
	page, err := s.List(t.Context(), restaq.Filter{Limit: 1000})
	if err != nil || len(page.Executions) != 641 {
		t.Errorf("%d executions are stored, %v; want 641", len(page.Executions), err)
	}
}
