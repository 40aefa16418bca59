package pgtest

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func TestEveryURLIsAnEmptyDatabaseOfItsOwn(t *testing.T) {
	for range 2 {
		conn := connect(t, URL(t))
		// The second database would refuse this if it were the first one.
		if _, err := conn.Exec(t.Context(), "CREATE TABLE mine (id int)"); err != nil {
			t.Fatal(err)
		}
		var encoding string
		if err := conn.QueryRow(t.Context(), "SHOW server_encoding").Scan(&encoding); err != nil {
			t.Fatal(err)
		}
		if encoding != "UTF8" {
			t.Errorf("encoding %s, want UTF8", encoding)
		}
	}
}

func TestDatabaseIsDroppedWithTheTestThoughConnectionsAreOpen(t *testing.T) {
	var address string
	var conn *pgx.Conn
	t.Run("subtest", func(t *testing.T) {
		address = URL(t)
		var err error
		if conn, err = pgx.Connect(t.Context(), address); err != nil {
			t.Fatal(err)
		}
	})
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the connection still works")
	}
	_, err := pgx.Connect(t.Context(), address)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "3D000" {
		t.Errorf("connect: %v, want: database does not exist", err)
	}
}

func TestDatabaseNameTellsTheTest(t *testing.T) {
	for test, want := range map[string]string{
		"TestOne":                            "restaq_test_testone_",
		"TestOne/a_b-c#01":                   "restaq_test_testone_a_b_c_01_",
		"Test\"; DROP TABLE é":               "restaq_test_test___drop_table___",
		"Test" + strings.Repeat("Long", 100): "restaq_test_testlonglonglonglonglonglonglo_",
	} {
		got := databaseName(test)
		if !strings.HasPrefix(got, want) || len(got) > 63 || !regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(got) {
			t.Errorf("databaseName(%q) = %q, want %q and a suffix, without quotes", test, got, want)
		}
		if again := databaseName(test); again == got {
			t.Errorf("databaseName(%q) = %q twice", test, got)
		}
	}
}

func TestServerAddressMustBeAURL(t *testing.T) {
	for _, test := range []struct{ server, want string }{
		{"postgres://u:p@h:1/postgres?sslmode=disable", "postgres://u:p@h:1/mine?sslmode=disable"},
		{"postgresql://h", "postgresql://h/mine"},
		{"postgres:///postgres?host=%2Frun%2Fpg", "postgres:///mine?host=%2Frun%2Fpg"},
		{"host=localhost password=secret", ""},
		{"mysql://u:secret@h/d", ""},
		{"postgres://u:secret@h:port/d", ""},
	} {
		got, err := databaseURL(test.server, "mine")
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("databaseURL(%q) = %q, %v, want %q", test.server, got, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("databaseURL(%q): error tells the password: %v", test.server, err)
		}
	}
}
