package sqlite

import (
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

func TestPruneLeavesNoRowsAndNoNumberComesBack(t *testing.T) {
	var c clocks
	s := c.mustOpen(t, newPath(t))
	last := map[string]int64{}
	for _, id := range []string{"evt_1", "evt_2", "evt_3"} {
		mustInsert(t, s, id)
		claimed, err := s.Claim(t.Context(), restaq.Claim{Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 1})
		if err != nil || len(claimed) != 1 {
			t.Fatalf("Claim = %v, %v", claimed, err)
		}
		_, err = s.Finish(t.Context(), claimed[0].Lease, &restaq.Outcome{
			Status: restaq.Completed, Attempt: restaq.AttemptCompleted, Steps: []restaq.StepRow{{Seq: 1, Name: "a"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"restaq_event", "restaq_execution"} {
			seq := number(t, s, `SELECT max(seq) FROM `+table)
			if seq <= last[table] {
				t.Errorf("%s: number %d after %d", table, seq, last[table])
			}
			last[table] = seq
		}
		c.of(s.path).Add(int64(time.Hour))
		if done, err := s.Prune(t.Context(), restaq.Prune{OlderThan: time.Minute}); err != nil || done.Executions != 1 {
			t.Fatalf("Prune = %+v, %v", done, err)
		}
		for _, table := range []string{"restaq_execution", "restaq_attempt", "restaq_step"} {
			if n := number(t, s, `SELECT count(*) FROM `+table); n != 0 {
				t.Errorf("%s has %d rows left", table, n)
			}
		}
	}
}

func number(t *testing.T, s *Store, text string) (n int64) {
	t.Helper()
	err := s.reader.readOnce(t.Context(), func(query queryFunc) error { return scanOne(query, []any{&n}, text) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}
