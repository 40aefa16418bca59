package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/storetest"
)

// database is an address with the handles that tests have on it.
type database struct {
	url    string
	schema string
}

// open opens a store on a database and closes it with the test.
func open(t *testing.T, d database) *store {
	t.Helper()
	s, err := postgres.OpenConfig(t.Context(), postgres.Config{URL: d.url, Schema: d.schema, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &store{Store: s, database: d}
}

// store is a Store that knows its database.
type store struct {
	*postgres.Store
	database
}

// connect returns a connection of the test's own.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// exec runs statements on a connection of their own.
func exec(t *testing.T, url, sql string, args ...any) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// advance lets d pass by moving what the store has written into the past. An
// execution that has completed was created before that, and stays so.
func advance(t *testing.T, d database, by time.Duration) {
	t.Helper()
	conn := connect(t, d.url)
	schema := pgx.Identifier{d.schema}.Sanitize()
	for _, sql := range []string{
		`UPDATE restaq.work SET due_at = due_at - $1::interval, lease_until = lease_until - $1::interval,
			finished_at = finished_at - $1::interval`,
		`UPDATE restaq.entry SET ended_at = ended_at - $1::interval WHERE kind IS NOT NULL`,
		`UPDATE restaq.execution SET created_at = created_at - $1::interval
			WHERE NOT EXISTS (SELECT FROM restaq.work w WHERE w.execution = id)`,
		`UPDATE restaq.event SET received_at = received_at - $1::interval WHERE executions IS NULL OR executions = '{}'`,
		`UPDATE restaq.turn SET until = until - $1::interval`,
	} {
		if _, err := conn.Exec(t.Context(), strings.ReplaceAll(sql, "restaq.", schema+"."), by); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// backend is a kind of store for storetest; fresh makes an empty database.
func backend(fresh func(t *testing.T) database) storetest.Backend {
	return storetest.Backend{
		Tx:   txs,
		Open: func(t *testing.T) restaq.Store { return open(t, fresh(t)) },
		Reopen: func(t *testing.T, s restaq.Store) restaq.Store {
			return open(t, s.(*store).database)
		},
		Advance: func(t *testing.T, s restaq.Store, d time.Duration) { advance(t, s.(*store).database, d) },
		Contend: func(t *testing.T) func() (restaq.Store, error) {
			d := fresh(t)
			return func() (restaq.Store, error) {
				s, err := postgres.OpenConfig(t.Context(), postgres.Config{URL: d.url, Schema: d.schema})
				if err == nil {
					t.Cleanup(func() { s.Close() })
				}
				return s, err
			}
		},
	}
}

func TestStore(t *testing.T) {
	storetest.Run(t, backend(func(t *testing.T) database { return database{pgtest.URL(t), "restaq"} }))
}

// Far from the defaults in four ways at once: the database asks for
// serializable transactions, there are no prepared statements, many stores
// share the database, and the names of their schemas need quotes.
func TestStoreFarFromTheDefaults(t *testing.T) {
	address := pgtest.URL(t)
	serializable(t, address)
	address = withOption(t, address, "default_query_exec_mode", "exec")
	var schemas atomic.Int32
	storetest.Run(t, backend(func(t *testing.T) database {
		return database{address, fmt.Sprintf(`Our "events" %d`, schemas.Add(1))}
	}))
}

// serializable makes serializable the default of a database.
func serializable(t *testing.T, address string) {
	t.Helper()
	exec(t, address, `DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database());
	END $$`)
}

// withOption adds an option to a URL.
func withOption(t *testing.T, address, key, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(key, value)
	u.RawQuery = q.Encode()
	return u.String()
}
