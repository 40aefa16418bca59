package sqlite

import (
	"fmt"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

func TestAHandlerNamedTwiceIsClaimedOnce(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	mustInsert(t, s, "evt_1")
	claimed, err := s.Claim(t.Context(), restaq.Claim{
		Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Paid", "shop.Paid"}, Limit: 5,
	})
	if err != nil || len(claimed) != 1 {
		t.Errorf("Claim took %d executions, %v; want 1", len(claimed), err)
	}
}

func TestAPollThatFindsNothingTakesNoLock(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	unlock := lock(t, path)
	defer unlock()
	claimed, err := s.Claim(t.Context(), restaq.Claim{Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 5})
	if err != nil || len(claimed) != 0 {
		t.Errorf("Claim = %v, %v; want nothing", claimed, err)
	}
}

// What waits behind others of its order key is not in the index that a claim
// walks through, and comes there when it is its turn.
func TestWhatIsBehindOthersOfItsKeyIsNotLookedAt(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	for i := range 20 {
		_, _, err := s.Insert(t.Context(), &restaq.Insertion{
			Event:      &restaq.Event{Source: "acme", Provider: "acme", ID: fmt.Sprint("evt_", i), Type: "acme.paid"},
			Executions: []restaq.NewExecution{{ID: fmt.Sprint("execution-", i), Handler: "shop.Paid", OrderKey: "k"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	cancel := restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Cancelled}
	for left := 20; left > 0; {
		var looked int
		err := s.reader.read(t.Context(), func(query queryFunc) error {
			return scanOne(query, []any{&looked}, `SELECT count(*) FROM restaq_execution INDEXED BY restaq_execution_due
				WHERE due_at IS NOT NULL AND behind = 0`)
		})
		if err != nil || looked != 1 {
			t.Fatalf("a claim looks at %d executions, %v; want 1 of %d", looked, err, left)
		}
		if left%5 == 0 { // one that waits, and one whose turn it is
			for _, i := range []int{19 - left/5, 20 - left} {
				if _, changed, err := s.Change(t.Context(), fmt.Sprint("execution-", i), cancel); err != nil {
					t.Fatal(err)
				} else if changed {
					left--
				}
			}
			continue
		}
		claimed, err := s.Claim(t.Context(), restaq.Claim{Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 5})
		if err != nil || len(claimed) != 1 {
			t.Fatalf("Claim = %v, %v; want one", claimed, err)
		}
		if _, err := s.Finish(t.Context(), claimed[0].Lease, &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted}); err != nil {
			t.Fatal(err)
		}
		left--
	}
}
