// Transactions: steps that take the store's transaction, on stores that give
// one and on stores that do not.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
)

type Payment struct {
	Charge string `json:"charge"`
	Amount int64  `json:"amount"`
}

// Transaction is another name for the same type.
type Transaction = pgx.Tx

// Server books on Postgres.
type Server struct{ tries int }

//restaq:on shop.paid
func (s *Server) Paid(ctx context.Context, event Payment) error {
	number, err := s.bookStep(ctx, event.Charge, event.Amount)
	if err != nil {
		return err
	}
	if err := s.countStep(ctx); err != nil {
		return err
	}
	play.Say("booked as", number)
	return nil
}

//restaq:step key=charge attempts=5
func (s *Server) book(ctx context.Context, tx pgx.Tx, charge string, amount int64) (number int, err error) {
	if err := tx.QueryRow(ctx, `INSERT INTO booking (charge) VALUES ($1) RETURNING 7`, charge).Scan(&number); err != nil {
		return 0, err
	}
	return number, again(&s.tries)
}

//restaq:step
func (s *Server) count(in context.Context, tx Transaction) error {
	var rows int
	if err := tx.QueryRow(in, `SELECT count(*) FROM booking`).Scan(&rows); err != nil {
		return err
	}
	play.Say("bookings:", rows)
	return nil
}

var tries int

//restaq:on shop.paid
func onFile(ctx context.Context, event Payment) error {
	if err := insertStep(ctx, event, "a file"); err != nil {
		return err
	}
	rows, err := rowsStep(ctx)
	if err != nil {
		return err
	}
	play.Say("bookings:", rows)
	return nil
}

//restaq:step
func insert(ctx context.Context, _ *sql.Tx, tx Payment, in string) error { return nil }

//restaq:step
func rows(ctx context.Context, tx *sql.Tx) (n int, err error) {
	if _, err := tx.ExecContext(ctx, `INSERT INTO booking (charge) VALUES ('ch_1')`); err != nil {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM booking`).Scan(&n); err != nil {
		return 0, err
	}
	return n, again(&tries)
}

// again makes the first try fail, after it has written.
func again(tries *int) error {
	*tries++
	if *tries == 1 {
		return errors.New("after the write")
	}
	return nil
}

func main() {
	paid := play.Event("shop.paid", `{"charge":"ch_1","amount":42}`)
	table := `CREATE TABLE booking (charge text PRIMARY KEY)`

	dir, err := os.MkdirTemp("", "golden")
	check(err)
	defer os.RemoveAll(dir)
	file, err := sqlite.Open(filepath.Join(dir, "restaq.db"))
	check(err)
	defer file.Close()
	db, err := sql.Open("sqlite", filepath.Join(dir, "restaq.db"))
	check(err)
	_, err = db.Exec(table)
	check(err)
	check(db.Close())
	play.RunOn(file, []func(*restaq.Runtime) error{RegisterHandlers}, paid)

	ctx := context.Background()
	url := os.Getenv("RESTAQ_TEST_POSTGRES")
	conn, err := pgx.Connect(ctx, url)
	check(err)
	_, err = conn.Exec(ctx, table)
	check(err)
	check(conn.Close(ctx))
	server, err := postgres.Open(ctx, url)
	check(err)
	defer server.Close()
	play.RunOn(server, []func(*restaq.Runtime) error{new(Server).RegisterHandlers}, paid)

	for _, store := range []restaq.Store{memory.New(), file, server} {
		rt, err := restaq.New(store, restaq.Config{})
		check(err)
		fmt.Println(errors.Join(RegisterHandlers(rt), new(Server).RegisterHandlers(rt)))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
