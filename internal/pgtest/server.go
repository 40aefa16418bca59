//go:build linux || darwin || freebsd

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// startTimeout bounds the start of a server, installing it aside.
const startTimeout = 2 * time.Minute

// Config says how a private server is started. The zero value is what tests
// want.
type Config struct {
	// Fsync makes commits wait for the disk. By default they do not: a test
	// that kills processes loses nothing by it, only one that cuts the power
	// would. Benchmarks set it, for without it they measure another database.
	Fsync bool

	// Dir is the folder that gets the server's folder. By default it is in
	// memory where there is room, else in the temporary directory.
	Dir string

	// Settings are more of the server's settings, NAME=VALUE.
	Settings []string
}

// Server is a running PostgreSQL server.
type Server struct {
	url string
	*keeper
}

// URL returns the address of the server's database postgres, as a superuser.
func (s *Server) URL() string { return s.url }

// Start starts a private server on a free port of the loopback interface and
// returns when it takes connections, after two minutes at the latest. The
// server ends with Stop, or with this process. Ctx bounds the start only.
func Start(ctx context.Context, config Config) (*Server, error) {
	programs, err := findOrInstall()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s, err := newServer(programs, config)
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx, programs, config); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Stop ends the server at once, as a crash would, and removes its files. It
// returns when both are done. Connections break.
func (s *Server) Stop() error {
	if s.keeper == nil {
		return nil
	}
	if err := s.keeper.stop(); err != nil {
		return fmt.Errorf("stop postgres: %w", err)
	}
	return nil
}

// keepServer is the keeper's program: wait for the end of standard input, then
// stop the server, if one runs, and remove the folder.
const keepServer = `read -r line; "$2" stop -s -D "$1/data" -m immediate; rm -rf "$1"`

func newServer(programs programs, config Config) (*Server, error) {
	dir, err := makeFolder(config)
	if err != nil {
		return nil, err
	}
	keeper, err := startKeeper(dir, keepServer, nil, programs.path("pg_ctl"))
	if err != nil {
		return nil, err
	}
	return &Server{keeper: keeper}, nil
}

// memory is where Linux keeps files in memory. A new database is some 300
// files, which a disk takes ten times as long to make.
const memory = "/dev/shm"

// makeFolder makes the server's folder: where the Config says, in memory if it
// need not last and there is room (containers often have but 64 MiB), else in
// the temporary directory.
func makeFolder(config Config) (string, error) {
	const pattern = "restaq-pg-*"
	const enough = 2 << 30 // bytes
	if config.Dir != "" {
		return os.MkdirTemp(config.Dir, pattern)
	}
	var disk syscall.Statfs_t
	if !config.Fsync && syscall.Statfs(memory, &disk) == nil && uint64(disk.Bavail)*uint64(disk.Bsize) >= enough {
		if dir, err := os.MkdirTemp(memory, pattern); err == nil {
			return dir, nil
		}
	}
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", fmt.Errorf("make server folder: %w", err)
	}
	return dir, nil
}

// start lays the server's files and starts it. A free port may be taken by
// someone else before the server gets to it, so there are several attempts.
func (s *Server) start(ctx context.Context, programs programs, config Config) error {
	password := randomHex(16)
	if err := s.initialise(ctx, programs, password); err != nil {
		return err
	}
	const attempts = 5
	var err error
	for range attempts {
		var port int
		if port, err = freePort(); err != nil {
			return err
		}
		s.url = fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/postgres?sslmode=disable", password, port)
		if err = s.run(ctx, programs, config, port); err == nil || !strings.Contains(err.Error(), "could not bind") {
			return err
		}
	}
	return err
}

// initialise lays the server's files. The password keeps the machine's other
// users out.
func (s *Server) initialise(ctx context.Context, programs programs, password string) error {
	file := filepath.Join(s.dir, "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	if err := give(s.as, file); err != nil {
		return err
	}
	cmd := s.command(ctx, programs.path("initdb"), "-D", filepath.Join(s.dir, "data"), "-U", "postgres",
		"-A", "password", "--pwfile", file, "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run initdb: %w\n%s", err, out)
	}
	return nil
}

// run starts the server process and returns when it takes connections.
func (s *Server) run(ctx context.Context, programs programs, config Config, port int) error {
	logName := filepath.Join(s.dir, "log")
	log, err := os.Create(logName)
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	defer log.Close()
	durable := "off"
	if config.Fsync {
		durable = "on"
	}
	cmd := s.command(context.Background(), programs.path("postgres"), "-D", filepath.Join(s.dir, "data"),
		"-c", "listen_addresses=127.0.0.1", "-c", "port="+strconv.Itoa(port),
		"-c", "unix_socket_directories=", "-c", "max_connections=300", "-c", "max_wal_size=256MB",
		"-c", "fsync="+durable, "-c", "full_page_writes="+durable)
	for _, setting := range config.Settings {
		cmd.Args = append(cmd.Args, "-c", setting)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	exited := make(chan string, 1)
	go func() {
		_ = cmd.Wait() // the state below says more
		exited <- cmd.ProcessState.String()
	}()
	if err := ready(ctx, s.url, exited); err != nil {
		lines, _ := os.ReadFile(logName) // best effort: the error stands without
		return fmt.Errorf("start postgres: %w\n%s", err, lines)
	}
	return nil
}

// ready returns when the server at address takes connections, has exited, or
// ctx is over.
func ready(ctx context.Context, address string, exited <-chan string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, address)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case state := <-exited:
			return fmt.Errorf("server ended before it took a connection: %s", state)
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// freePort returns a TCP port of the loopback interface that nobody listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
