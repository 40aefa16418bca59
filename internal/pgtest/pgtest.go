// Package pgtest gives tests a real PostgreSQL.
//
// A test asks for a database and gets an empty one of its own:
//
//	store, err := postgres.Open(ctx, pgtest.URL(t))
//
// The server is the one that the environment variable RESTAQ_TEST_POSTGRES
// names, if it is set. Otherwise the first test of a process starts a private
// server, which ends with the process. The command withpostgres, in the folder
// below, starts one server for a whole run of go test and sets the variable;
// make test uses it.
//
// A private server needs PostgreSQL's server programs. They are looked for on
// PATH and where Debian puts them. Where they are missing, root on Debian gets
// them installed; everyone else gets an error that says what to do. No test is
// ever skipped for want of a server. The same goes for PgBouncer, behind which
// Pooled puts a database; a process that asks for it starts one of its own.
//
// # What can go wrong
//
// A process that dies, by whatever signal, leaves nothing behind: a small
// keeper process waits for the end of a pipe that only the test process holds
// open, then stops the server and removes its files. Only if the keeper itself
// is killed do files stay, in a folder restaq-pg-* of /dev/shm or the temporary
// directory; a server whose folder is removed stops by itself within a minute.
//
// On a server of your own, a killed test leaves its database behind. Such a
// database is called restaq_test_* and may be dropped.
package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env is the environment variable that names the server to use: a URL such as
// postgres://user:password@localhost:5432/postgres, of a role that may create
// databases.
const Env = "RESTAQ_TEST_POSTGRES"

// shared returns the server that the tests of this process share. The Server
// must stay reachable from here: its pipe, once collected, would end it.
var shared = sync.OnceValues(func() (*Server, error) {
	if address := os.Getenv(Env); address != "" {
		return &Server{url: address}, nil
	}
	return Start(context.Background(), Config{})
})

// statementTimeout bounds the making and the dropping of a database. Both are
// slow when many tests do them at once on a small machine.
const statementTimeout = time.Minute

// URL returns the address of an empty database made for t alone, dropped with
// whatever connections it has when t and its subtests have ended. It fails t
// if there is no server to be had. Tests may call it at the same time, and one
// test more than once, for several databases.
func URL(t testing.TB) string {
	t.Helper()
	server, err := shared()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	name := databaseName(t.Name())
	address, err := databaseURL(server.url, name)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	// template0 takes no connections, so nobody can be in the way of the copy.
	if err := server.exec("CREATE DATABASE " + name + " TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		t.Fatalf("pgtest: create database: %v", err)
	}
	t.Cleanup(func() {
		if err := server.exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("pgtest: drop database: %v", err)
		}
	})
	return address
}

// PoolMode is how a PgBouncer shares the server's connections.
type PoolMode string

const (
	// PoolTransactions gives a client a connection for each transaction anew.
	// Nothing that is set outside one lasts.
	PoolTransactions PoolMode = "transaction"

	// PoolSessions gives a client a connection for as long as it stays.
	PoolSessions PoolMode = "session"
)

// pooler returns the PgBouncer that the tests of this process share.
var pooler = sync.OnceValues(func() (*Pooler, error) {
	server, err := shared()
	if err != nil {
		return nil, err
	}
	return StartPooler(context.Background(), server.url, PoolTransactions)
})

// Pooled returns the address of the database at address, one that URL has
// made, behind a PgBouncer in transaction mode. Options in the address stay; it
// has none for poolers. It fails t if there is no PgBouncer to be had.
func Pooled(t testing.TB, address string) string {
	t.Helper()
	p, err := pooler()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	pooled, err := p.URL(address)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return pooled
}

// exec runs one statement on a connection of its own.
func (s *Server) exec(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// databaseName returns a new name that tells which test it belongs to. It
// needs no quotes and stays under PostgreSQL's limit of 63 bytes.
func databaseName(test string) string {
	const longest = 30
	word := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, test)
	if len(word) > longest {
		word = word[:longest]
	}
	return "restaq_test_" + word + "_" + randomHex(6)
}

// databaseURL returns server's address with name as its database.
func databaseURL(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		// Neither the error nor the text is shown: both may hold a password.
		return "", fmt.Errorf("%s is no URL of the form postgres://user:password@host:port/database", Env)
	}
	u.Path = "/" + name
	return u.String(), nil
}

// randomHex returns n random bytes in hex.
func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(b)
}
