package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// begin stores an event whose execution is begun under a lease of an hour.
func begin(ctx context.Context, s *Store, id string) error {
	_, _, err := s.Insert(ctx, &restaq.Insertion{
		Event:      &restaq.Event{Source: "acme", Provider: "acme", ID: id, Type: "acme.order"},
		Executions: []restaq.NewExecution{{ID: "execution-" + id, Handler: "shop.Paid", Begin: true}},
		Owner:      "owner-of-" + id, Lease: time.Hour,
	})
	return err
}

// record records a step of the attempt that begin began.
func record(t *testing.T, s *Store, id string) error {
	t.Helper()
	lease := restaq.Lease{Execution: "execution-" + id, Attempt: 1, Token: 1}
	return s.Record(t.Context(), lease, &restaq.Progress{Steps: []restaq.StepRow{{Attempt: 1, Seq: 1, Name: "pay", Status: restaq.StepCompleted}}})
}

func mustBegin(t *testing.T, s *Store, id string) {
	t.Helper()
	if err := begin(t.Context(), s, id); err != nil {
		t.Fatal(err)
	}
}

// What another connection does to an execution is seen by the one that began
// it, whose writer remembers it.
func TestTheWriterRemembersNothingStale(t *testing.T) {
	path := newPath(t)
	s, other := mustOpen(t, Config{Path: path}), mustOpen(t, Config{Path: path})
	for name, change := range map[string]func(t *testing.T, id string){
		"cancelled": func(t *testing.T, id string) {
			_, changed, err := other.Change(t.Context(), "execution-"+id, restaq.Change{From: []restaq.Status{restaq.Running}, To: restaq.Cancelled})
			if err != nil || !changed {
				t.Fatalf("Change = %v, %v", changed, err)
			}
		},
		"taken over": func(t *testing.T, id string) {
			other.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
			claimed, err := other.Claim(t.Context(), restaq.Claim{Owner: "heir", Lease: time.Hour, Handlers: []string{"shop.Paid"}, Limit: 10})
			if err != nil || len(claimed) == 0 {
				t.Fatalf("Claim = %v, %v", claimed, err)
			}
		},
		"pruned and numbered anew": func(t *testing.T, id string) {
			execAll(t, plain(t, path), `DELETE FROM restaq_execution WHERE id = 'execution-`+id+`'`)
			mustBegin(t, other, id+"-next")
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := "evt_" + name
			mustBegin(t, s, id)
			if err := record(t, s, id); err != nil {
				t.Fatal(err)
			}
			change(t, id)
			if err := record(t, s, id); !errors.Is(err, restaq.ErrLeaseLost) {
				t.Errorf("Record = %v, want ErrLeaseLost", err)
			}
		})
	}
}

func TestWhatWasRolledBackIsForgotten(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	mustBegin(t, s, "evt_1")
	oops := errors.New("oops")
	errs := batch(s.writer, func(tx *tx) error {
		_, _, err := tx.insert(&restaq.Insertion{
			Event:      &restaq.Event{Source: "acme", Provider: "acme", ID: "evt_2", Type: "acme.order"},
			Executions: []restaq.NewExecution{{ID: "execution-evt_2", Handler: "shop.Paid", Begin: true}},
			Owner:      "owner", Lease: time.Hour,
		})
		return errors.Join(err, oops)
	})
	if !errors.Is(errs[0], oops) {
		t.Fatal(errs)
	}
	if err := record(t, s, "evt_2"); !errors.Is(err, restaq.ErrLeaseLost) {
		t.Errorf("Record of what was rolled back = %v, want ErrLeaseLost", err)
	}
	if err := record(t, s, "evt_1"); err != nil {
		t.Errorf("Record of what was there before = %v", err)
	}
	mustBegin(t, s, "evt_2")
	if err := record(t, s, "evt_2"); err != nil {
		t.Errorf("Record = %v", err)
	}
}
