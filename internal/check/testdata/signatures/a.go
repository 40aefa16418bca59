// Package signatures has functions that no wrapper can be written for.
package signatures

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

type T struct{}

type G[P any] struct{}

//restaq:step
func generic[P any](ctx context.Context, p P) error { return nil }

//restaq:step
func (g *G[P]) method(ctx context.Context) error { return nil }

//restaq:step
func (t T) variadic(ctx context.Context, ids ...string) error { return nil }

//restaq:step
func noContext(id string) error { return nil }

//restaq:step
func lateContext(id string, ctx context.Context) error { return nil }

//restaq:step
func nothing() {}

//restaq:step
func noError(ctx context.Context) string { return "" }

//restaq:step
func earlyError(ctx context.Context) (error, string) { return nil, "" }

//restaq:step
func twoOutputs(ctx context.Context) (a, b string, err error) { return }

//restaq:step
func unknownType(ctx context.Context, a string, b Missing) error { return nil }

//restaq:step
func unknownOutput(ctx context.Context) ([]Missing, error) { return nil, nil }

//restaq:step
func (m *Missing) unknownReceiver(ctx context.Context) error { return nil }

//restaq:step
func noBody(ctx context.Context) error

//restaq:step
func _(ctx context.Context) error { return nil }

//restaq:step
func (t *sql.DB) otherPackage(ctx context.Context) error { return nil }

//restaq:step name=declared-twice
func (t T) variadic(ctx context.Context) error { return nil }

//restaq:step
func notComparable(ctx context.Context, m map[[]int]string) error { return nil }

//restaq:step
func recursive(ctx context.Context, r Recursive) error { return nil }

type Recursive Recursive

//restaq:step
func init() {}

//restaq:step
func lateTx(ctx context.Context, id string, tx pgx.Tx) error { return nil }

//restaq:step
func twoTx(ctx context.Context, tx pgx.Tx, other *sql.Tx) error { return nil }

//restaq:step
func wrongTx(ctx context.Context, tx sql.Tx) error { return nil }

//restaq:step
func pointerTx(ctx context.Context, tx *pgx.Tx) error { return nil }

//restaq:on a.b
func noEvent(ctx context.Context) error { return nil }

//restaq:on a.b
func moreThanEvent(ctx context.Context, e restaq.Event, db *sql.DB) error { return nil }

//restaq:on a.b
func handlerOutput(ctx context.Context, e restaq.Event) (string, error) { return "", nil }

//restaq:on a.b
func handlerNoContext(e restaq.Event) error { return nil }

//restaq:on a.b
func handlerNoError(ctx context.Context, e restaq.Event) {}

//restaq:on a.b
func genericHandler[E any](ctx context.Context, e E) error { return nil }

//restaq:step
func withTx(ctx context.Context, tx pgx.Tx, id string) error { return nil }

//restaq:step
func withSQLTx(ctx context.Context, tx *sql.Tx) (int, error) { return 0, nil }

//restaq:step pure
func pureTx(ctx context.Context, tx pgx.Tx) error { return nil }
