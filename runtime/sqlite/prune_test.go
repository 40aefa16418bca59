package sqlite

import (
	"fmt"
	"sync"
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

// Pages of what was pruned and forgotten are used again: the file grows no
// further.
func TestPrunedExecutionsLeaveNoBloat(t *testing.T) {
	var c clocks
	s := c.mustOpen(t, newPath(t))
	const rounds, perRound = 4, 150
	var pages []int64
	for round := range rounds {
		var deliveries sync.WaitGroup
		for i := range perRound {
			deliveries.Go(func() {
				if err := insert(t.Context(), s, fmt.Sprint("evt_", round, "_", i)); err != nil {
					t.Error(err)
				}
			})
		}
		deliveries.Wait()
		claimed, err := s.Claim(t.Context(), restaq.Claim{Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: perRound})
		if err != nil || len(claimed) != perRound {
			t.Fatalf("claimed %d, %v", len(claimed), err)
		}
		for _, x := range claimed {
			deliveries.Go(func() {
				_, err := s.Finish(t.Context(), x.Lease, &restaq.Outcome{
					Status: restaq.Completed, Attempt: restaq.AttemptCompleted, Steps: []restaq.StepRow{{Seq: 1, Name: "a", Output: make([]byte, 300)}},
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		deliveries.Wait()
		c.of(s.path).Add(int64(time.Hour))
		done, err := s.Prune(t.Context(), restaq.Prune{OlderThan: time.Minute})
		forgotten, err2 := s.Forget(t.Context(), claimed[0].Event.Provider, time.Minute, perRound)
		if err != nil || err2 != nil || done.Executions != perRound || forgotten != perRound {
			t.Fatalf("pruned %+v, %v; forgot %d, %v; want %d", done, err, forgotten, err2, perRound)
		}
		pages = append(pages, number(t, s, `SELECT page_count FROM pragma_page_count`))
	}
	if last := pages[rounds-1]; last > pages[0]*6/5 {
		t.Errorf("pages after each round: %v", pages)
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
