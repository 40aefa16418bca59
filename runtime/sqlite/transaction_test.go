package sqlite

import (
	"context"
	"database/sql"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/storetest"
)

// txs is how the suite writes in a file beside the store.
func txs() *storetest.Tx {
	return &storetest.Tx{
		Prepare: func(t *testing.T, s restaq.Store) {
			execAll(t, plain(t, s.(*Store).path), `CREATE TABLE number (n INTEGER NOT NULL)`)
		},
		Write: func(ctx context.Context, _ restaq.Store, tx any, n int) error {
			_, err := tx.(*sql.Tx).ExecContext(ctx, `INSERT INTO number VALUES (?)`, n)
			return err
		},
		Written: func(t *testing.T, s restaq.Store) []int { return numbers(t, s.(*Store)) },
		Begin: func(t *testing.T, s restaq.Store) any {
			tx, err := immediate(t, s.(*Store).path).BeginTx(context.WithoutCancel(t.Context()), nil)
			if err != nil {
				t.Fatal(err)
			}
			return tx
		},
		Commit:   func(_ context.Context, tx any) error { return tx.(*sql.Tx).Commit() },
		Rollback: func(_ context.Context, tx any) error { return tx.(*sql.Tx).Rollback() },
	}
}

// numbers returns what is committed.
func numbers(t *testing.T, s *Store) (all []int) {
	t.Helper()
	rows, err := plain(t, s.path).Query(`SELECT n FROM number`)
	if err != nil {
		t.Fatal(err)
	}
	if err := each(rows, func() error {
		var n int
		err := rows.Scan(&n)
		all = append(all, n)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// immediate is a pool of connections whose transactions begin by BEGIN
// IMMEDIATE.
func immediate(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path)+"&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
