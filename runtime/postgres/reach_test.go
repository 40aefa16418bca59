package postgres

import (
	"context"
	"maps"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

// settingsOf are the limits that a connection's session has.
func settingsOf(t *testing.T, q querier) map[string]string {
	t.Helper()
	rows, err := q.Query(t.Context(), `SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp\_%'
		OR name IN ('idle_in_transaction_session_timeout', 'statement_timeout', 'lock_timeout')`)
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ Name, Setting string }
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		t.Fatal(err)
	}
	settings := make(map[string]string)
	for _, r := range found {
		settings[r.Name] = r.Setting
	}
	return settings
}

// kinds are a connection of each kind that a Store has.
func kinds(t *testing.T, s *Store) map[string]*pgx.Conn {
	t.Helper()
	all := make(map[string]*pgx.Conn)
	for name, pool := range map[string]*pgxpool.Pool{"shared": s.pool, "writing": s.writePool, "renewing": s.renewPool} {
		conn, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Release)
		all[name] = conn.Conn()
	}
	listening, err := pgx.ConnectConfig(t.Context(), s.connConfig().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listening.Close(context.Background()) })
	all["listening"] = listening
	return all
}

func TestEveryConnectionHasLimits(t *testing.T) {
	address := pgtest.URL(t)
	url, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { url.Close() })
	theirs, err := pgxpool.New(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(theirs.Close)
	pool, err := OpenConfig(t.Context(), Config{Pool: theirs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	for of, s := range map[string]*Store{"URL": url, "Pool": pool} {
		for kind, conn := range kinds(t, s) {
			want := map[string]string{
				"tcp_keepalives_idle": "4", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "10000",
				"idle_in_transaction_session_timeout": "10000", "statement_timeout": "0", "lock_timeout": "0",
			}
			switch kind {
			case "writing":
				want["statement_timeout"], want["lock_timeout"] = "10000", "200"
			case "renewing":
				want["statement_timeout"] = "10000"
			case "shared":
				if of == "Pool" {
					continue // the caller's
				}
			}
			if got := settingsOf(t, conn); !maps.Equal(got, want) {
				t.Errorf("store of a %s, %s connection: %v, want %v", of, kind, got, want)
			}
		}
	}
}

// What the URL sets stands, in sessions and in steps' transactions.
func TestWhatTheURLSetsStands(t *testing.T) {
	s, _, leases := manyAt(t, pgtest.URL(t)+"&connect_timeout=77&tcp_user_timeout=7777&statement_timeout=88888"+
		"&options=-c%20idle_in_transaction_session_timeout%3D99999", 1)
	if limit := s.pool.Config().ConnConfig.ConnectTimeout; limit != 77*time.Second {
		t.Errorf("a connection may take %v to be made", limit)
	}
	check := func(kind string, q querier) {
		got := settingsOf(t, q)
		for name, want := range map[string]string{
			"tcp_user_timeout": "7777", "statement_timeout": "88888", "idle_in_transaction_session_timeout": "99999", "tcp_keepalives_idle": "4",
		} {
			if got[name] != want {
				t.Errorf("%s: %s is %s, want %s", kind, name, got[name], want)
			}
		}
	}
	for kind, conn := range kinds(t, s) {
		check(kind, conn)
	}
	err := s.Transact(t.Context(), leases[0], time.Minute, func(_ context.Context, tx any) (*restaq.Progress, error) {
		check("step's transaction", tx.(pgx.Tx))
		return progress(1), nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Where a session has no limits, each transaction has.
func TestTransactionsHaveLimitsWhereSessionsHaveNone(t *testing.T) {
	pooled := pgtest.Pooled(t, pgtest.URL(t)) + "&default_query_exec_mode=exec"
	theirs, err := pgxpool.New(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(theirs.Close)
	for name, cfg := range map[string]Config{"pooler": {URL: pooled}, "pool of the caller's": {Pool: theirs}} {
		t.Run(name, func(t *testing.T) {
			s, err := OpenConfig(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			check := func(what string, q querier, want string) {
				got := settingsOf(t, q)
				if got["idle_in_transaction_session_timeout"] != want || got["tcp_user_timeout"] != want {
					t.Errorf("%s: %v, want limits of %s ms", what, got, want)
				}
			}
			err = s.transaction(t.Context(), pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
				check("transaction", tx, "10000")
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			check("after it", s.pool, "0")
			lease := restaq.Lease{Execution: "01900000-0000-7000-8000-000000000001", Attempt: 1, Token: 1}
			_, _, err = s.Insert(t.Context(), &restaq.Insertion{
				Event:      &restaq.Event{Source: "s", Provider: "s", ID: "evt_1", Type: "s.paid"},
				Executions: []restaq.NewExecution{{ID: lease.Execution, Handler: "shop.Paid", Begin: true}},
				Owner:      "me", Lease: time.Minute,
			})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Transact(t.Context(), lease, time.Minute, func(_ context.Context, tx any) (*restaq.Progress, error) {
				check("step's transaction", tx.(pgx.Tx), "30000")
				return progress(1), nil
			})
			if err != nil {
				t.Error(err)
			}
			check("after the step", s.pool, "0")
		})
	}
}

// A server that takes a connection and says nothing is given up.
func TestTheMakingOfAConnectionIsBounded(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := Open(context.Background(), "postgres://user:password@"+listener.Addr().String()+"/db?sslmode=disable")
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("opened")
		}
	case <-time.After(dialLimit + 20*time.Second):
		t.Error("it waits for ever")
	}
}

// So is one that takes the connection and then falls silent: whoever waits for
// it would keep a place in its pool for ever.
func TestTheBeginningOfASessionIsBounded(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		server := pgproto3.NewBackend(conn, conn)
		if _, err := server.ReceiveStartupMessage(); err == nil {
			server.Send(&pgproto3.AuthenticationOk{})
			server.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			_ = server.Flush()
		}
	}()
	url := "postgres://user:password@" + listener.Addr().String() + "/db?sslmode=disable"
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	setReach(config, url)
	ended := make(chan error, 1)
	go func() {
		_, err := pgx.ConnectConfig(context.Background(), config)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("connected")
		}
	case <-time.After(dialLimit + 20*time.Second):
		t.Error("it waits for ever")
	}
}

// A URL may want no bound.
func TestAURLMayWantConnectionsMadeWithoutABound(t *testing.T) {
	const url = "postgres://user@localhost/db?connect_timeout=0"
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	if setReach(config, url); config.ConnectTimeout != 0 {
		t.Errorf("limit %v", config.ConnectTimeout)
	}
}
