package postgres_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
)

// The tables as the first migration made them, with what a build of that time
// wrote, are brought up to date; and such a build goes on to write beside us.
func TestTablesOfAnOlderBuildAreBroughtUpToDate(t *testing.T) {
	address := pgtest.URL(t)
	first, err := os.ReadFile("migrations/1.001_tables.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	const putByOlder = `INSERT INTO restaq.handler (name, events) VALUES ('shop.Paid', '{shop.paid}')
		ON CONFLICT (name) DO UPDATE SET events = excluded.events`
	const dead = `
		INSERT INTO restaq.event (received_at, source, provider, type, event_id, executions)
		VALUES (now(), restaq.term_id('shop'), restaq.term_id('shop'), restaq.term_id('shop.paid'), 'evt_1', '{01900000-0000-7000-8000-000000000001}');
		INSERT INTO restaq.execution (id, created_at, handler, source, event_id)
		VALUES ('01900000-0000-7000-8000-000000000001', now(), restaq.term_id('shop.Paid'), restaq.term_id('shop'), 'evt_1');
		INSERT INTO restaq.work (execution, token, attempts, handler, finished_at, status, error)
		VALUES ('01900000-0000-7000-8000-000000000001', 1, 1, restaq.term_id('shop.Paid'), now(), 'failed', 'boom');`
	for _, sql := range []string{
		`CREATE SCHEMA restaq`,
		`CREATE TABLE restaq.migration (name text COLLATE "C" PRIMARY KEY, major integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
		string(first),
		`INSERT INTO restaq.migration (name, major) VALUES ('1.001_tables', 1)`,
		putByOlder, dead,
	} {
		if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}

	s, err := postgres.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	known := func(want restaq.HandlerInfo) {
		t.Helper()
		all, err := s.Handlers(t.Context())
		if err != nil || !reflect.DeepEqual(all, []restaq.HandlerInfo{want}) {
			t.Errorf("handlers %+v, %v; want %+v", all, err, want)
		}
	}
	info := restaq.HandlerInfo{Name: "shop.Paid", Events: []string{"shop.paid"}}
	known(info)
	page, err := s.List(t.Context(), restaq.Filter{Statuses: []string{"dead"}})
	if err != nil || len(page.Executions) != 1 || page.Executions[0].Error != "boom" || page.Executions[0].StoppedBy != "" {
		t.Errorf("dead: %+v, %v; want the execution, of which nobody knows why", page.Executions, err)
	}
	if page, err := s.List(t.Context(), restaq.Filter{StoppedBy: restaq.StoppedBySchema}); err != nil || len(page.Executions) != 0 {
		t.Errorf("stopped by schema: %+v, %v; want none", page.Executions, err)
	}

	info.Steps = []restaq.StepInfo{{Name: "pay", Func: "example.com/shop.pay", Shape: "1"}}
	if err := s.PutHandlers(t.Context(), []restaq.HandlerInfo{info}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), putByOlder); err != nil {
		t.Fatal(err)
	}
	known(info)
}
