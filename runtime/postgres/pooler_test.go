package postgres_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/storetest"
)

// pooled is an empty database behind PgBouncer in transaction mode, as one is
// told to name it.
func pooled(t *testing.T) string {
	t.Helper()
	return withOption(t, pgtest.Pooled(t, pgtest.URL(t)), "default_query_exec_mode", "exec")
}

// Many stores share the pooler's connections to one database.
func TestStoreBehindPgBouncer(t *testing.T) {
	address := pooled(t)
	var schemas atomic.Int32
	storetest.Run(t, backend(func(t *testing.T) database {
		return database{address, fmt.Sprintf("restaq_%d", schemas.Add(1))}
	}))
}

// A URL that says nothing of the pooler is refused with a sentence that says
// what to do, before anything is set or prepared in somebody's session.
func TestAPoolerThatTheURLDoesNotTellOfIsRefused(t *testing.T) {
	address := pgtest.URL(t)
	plain := pgtest.Pooled(t, address)
	pool, err := pgxpool.New(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, cfg := range []postgres.Config{{URL: plain}, {Pool: pool}} {
		store, err := postgres.OpenConfig(t.Context(), cfg)
		if err == nil {
			store.Close()
			t.Errorf("%+v: opened", cfg)
		} else if !strings.Contains(err.Error(), "behind PgBouncer in transaction mode add default_query_exec_mode=exec to the URL") {
			t.Errorf("%+v: error %q does not name the remedy", cfg, err)
		}
	}
	conn := connect(t, withOption(t, plain, "default_query_exec_mode", "exec"))
	for name, want := range map[string]string{"lock_timeout": "0", "idle_in_transaction_session_timeout": "0"} {
		if got := show(t, conn, name); got != want {
			t.Errorf("%s is %s in a session of the pooler's, want %s", name, got, want)
		}
	}
	var prepared int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_prepared_statements`).Scan(&prepared); err != nil || prepared > 0 {
		t.Errorf("%d statements are prepared in it, %v", prepared, err)
	}
}

// show returns one of the server's settings as a connection has it.
func show(t *testing.T, conn *pgx.Conn, name string) (value string) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// In session mode a pooler keeps what a Store needs: a plain URL does.
func TestAPoolerInSessionModeIsNoMatter(t *testing.T) {
	address := pgtest.URL(t)
	pooler, err := pgtest.StartPooler(t.Context(), address, pgtest.PoolSessions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pooler.Stop(); err != nil {
			t.Error(err)
		}
	})
	plain, err := pooler.URL(address)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, database{plain, "restaq"})
	heard := make(chan restaq.Notice, 1)
	go s.Listen(t.Context(), func(n restaq.Notice) {
		select {
		case heard <- n:
		default:
		}
	})
	<-heard // it listens
	id := insertOne(t, s.Store, "evt_1", true)
	if _, err := s.Finish(t.Context(), restaq.Lease{Execution: id, Attempt: 1, Token: 1}, &completed); err != nil {
		t.Error(err)
	}
}

func TestASettingThatAPoolerRefusesIsNamed(t *testing.T) {
	address := withOption(t, pooled(t), "statement_timeout", "5s")
	s, err := postgres.Open(t.Context(), address)
	if err == nil {
		s.Close()
		t.Fatal("opened")
	}
	for _, part := range []string{"statement_timeout", "ignore_startup_parameters"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not mention %s", err, part)
		}
	}
}
