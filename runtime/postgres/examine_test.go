package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

// findings examines the store and returns what it found, by check.
func findings(t *testing.T, s *store) map[string]restaq.Finding {
	t.Helper()
	found, err := s.Examine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]restaq.Finding{}
	for _, f := range found {
		if (f.Level == restaq.LevelOK) != (f.Advice == "") || f.Text == "" {
			t.Errorf("finding %+v: advice belongs to trouble, and each has a text", f)
		}
		by[f.Check] = f
	}
	return by
}

func TestANewStoreIsFoundWell(t *testing.T) {
	for _, schema := range []string{"restaq", "Other schema"} {
		s := open(t, database{url: pgtest.URL(t), schema: schema})
		for check, f := range findings(t, s) {
			if check == "durability" || check == "connection" || check == "transaction ids" {
				continue // the server's own: tests do without fsync, on any machine
			}
			if f.Level != restaq.LevelOK {
				t.Errorf("%s: %+v", check, f)
			}
		}
	}
}

func TestTroubleIsFound(t *testing.T) {
	d := database{url: pgtest.URL(t), schema: "restaq"}
	s := open(t, d)
	for _, id := range []string{"evt_1", "evt_2"} {
		_, _, err := s.Insert(t.Context(), &restaq.Insertion{
			Event: &restaq.Event{Source: "acme", Provider: "acme", ID: id, Type: "acme.paid"},
			Executions: []restaq.NewExecution{{
				ID: "00000000-0000-7000-8000-00000000000" + id[4:], Handler: "shop.Paid", Begin: id == "evt_1",
			}},
			Owner: "00000000-0000-7000-8000-000000000009", Lease: time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	advance(t, d, time.Hour)
	exec(t, d.url, `UPDATE pg_catalog.pg_index SET indisvalid = false WHERE indexrelid = 'restaq.work_finished'::regclass`)
	exec(t, d.url, `ALTER TABLE restaq.work SET (autovacuum_enabled = false)`)
	check := func(want map[string]restaq.Finding) {
		t.Helper()
		found := findings(t, s)
		for name, want := range want {
			if f := found[name]; f.Level != want.Level || !strings.Contains(f.Text, want.Text) || !strings.Contains(f.Advice, want.Advice) {
				t.Errorf("%s: %+v, want %+v", name, f, want)
			}
		}
	}
	check(map[string]restaq.Finding{
		"indexes":              {Level: restaq.LevelFail, Text: "invalid: work_finished", Advice: `REINDEX INDEX CONCURRENTLY "restaq"."work_finished"`},
		"autovacuum of tables": {Level: restaq.LevelWarn, Text: "work"},
		"stuck leases":         {Level: restaq.LevelWarn, Text: "1"},
		"overdue executions":   {Level: restaq.LevelWarn, Text: "1"},
		"schema":               {Level: restaq.LevelOK},
	})
	exec(t, d.url, `DROP INDEX restaq.event_unhandled`)
	check(map[string]restaq.Finding{"indexes": {Level: restaq.LevelFail, Text: "missing: event_unhandled"}})
	exec(t, d.url, `DELETE FROM restaq.migration WHERE name = '1.003_operate'`)
	check(map[string]restaq.Finding{"schema": {Level: restaq.LevelFail, Text: `"restaq" lacks 1.003_operate`, Advice: "restaq migrate"}})
}
