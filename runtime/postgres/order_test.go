package postgres

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// ordered stores an execution of an order key and returns its id.
func (f *fenced) ordered(id, key string) string {
	f.Helper()
	created, _, err := f.Insert(f.Context(), orderedInsertion(id, key))
	if err != nil || !created {
		f.Fatalf("Insert = %v, %v", created, err)
	}
	return id
}

func orderedInsertion(id, key string) *restaq.Insertion {
	return &restaq.Insertion{
		Event:      &restaq.Event{Source: "s", Provider: "s", ID: "evt_" + id, Type: "s.paid"},
		Executions: []restaq.NewExecution{{ID: id, Handler: "shop.Paid", OrderKey: key}},
	}
}

// claims claims what is due, which must be the executions with these ids.
func (f *fenced) claims(ids ...string) []restaq.Claimed {
	f.Helper()
	claimed, err := f.Claim(f.Context(), restaq.Claim{Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 10})
	if err != nil {
		f.Fatal(err)
	}
	got := map[string]bool{}
	for _, c := range claimed {
		got[c.Execution.ID] = true
	}
	for _, id := range ids {
		if !got[id] {
			f.Errorf("execution %s was not claimed", id)
		}
	}
	if len(got) != len(ids) {
		f.Errorf("%d executions were claimed, want %d", len(got), len(ids))
	}
	return claimed
}

func (f *fenced) ends(c restaq.Claimed, o restaq.Outcome) {
	f.Helper()
	if _, err := f.Finish(f.Context(), c.Lease, &o); err != nil {
		f.Fatal(err)
	}
}

// begin begins the transaction beside anew, whose now() is that of its beginning.
func (f *fenced) begin() {
	f.Helper()
	conn := f.tx.Conn()
	if err := f.tx.Rollback(f.Context()); err != nil {
		f.Fatal(err)
	}
	var err error
	if f.tx, err = conn.Begin(f.Context()); err != nil {
		f.Fatal(err)
	}
}

const (
	firstID  = "01900000-0000-7000-8000-000000000011"
	secondID = "01900000-0000-7000-8000-000000000012"
	thirdID  = "01900000-0000-7000-8000-000000000013"
)

// By its own snapshot each of two claims finds another execution first: one
// does not see that an earlier one was reopened, the other not what the one has
// begun.
func TestTwoClaimsOfAnOrderKeyAreDecidedOneAfterTheOther(t *testing.T) {
	f := newFenced(t)
	first, second := f.ordered(firstID, "k"), f.ordered(secondID, "k")
	f.ends(f.claims(first)[0], restaq.Outcome{Status: restaq.Failed, Attempt: restaq.AttemptFailed, Error: "boom"})
	f.begin()
	taken := f.takeOver(f.tx)
	if len(taken) != 1 || taken[0].Execution.ID != second {
		t.Fatalf("claimed %+v, want the second", taken)
	}
	if _, changed, err := f.Change(t.Context(), first, restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending}); err != nil || !changed {
		t.Fatalf("Change = %v, %v", changed, err)
	}
	f.claims()
	f.commit()
	f.claims()
	f.ends(taken[0], restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted})
	f.claims(first)
}

// A delivery in a transaction that stays open holds up the deliveries of its
// own key, and nothing else.
func TestAnOpenDeliveryHoldsUpTheDeliveriesOfItsKeyAlone(t *testing.T) {
	f := newFenced(t)
	before := f.ordered(firstID, "k")
	if _, _, err := f.InsertTx(t.Context(), f.tx, orderedInsertion(secondID, "k")); err != nil {
		t.Fatal(err)
	}
	other := f.ordered(thirdID, "l")
	claimed := f.claims(before, other)
	for _, c := range claimed {
		f.ends(c, restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted})
	}
	const behindID = "01900000-0000-7000-8000-000000000014"
	stored := make(chan error, 1)
	go func() {
		_, _, err := f.Insert(t.Context(), orderedInsertion(behindID, "k"))
		stored <- err
	}()
	f.awaitBlocked()
	f.claims()
	f.commit()
	if err := <-stored; err != nil {
		t.Fatal(err)
	}
	f.ends(f.claims(secondID)[0], restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted})
	f.claims(behindID)
}

// Whatever waits behind others of its order key is not looked at, and so a
// handler with much of that holds no claim up.
func TestAClaimDoesNotReadWhatIsBehindOthersOfItsKey(t *testing.T) {
	f := newFenced(t)
	if _, err := f.admin.Exec(t.Context(), `PREPARE claim (text[], bigint, uuid, bigint, boolean, uuid, boolean, bigint, uuid[]) AS `+claimSQL); err != nil {
		t.Fatal(err)
	}
	blocks := func(waiting int) (n int) {
		t.Helper()
		for _, sql := range []string{
			`TRUNCATE restaq.work`,
			fmt.Sprintf(`
				INSERT INTO restaq.work (execution, place, token, attempts, handler, order_key, status, due_at, lease_until)
				SELECT gen_random_uuid(), n, 1, 1, restaq.term_id('shop.Paid'), n %% 10,
					CASE WHEN n > 10 THEN 'pending' ELSE 'running' END,
					CASE WHEN n > 10 THEN now() END, CASE WHEN n <= 10 THEN now() + interval '1 hour' END
				FROM generate_series(1, %d) n`, waiting),
			`VACUUM ANALYZE restaq.work`,
		} {
			if _, err := f.admin.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		lines, err := column[string](t.Context(), f.admin, `
			EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF)
			EXECUTE claim (ARRAY['shop.Paid'], 64, gen_random_uuid(), 60000000, true, NULL, true, 5, '{}')`)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines { // the first one is of the whole statement
			for _, word := range strings.Fields(line) {
				if hit, ok := strings.CutPrefix(word, "hit="); ok {
					if n, err = strconv.Atoi(hit); err != nil {
						t.Fatal(err)
					}
					return n
				}
			}
		}
		t.Fatalf("no count of blocks in\n%s", strings.Join(lines, "\n"))
		return 0
	}
	few := blocks(100)
	if many := blocks(20_000); many > 2*few {
		t.Errorf("a claim touches %d blocks with 20,000 waiting, and %d with 100", many, few)
	}
}
