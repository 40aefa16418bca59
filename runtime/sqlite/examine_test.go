package sqlite

import (
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// findings examines the store and returns what it found, by check.
func findings(t *testing.T, s *Store) map[string]restaq.Finding {
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
	s := mustOpen(t, Config{Path: newPath(t)})
	mustInsert(t, s, "evt_1")
	for check, f := range findings(t, s) {
		if f.Level != restaq.LevelOK {
			t.Errorf("%s: %+v", check, f)
		}
	}
}

func TestTroubleIsFound(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	mustInsert(t, s, "evt_1")
	claimed, err := s.Claim(t.Context(), restaq.Claim{Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 1})
	if err != nil || len(claimed) != 1 {
		t.Fatalf("Claim = %v, %v", claimed, err)
	}
	mustInsert(t, s, "evt_2")
	s.now = func() time.Time { return time.Now().Add(time.Hour) }
	if err := s.writer.do(t.Context(), func(tx *tx) error {
		tx.wrote = true
		return s.writer.conn.script(`DROP INDEX restaq_event_id; DELETE FROM restaq_migration WHERE name = '1.003_operate'`)
	}); err != nil {
		t.Fatal(err)
	}
	found := findings(t, s)
	for check, want := range map[string]struct {
		level restaq.Level
		text  string
	}{
		"indexes":            {restaq.LevelFail, "missing: restaq_event_id"},
		"schema":             {restaq.LevelFail, "it lacks 1.003_operate"},
		"stuck leases":       {restaq.LevelWarn, "1"},
		"overdue executions": {restaq.LevelWarn, "1"},
		"integrity":          {restaq.LevelOK, "ok"},
	} {
		if f := found[check]; f.Level != want.level || !strings.Contains(f.Text, want.text) {
			t.Errorf("%s: %+v, want %s: %s", check, f, want.level, want.text)
		}
	}
}
