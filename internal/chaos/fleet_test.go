//go:build linux

package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
)

// lister is a store that can also list.
type lister interface {
	restaq.Store
	restaq.Lister
}

// fleet is a database, a ledger, and the workers on them.
type fleet struct {
	t      *testing.T
	kind   string // of store
	target string // URL or path, for workers and the fleet itself
	dir    string
	ledger string
	pad    int             // bytes that a load's orders carry besides
	store  lister          // the test's own
	user   *restaq.Runtime // on store; has the handler but does not run

	mu    sync.Mutex
	alive []*process
	all   []*process // all that were ever started
}

// newFleet makes a fleet on an empty database.
func newFleet(t *testing.T, kind string) *fleet {
	t.Helper()
	target := filepath.Join(t.TempDir(), "restaq.db")
	if kind == "postgres" {
		target = pgtest.URL(t)
	}
	return newFleetOn(t, kind, target)
}

// newFleetOn makes a fleet on the database at target.
func newFleetOn(t *testing.T, kind, target string) *fleet {
	t.Helper()
	f := &fleet{t: t, kind: kind, target: target, dir: t.TempDir()}
	f.ledger = filepath.Join(f.dir, "ledger")
	if kind == "sqlite" {
		store, err := sqlite.Open(target)
		if err != nil {
			t.Fatal(err)
		}
		f.store = store
		t.Cleanup(func() { store.Close() })
	} else {
		store, err := postgres.OpenConfig(t.Context(), postgres.Config{URL: target, MaxConns: 8})
		if err != nil {
			t.Fatal(err)
		}
		f.store = store
		t.Cleanup(func() { store.Close() })
	}
	f.openBooks()
	rt, err := restaq.New(f.store, restaq.Config{})
	if err != nil {
		t.Fatal(err)
	}
	err = rt.Register(restaq.Handler[restaq.Event]{
		Name: handlerName, Events: []string{eventType}, Func: func(context.Context, restaq.Event) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	f.user = rt
	t.Cleanup(f.stopAll)
	return f
}

// process is a worker process.
type process struct {
	cfg   workerConfig
	cmd   *exec.Cmd
	url   string
	ended chan struct{} // closed when it has ended
	log   string        // file of its standard error
}

// start starts a worker and returns when it takes requests. Zero fields of cfg
// are filled in.
func (f *fleet) start(cfg workerConfig) *process {
	f.t.Helper()
	p, err := f.launch(cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// launch is start for any goroutine.
func (f *fleet) launch(cfg workerConfig) (*process, error) {
	f.complete(&cfg)
	p := &process{cfg: cfg, ended: make(chan struct{}), log: filepath.Join(f.dir, cfg.Name+".log")}
	out, err := p.run()
	if err != nil {
		return nil, err
	}
	slow := time.AfterFunc(patience, func() { p.signal(syscall.SIGKILL) })
	line, readErr := bufio.NewReader(out).ReadString('\n')
	slow.Stop()
	p.url = strings.TrimSpace(line)
	go func() {
		_ = p.cmd.Wait() // the state says how it ended
		close(p.ended)
	}()
	if cfg.Fail == nil && readErr != nil {
		return nil, fmt.Errorf("worker %s did not start: %w\n%s", cfg.Name, readErr, p.lastLines())
	}
	f.mu.Lock()
	f.alive, f.all = append(f.alive, p), append(f.all, p)
	f.mu.Unlock()
	go func() {
		<-p.ended
		f.mu.Lock()
		defer f.mu.Unlock()
		f.alive = slices.DeleteFunc(f.alive, func(other *process) bool { return other == p })
	}()
	return p, nil
}

// complete fills in the zero fields of cfg.
func (f *fleet) complete(cfg *workerConfig) {
	cfg.Kind, cfg.Ledger = f.kind, f.ledger
	setDefault(&cfg.Target, f.target)
	setDefault(&cfg.Concurrency, 16)
	setDefault(&cfg.Attempts, 1000)
	setDefault(&cfg.Lease, 2*time.Second)
	setDefault(&cfg.Poll, 100*time.Millisecond)
	setDefault(&cfg.Shutdown, 10*time.Second)
	setDefault(&cfg.Backoff, restaq.Backoff{Min: 20 * time.Millisecond, Max: 200 * time.Millisecond})
}

// run starts the process and returns its standard output.
func (p *process) run() (io.Reader, error) {
	text, err := json.Marshal(p.cfg)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), workerEnv+"="+string(text), "GORACE=halt_on_error=1")
	if p.cfg.Zone != "" {
		p.cmd.Env = append(p.cmd.Env, "TZ="+p.cfg.Zone)
	}
	p.cmd.Stderr = log
	if _, err := p.cmd.StdinPipe(); err != nil { // closed when this process ends
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return out, p.cmd.Start()
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

// workers returns the processes that have not ended.
func (f *fleet) workers() []*process {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.alive)
}

// anyone returns one of the processes, or nil.
func (f *fleet) anyone() *process {
	all := f.workers()
	if len(all) == 0 {
		return nil
	}
	return all[rand.N(len(all))]
}

// signal sends a signal; a process that has ended does not mind.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends the process as a crash does.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *process) lastLines() string {
	data, _ := os.ReadFile(p.log) // best effort
	return string(data[max(0, len(data)-4000):])
}

// stopAll ends what is still there. A worker that has ended by itself with an
// error (a panic, a data race) fails the test.
func (f *fleet) stopAll() {
	for _, p := range f.workers() {
		p.kill()
	}
	for _, p := range f.all {
		if code := p.cmd.ProcessState.ExitCode(); code > 0 {
			f.t.Errorf("worker %s ended by itself with code %d\n%s", p.cfg.Name, code, p.lastLines())
		}
	}
}

// entries returns the ledger as it is.
func (f *fleet) entries() []entry {
	f.t.Helper()
	all, err := readLedger(f.ledger)
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// saw waits for a ledger entry that match accepts, and returns it.
func (f *fleet) saw(what string, match func(e *entry) bool) entry {
	f.t.Helper()
	var found entry
	until(f.t, "ledger: "+what, func() bool {
		for _, e := range f.entries() {
			if match(&e) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// settle waits until no execution is waiting or running.
func (f *fleet) settle() {
	f.t.Helper()
	f.settleWithin(patience)
}

func (f *fleet) settleWithin(limit time.Duration) {
	f.t.Helper()
	var last string
	defer func() {
		if f.t.Failed() {
			f.t.Log(last)
			for _, p := range f.workers() {
				f.t.Logf("worker %s said last:\n%s", p.cfg.Name, p.lastLines())
			}
		}
	}()
	untilWithin(f.t, limit, "all executions finished", func() bool {
		ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
		defer cancel()
		page, err := f.store.List(ctx, restaq.Filter{
			Statuses: []string{string(restaq.Pending), string(restaq.Running), "retrying"}, Limit: 3,
		})
		last = fmt.Sprintf("unfinished: %+v, %v", page.Executions, err)
		return err == nil && len(page.Executions) == 0
	})
}
