package sqlite

import (
	"testing"

	restaq "github.com/restaq/restaq/runtime"
)

// Each statement costs what it finds, and not what else is stored. These are
// the plans that SQLite makes for a file without statistics.
func TestPlansOfStatements(t *testing.T) {
	const (
		event    = "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)"
		lastTerm = "USE TEMP B-TREE FOR LAST TERM OF ORDER BY" // among rows of one microsecond
	)
	for name, test := range map[string]struct {
		run  func(query queryFunc) error
		want []string
	}{
		"lookup": {
			func(query queryFunc) error { _, err := lookup(query, "acme", "evt_1", true); return err },
			[]string{
				"SEARCH e USING INDEX restaq_event_id (id=? AND source=?)",
				"SEARCH x USING INTEGER PRIMARY KEY (rowid>? AND rowid<?) LEFT-JOIN",
				"SEARCH restaq_event USING INTEGER PRIMARY KEY (rowid=?)",
			},
		},
		"load": {
			func(query queryFunc) error { _, err := load(query, "execution-evt_1"); return err },
			[]string{"SEARCH x USING INDEX restaq_execution_id (id=?)", event},
		},
		"history": {
			func(query queryFunc) error { _, err := history(query, "execution-evt_1"); return err },
			[]string{
				"SEARCH x USING INDEX restaq_execution_id (id=?)", event,
				"SEARCH restaq_attempt USING PRIMARY KEY (execution=?)",
				"SEARCH restaq_step USING PRIMARY KEY (execution=?)",
			},
		},
		"claim": {
			func(query queryFunc) error {
				_, err := candidates(query, restaq.Claim{Handlers: []string{"shop.Paid"}, Limit: 5}, 1)
				return err
			},
			[]string{
				"SEARCH x USING INDEX restaq_execution_due (handler=? AND due_at<?)",
				"CORRELATED SCALAR SUBQUERY 1",
				"SEARCH y USING INDEX restaq_execution_order (handler=? AND order_key=? AND seq<?)",
				"CORRELATED SCALAR SUBQUERY 2",
				"SEARCH y USING COVERING INDEX restaq_execution_order_running (handler=? AND order_key=?)",
				"CORRELATED SCALAR SUBQUERY 3",
				"SEARCH y USING INDEX restaq_execution_order_dead (handler=? AND order_key=? AND seq<?)",
			},
		},
		"list": {
			func(query queryFunc) error { _, err := executions(query, restaq.Filter{Limit: 5}); return err },
			[]string{"SCAN x USING INDEX restaq_execution_created", event, lastTerm},
		},
		"next page": {
			func(query queryFunc) error {
				_, err := executions(query, restaq.Filter{Limit: 5, Cursor: cursor(restaq.Event{}.ReceivedAt, "x"), Handler: "shop.Paid"})
				return err
			},
			[]string{"SEARCH x USING INDEX restaq_execution_created (created_at<?)", event, lastTerm},
		},
		"list dead": {
			func(query queryFunc) error {
				_, err := executions(query, restaq.Filter{Limit: 5, Statuses: []string{"dead"}})
				return err
			},
			[]string{"SCAN x USING INDEX restaq_execution_failed", event, lastTerm},
		},
		"list an event's": {
			func(query queryFunc) error {
				_, err := executions(query, restaq.Filter{Limit: 5, EventID: "evt_1"})
				return err
			},
			[]string{
				"SEARCH x USING INTEGER PRIMARY KEY (rowid=?)",
				"LIST SUBQUERY 2", "COMPOUND QUERY", "LEFT-MOST SUBQUERY",
				"SEARCH e USING INDEX restaq_event_id (id=?)",
				"SEARCH x USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
				"UNION ALL",
				"SEARCH f USING COVERING INDEX restaq_event_id (id=?)",
				"SEARCH y USING COVERING INDEX restaq_execution_late (event=?)",
				event, "USE TEMP B-TREE FOR ORDER BY", // of the few
			},
		},
		"list unhandled": {
			func(query queryFunc) error { _, err := unhandled(query, restaq.Filter{Limit: 5}); return err },
			[]string{"SCAN e USING INDEX restaq_event_unhandled"},
		},
		"prune": {
			func(query queryFunc) error { _, _, err := prunable(query, restaq.Prune{Limit: 5}, 1); return err },
			[]string{"SEARCH x USING INDEX restaq_execution_created (created_at<?)"},
		},
		"prune the dead": {
			func(query queryFunc) error {
				_, _, err := prunable(query, restaq.Prune{Limit: 5, Statuses: []string{"dead"}}, 1)
				return err
			},
			[]string{"SEARCH x USING INDEX restaq_execution_failed (created_at<?)"},
		},
		"prune the cancelled": {
			func(query queryFunc) error {
				_, _, err := prunable(query, restaq.Prune{Limit: 5, Statuses: []string{"cancelled"}}, 1)
				return err
			},
			[]string{"SEARCH x USING INDEX restaq_execution_cancelled (created_at<?)"},
		},
		"forget": {
			func(query queryFunc) error { _, err := forgettable(query, "acme", 1, 5); return err },
			[]string{
				"SEARCH e USING INDEX restaq_event_spent (provider=? AND received_at<?)",
				"CORRELATED SCALAR SUBQUERY 1",
				"SEARCH x USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
				"CORRELATED SCALAR SUBQUERY 2",
				"SEARCH restaq_execution USING COVERING INDEX restaq_execution_late (event=?)",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, Config{Path: newPath(t)})
			mustInsert(t, s, "evt_1")
			var got []string
			err := s.reader.read(t.Context(), func(query queryFunc) error {
				return test.run(func(text string, args ...any) (rows, error) {
					got = append(got, plan(t, query, text, args)...)
					return query(text, args...)
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(test.want) {
				t.Fatalf("plan %q, want %q", got, test.want)
			}
			for i := range got {
				if got[i] != test.want[i] {
					t.Errorf("plan %q, want %q", got[i], test.want[i])
				}
			}
		})
	}
}

// plan returns the lines of a statement's plan.
func plan(t *testing.T, query queryFunc, text string, args []any) []string {
	t.Helper()
	rows, err := query(`EXPLAIN QUERY PLAN `+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	err = each(rows, func() error {
		var id, parent, unused int
		var line string
		err := rows.Scan(&id, &parent, &unused, &line)
		lines = append(lines, line)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
