package sqlite

import (
	"os"
	"reflect"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
)

// The tables as the first migration made them, with what a build of that time
// wrote, are brought up to date; and such a build goes on to write beside us.
func TestTablesOfAnOlderBuildAreBroughtUpToDate(t *testing.T) {
	first, err := os.ReadFile("migrations/1.001_tables.sql")
	if err != nil {
		t.Fatal(err)
	}
	const putByOlder = `INSERT INTO restaq_handler (name, events) VALUES ('shop.Paid', '["shop.paid"]')
		ON CONFLICT (name) DO UPDATE SET events = excluded.events`
	path := newPath(t)
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	db := plain(t, path)
	execAll(t, db,
		string(first),
		`CREATE TABLE restaq_migration (name TEXT PRIMARY KEY, major INTEGER NOT NULL, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
		`INSERT INTO restaq_migration VALUES ('1.001_tables', 1, 0)`,
		putByOlder,
		`INSERT INTO restaq_event (seq, received_at, unhandled, first, executions, late, source, id, provider, type)
		VALUES (1, 0, 0, 1, 1, 0, 'shop', 'evt_1', 'shop', 'shop.paid')`,
		`INSERT INTO restaq_execution (seq, event, late, created_at, finished_at, token, attempts, kind, wish, status, id, handler, order_key, replay_of, owner, step, error)
		VALUES (1, 1, 0, 0, 0, 1, 1, 0, 0, 'failed', 'id-1', 'shop.Paid', '', '', '', '', 'boom')`,
	)

	s := mustOpen(t, Config{Path: path})
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
	execAll(t, db, putByOlder)
	known(info)
}
