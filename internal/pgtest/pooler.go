//go:build linux || darwin || freebsd

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Pooler is a running PgBouncer before a server.
type Pooler struct {
	port int
	*keeper
}

// StartPooler starts a PgBouncer before the server of a database's address, on
// a free port of the loopback interface, and returns when it takes
// connections. It serves all the server's databases to the address's user. It
// ends with Stop, or with this process. Ctx bounds the start only.
func StartPooler(ctx context.Context, address string, mode PoolMode) (*Pooler, error) {
	program, err := findOrInstallPooler()
	if err != nil {
		return nil, err
	}
	server, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("start pgbouncer: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	const attempts = 5 // the free port may be taken by someone else meanwhile
	for n := 1; ; n++ {
		p, err := startPooler(ctx, program, server, mode)
		if err == nil || n == attempts || ctx.Err() != nil {
			return p, err
		}
	}
}

// keepPooler is the keeper's program: start PgBouncer, which alone keeps
// standard output open; wait for the end of standard input; end it and remove
// the folder.
const keepPooler = `"$2" "$1/pgbouncer.ini" 2>"$1/log" & pooler=$!; exec >/dev/null; read -r line; kill -KILL $pooler; rm -rf "$1"`

func startPooler(ctx context.Context, program string, server *pgx.ConnConfig, mode PoolMode) (*Pooler, error) {
	dir, err := os.MkdirTemp("", "restaq-pgbouncer-*")
	if err != nil {
		return nil, fmt.Errorf("make pgbouncer's folder: %w", err)
	}
	port, err := layPooler(dir, server, mode)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	alive, its, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start pgbouncer: %w", err), os.RemoveAll(dir))
	}
	defer alive.Close()
	keeper, err := startKeeper(dir, keepPooler, its, program)
	its.Close()
	if err != nil {
		return nil, err
	}
	ended := make(chan string, 1)
	go func() {
		_, _ = io.Copy(io.Discard, alive) // until PgBouncer ends, or this function
		ended <- "its log says why"
	}()
	p := &Pooler{port: port, keeper: keeper}
	if err := ready(ctx, poolerURL(server, port), ended); err != nil {
		lines, _ := os.ReadFile(filepath.Join(dir, "log")) // best effort: the error stands without
		return nil, errors.Join(fmt.Errorf("start pgbouncer: %w\n%s", err, lines), p.Stop())
	}
	return p, nil
}

// layPooler writes PgBouncer's configuration and returns its port.
func layPooler(dir string, server *pgx.ConnConfig, mode PoolMode) (port int, err error) {
	if port, err = freePort(); err != nil {
		return 0, err
	}
	as, err := serverUser()
	if err != nil {
		return 0, err
	}
	for name, text := range map[string]string{
		// A pool that is smaller than what its clients have of connections makes
		// them share.
		"pgbouncer.ini": fmt.Sprintf(`[databases]
* = host=%s port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = plain
auth_file = %s
pool_mode = %s
max_client_conn = 1000
default_pool_size = 20
server_idle_timeout = 5
`, server.Host, server.Port, port, filepath.Join(dir, "users"), mode),
		"users": fmt.Sprintf("%s %s\n", quoted(server.User), quoted(server.Password)),
	} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return 0, fmt.Errorf("configure pgbouncer: %w", err)
		}
		if err := give(as, name); err != nil {
			return 0, err
		}
	}
	return port, nil
}

// quoted is a text as PgBouncer's list of users has it.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

func poolerURL(server *pgx.ConnConfig, port int) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(server.User, server.Password),
		Host: fmt.Sprintf("127.0.0.1:%d", port), Path: "/" + server.Database, RawQuery: "sslmode=disable&default_query_exec_mode=exec",
	}
	return u.String()
}

// URL returns the address of a database as the pooler serves it. Options in
// the address stay.
func (p *Pooler) URL(database string) (string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return "", errors.New("the database's address is no URL") // the text may hold a password
	}
	u.Host = fmt.Sprintf("127.0.0.1:%d", p.port)
	options := u.Query()
	options.Set("sslmode", "disable")
	u.RawQuery = options.Encode()
	return u.String(), nil
}

// Stop ends the pooler at once, and with it all its connections.
func (p *Pooler) Stop() error {
	if err := p.keeper.stop(); err != nil {
		return fmt.Errorf("stop pgbouncer: %w", err)
	}
	return nil
}
