package restaq_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
)

// ledger is a user's table in a store's database.
type ledger struct {
	exec  func(ctx context.Context, tx any, sql string) error
	begin func(t *testing.T) any
	end   func(tx any, commit bool) error
	names func(t *testing.T) []string
}

// ledgerTables hold names, and debts whose debtor is looked for at commit.
var ledgerTables = []string{
	`CREATE TABLE ledger (name text NOT NULL)`,
	`CREATE TABLE debtor (name varchar(10) PRIMARY KEY)`,
	`CREATE TABLE debt (debtor varchar(10) NOT NULL REFERENCES debtor (name) DEFERRABLE INITIALLY DEFERRED)`,
}

func (l *ledger) write(ctx context.Context, tx any, name string) error {
	return l.exec(ctx, tx, `INSERT INTO ledger (name) VALUES ('`+name+`')`)
}

func (l *ledger) want(t *testing.T, want ...string) {
	t.Helper()
	got := l.names(t)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the ledger holds %q, want %q", got, want)
	}
}

// eachTransactor runs a test on every store that has transactions.
func eachTransactor(t *testing.T, test func(t *testing.T, open func() restaq.Store, l *ledger)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "restaq.db")
		open := func() restaq.Store {
			store, err := sqlite.OpenConfig(sqlite.Config{Path: path, TxTimeout: 30 * time.Second}) // for busy machines
			return opened(t, store, err)
		}
		open()
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		for _, sql := range ledgerTables {
			if _, err := db.Exec(sql); err != nil {
				t.Fatal(err)
			}
		}
		test(t, open, &ledger{
			exec: func(ctx context.Context, tx any, sql string) error { return execSQL(ctx, tx, sql) },
			begin: func(t *testing.T) any {
				tx, err := db.Begin()
				if err != nil {
					t.Fatal(err)
				}
				return tx
			},
			end: func(tx any, commit bool) error {
				if commit {
					return tx.(*sql.Tx).Commit()
				}
				return tx.(*sql.Tx).Rollback()
			},
			names: func(t *testing.T) (names []string) {
				rows, err := db.Query(`SELECT name FROM ledger`)
				if err != nil {
					t.Fatal(err)
				}
				defer rows.Close()
				for rows.Next() {
					var name string
					if err := rows.Scan(&name); err != nil {
						t.Fatal(err)
					}
					names = append(names, name)
				}
				return names
			},
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.URL(t)
		open := func() restaq.Store {
			store, err := postgres.Open(t.Context(), url)
			return opened(t, store, err)
		}
		open()
		connect := func(t *testing.T) *pgx.Conn {
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close(context.Background()) })
			return conn
		}
		conn := connect(t)
		for _, sql := range ledgerTables {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		test(t, open, &ledger{
			exec: func(ctx context.Context, tx any, sql string) error { return execSQL(ctx, tx, sql) },
			begin: func(t *testing.T) any {
				tx, err := connect(t).Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return tx
			},
			end: func(tx any, commit bool) error {
				if commit {
					return tx.(pgx.Tx).Commit(context.Background())
				}
				return tx.(pgx.Tx).Rollback(context.Background())
			},
			names: func(t *testing.T) []string {
				rows, err := connect(t).Query(t.Context(), `SELECT name FROM ledger`)
				if err != nil {
					t.Fatal(err)
				}
				names, err := pgx.CollectRows(rows, pgx.RowTo[string])
				if err != nil {
					t.Fatal(err)
				}
				return names
			},
		})
	})
}

func execSQL(ctx context.Context, tx any, text string) error {
	switch tx := tx.(type) {
	case *sql.Tx:
		_, err := tx.ExecContext(ctx, text)
		return err
	case pgx.Tx:
		_, err := tx.Exec(ctx, text)
		return err
	}
	return fmt.Errorf("%T is no transaction", tx)
}
