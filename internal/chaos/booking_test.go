//go:build linux

package chaos

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

// booking is the step that writes to a table of the user's, in the transaction
// that records it: a second ledger, which must say exactly what is recorded.
const booking = "book"

// bookedTable is that table, in the store's database.
const bookedTable = `CREATE TABLE booked (execution varchar(36) NOT NULL, value varchar(200) NOT NULL)`

// bookStep describes the step as generated code does.
func bookStep(kind string) *restaq.Step[*worker, bookIn, string] {
	txType := map[string]string{"postgres": "pgx.Tx", "sqlite": "*sql.Tx"}[kind]
	return &restaq.Step[*worker, bookIn, string]{
		Name: booking, Func: "chaos.worker.book", Tx: txType,
		CallTx: func(ctx context.Context, tx any, w *worker, in bookIn) (string, error) { return w.book(ctx, tx, in) },
		Codec: restaq.Codec[bookIn, string]{
			AppendIn:  func(dst []byte, in *bookIn) ([]byte, error) { return appendJSON(dst, in) },
			DecodeIn:  func(data []byte, in *bookIn) error { return json.Unmarshal(data, in) },
			AppendOut: func(dst []byte, out *string) ([]byte, error) { return appendJSON(dst, *out) },
			DecodeOut: func(data []byte, out *string) error { return json.Unmarshal(data, out) },
			Shape:     "string",
		},
	}
}

// bookIn are the step's inputs.
type bookIn struct{ Order order }

func appendJSON(dst []byte, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return append(dst, data...), err
}

// book writes what it returns.
func (w *worker) book(ctx context.Context, tx any, in bookIn) (string, error) {
	w.say(ctx, entry{What: began, Step: booking})
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second) // a user's query may hang
	defer cancel()
	value := w.value(booking)
	var err error
	switch tx := tx.(type) {
	case pgx.Tx:
		_, err = tx.Exec(ctx, `INSERT INTO booked (execution, value) VALUES ($1, $2)`, restaq.ExecutionID(ctx), value)
	case *sql.Tx:
		_, err = tx.ExecContext(ctx, `INSERT INTO booked (execution, value) VALUES (?, ?)`, restaq.ExecutionID(ctx), value)
	default:
		err = restaq.Permanent(fmt.Errorf("transaction of type %T", tx))
	}
	if err != nil {
		return "", err
	}
	if err := w.step(ctx, booking, &in.Order); err != nil {
		return "", err // what was written goes
	}
	w.say(ctx, entry{What: returned, Step: booking, Value: value})
	return value, nil
}

// onDatabase runs fn on a connection to the fleet's database.
func (f *fleet) onDatabase(fn func(db *sql.DB, conn *pgx.Conn) error) {
	f.t.Helper()
	ctx := context.WithoutCancel(f.t.Context())
	err := func() error {
		if f.kind == "sqlite" {
			db, err := sql.Open("sqlite", "file:"+f.target+"?_pragma=busy_timeout(30000)")
			if err != nil {
				return err
			}
			defer db.Close()
			return fn(db, nil)
		}
		conn, err := pgx.Connect(ctx, f.target)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		return fn(nil, conn)
	}()
	if err != nil {
		f.t.Fatal(err)
	}
}

// openBooks makes the table.
func (f *fleet) openBooks() {
	f.t.Helper()
	f.onDatabase(func(db *sql.DB, conn *pgx.Conn) (err error) {
		if db != nil {
			_, err = db.ExecContext(f.t.Context(), bookedTable)
		} else {
			_, err = conn.Exec(f.t.Context(), bookedTable)
		}
		return err
	})
}

// rows is what both kinds of database return.
type rows interface {
	Next() bool
	Scan(targets ...any) error
	Err() error
}

// booked returns the table, by execution.
func (f *fleet) booked() map[string][]string {
	f.t.Helper()
	const query = `SELECT execution, value FROM booked`
	all := make(map[string][]string)
	f.onDatabase(func(db *sql.DB, conn *pgx.Conn) error {
		var found rows
		var err error
		if db != nil {
			found, err = db.QueryContext(f.t.Context(), query)
		} else {
			found, err = conn.Query(f.t.Context(), query)
		}
		if err != nil {
			return err
		}
		for found.Next() {
			var execution, value string
			if err := found.Scan(&execution, &value); err != nil {
				return err
			}
			all[execution] = append(all[execution], value)
		}
		return found.Err()
	})
	return all
}
