package postgres_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/storetest"
)

// txs is how the suite writes in a database beside the store: in a table of
// the store's schema, as stores may share a database.
var txs = &storetest.Tx{
	Prepare: func(t *testing.T, s restaq.Store) {
		exec(t, s.(*store).url, numberSQL(s, `CREATE TABLE %.number (n integer NOT NULL)`))
	},
	Write: func(ctx context.Context, s restaq.Store, tx any, n int) error {
		_, err := tx.(pgx.Tx).Exec(ctx, numberSQL(s, `INSERT INTO %.number VALUES ($1)`), n)
		return err
	},
	Written: func(t *testing.T, s restaq.Store) []int {
		rows, err := connect(t, s.(*store).url).Query(t.Context(), numberSQL(s, `SELECT n FROM %.number`))
		if err != nil {
			t.Fatal(err)
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err != nil {
			t.Fatal(err)
		}
		return all
	},
	Begin: func(t *testing.T, s restaq.Store) any {
		tx, err := connect(t, s.(*store).url).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
		if err != nil {
			t.Fatal(err)
		}
		return tx
	},
	Commit:   func(ctx context.Context, tx any) error { return tx.(pgx.Tx).Commit(ctx) },
	Rollback: func(ctx context.Context, tx any) error { return tx.(pgx.Tx).Rollback(ctx) },
}

func numberSQL(s restaq.Store, sql string) string {
	return strings.ReplaceAll(sql, "%", pgx.Identifier{s.(*store).schema}.Sanitize())
}
