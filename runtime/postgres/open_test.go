package postgres_test

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
)

func TestOpenersAtOnceMigrateOnce(t *testing.T) {
	address := pgtest.URL(t)
	var wg sync.WaitGroup
	applied := make([][]string, 8)
	for i := range applied {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), address)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if applied[i], err = s.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all := slices.Concat(applied...)
	slices.Sort(all)
	if once := slices.Compact(slices.Clone(all)); len(all) == 0 || !slices.Equal(all, once) {
		t.Errorf("applied %v, want each migration once", all)
	}
}

func TestWithoutMigratingAnOlderSchemaIsRefused(t *testing.T) {
	address := pgtest.URL(t)
	cfg := postgres.Config{URL: address, NoMigrate: true}
	if s, err := postgres.OpenConfig(t.Context(), cfg); err == nil {
		s.Close()
		t.Fatal("opened a database without tables")
	} else if !strings.Contains(err.Error(), "run restaq migrate") {
		t.Errorf("error %q does not name the remedy", err)
	}
	open(t, database{address, "restaq"})
	s, err := postgres.OpenConfig(t.Context(), cfg)
	if err != nil {
		t.Fatalf("after migrating: %v", err)
	}
	s.Close()
}

func TestANewerSchemaOfTheSameMajorIsAccepted(t *testing.T) {
	address := pgtest.URL(t)
	open(t, database{address, "restaq"})
	exec(t, address, `ALTER TABLE restaq.work ADD COLUMN later text; ALTER TABLE restaq.event ADD COLUMN later text`)
	exec(t, address, `INSERT INTO restaq.migration (name, major) VALUES ('1.999_later', 1)`)
	for _, noMigrate := range []bool{false, true} {
		s, err := postgres.OpenConfig(t.Context(), postgres.Config{URL: address, NoMigrate: noMigrate})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		id := insertOne(t, s, "evt_"+map[bool]string{false: "a", true: "b"}[noMigrate], true)
		if _, err := s.Finish(t.Context(), restaq.Lease{Execution: id, Attempt: 1, Token: 1}, &completed); err != nil {
			t.Error(err)
		}
	}
}

func TestASchemaOfALaterMajorIsRefused(t *testing.T) {
	address := pgtest.URL(t)
	open(t, database{address, "restaq"})
	exec(t, address, `INSERT INTO restaq.migration (name, major) VALUES ('2.001_anew', 2)`)
	s, err := postgres.Open(t.Context(), address)
	if err == nil {
		s.Close()
		t.Fatal("opened a schema of a later major")
	}
	if !strings.Contains(err.Error(), "update the program") {
		t.Errorf("error %q does not name the remedy", err)
	}
}

// A role that owns its schema, and may make nothing else, can migrate it.
func TestARoleNeedsNoRightBeyondItsSchema(t *testing.T) {
	address := pgtest.URL(t)
	role := "restaq_narrow_" + strings.ToLower(rand.Text()) // roles belong to the whole server
	exec(t, address, `CREATE ROLE `+role+` LOGIN PASSWORD 'narrow'`)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), address)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role); err != nil {
			t.Error(err)
		}
	})
	exec(t, address, `CREATE SCHEMA restaq AUTHORIZATION `+role)
	open(t, database{withUser(t, address, role, "narrow"), "restaq"})
}

func TestConfigNamesTheWrongField(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@localhost:1/nothing")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, test := range []struct {
		cfg  postgres.Config
		want string
	}{
		{postgres.Config{}, "needs a URL or a Pool"},
		{postgres.Config{URL: "postgres://x", Pool: pool}, "needs a URL or a Pool"},
		{postgres.Config{URL: "postgres://x", MaxConns: -1}, "MaxConns"},
		{postgres.Config{URL: "postgres://x", Schema: "pg_own"}, "Schema"},
		{postgres.Config{URL: "postgres://x", Schema: "a\x00"}, "Schema"},
		{postgres.Config{URL: "postgres://x", Schema: strings.Repeat("s", 64)}, "Schema"},
	} {
		s, err := postgres.OpenConfig(t.Context(), test.cfg)
		if err == nil {
			s.Close()
			t.Errorf("%+v was accepted", test.cfg)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %q does not mention %q", err, test.want)
		}
	}
}

func TestAPasswordIsInNoError(t *testing.T) {
	for _, address := range []string{
		"postgres://user:hunter2@localhost:1/db",
		"postgres://user:hunter2@local host/db",
		"postgres://user:hunter2@localhost:5432/db?pool_max_conns=many",
	} {
		s, err := postgres.Open(t.Context(), address)
		if err == nil {
			s.Close()
			t.Errorf("opened %s", address)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error shows the password: %v", err)
		}
	}
}

func TestAPoolOfTheCallerStaysOpen(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s, err := postgres.OpenConfig(t.Context(), postgres.Config{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := pool.Ping(t.Context()); err != nil {
		t.Errorf("after Close the caller's pool is gone: %v", err)
	}
}
