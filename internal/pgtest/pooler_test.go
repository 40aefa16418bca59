//go:build linux || darwin || freebsd

package pgtest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

// backend returns the server's process that serves a transaction.
func backend(t *testing.T, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (pid int) {
	t.Helper()
	if err := q.QueryRow(t.Context(), "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestPooledConnectionsShareTheServers(t *testing.T) {
	address := Pooled(t, URL(t))
	one, two := connect(t, address), connect(t, address)
	free := backend(t, one)
	tx, err := two.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	taken := backend(t, tx)
	if taken != free {
		t.Errorf("the second connection got process %d, want %d, which the first had no need of", taken, free)
	}
	if other := backend(t, one); other == taken {
		t.Error("both connections are served by one process at the same time")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestPooledDatabaseIsTheSame(t *testing.T) {
	address := URL(t)
	if _, err := connect(t, address).Exec(t.Context(), "CREATE TABLE here (n int)"); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, Pooled(t, address)).Exec(t.Context(), "SELECT n FROM here", pgx.QueryExecModeExec); err != nil {
		t.Error(err)
	}
}

func TestStoppedPoolerLeavesNothing(t *testing.T) {
	address := URL(t)
	p, err := StartPooler(t.Context(), address, PoolSessions)
	if err != nil {
		t.Fatal(err)
	}
	pooled, err := p.URL(address)
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, pooled)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("a connection outlived the pooler")
	}
	if _, err := os.Stat(p.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its folder: %v, want that it is gone", err)
	}
}
