//go:build linux

package chaos

import (
	"slices"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// sound is evidence of one event whose first attempt was lost after two steps.
func sound() *evidence {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * 10 * time.Second) }
	h := &restaq.StoredExecution{
		Execution: restaq.Execution{ID: "x", Status: restaq.Completed, Attempts: 2},
		Attempts: []restaq.AttemptRow{
			{Number: 1, Outcome: restaq.AttemptLost, StartedAt: at(0), EndedAt: at(2)},
			{Number: 2, Outcome: restaq.AttemptCompleted, StartedAt: at(2), EndedAt: at(5)},
		},
	}
	ev := &evidence{
		sent:      map[string]bool{"evt": true, "evt_never_taken": true},
		acked:     map[string][]string{"evt": {"x", "x"}},
		found:     map[string][]restaq.Execution{"evt": {h.Execution}},
		histories: map[string]*restaq.StoredExecution{"x": h},
		allowed:   crashes,
	}
	run := func(attempt int, step string) {
		text := step + " done"
		for _, what := range []string{began, returned} {
			ev.ledger = append(ev.ledger, entry{What: what, Execution: "x", Attempt: attempt, Step: step, Value: text})
		}
		h.Steps = append(h.Steps, restaq.StepRow{
			Attempt: attempt, Seq: 1 + len(h.Steps), Name: step, Status: restaq.StepCompleted, Output: []byte(`"` + text + `"`),
		})
	}
	run(1, "reserve")
	run(1, "charge")
	h.Steps = append(h.Steps, restaq.StepRow{Attempt: 2, Seq: 1, Name: "reserve", Status: restaq.StepSkipped},
		restaq.StepRow{Attempt: 2, Seq: 2, Name: "charge", Status: restaq.StepSkipped})
	run(2, booking)
	ev.booked = map[string][]string{"x": {booking + " done"}}
	run(2, "ship")
	run(2, "notify")
	ev.ledger = append(ev.ledger, entry{What: recorded, Execution: "x", Attempt: 2, Step: "charge", Value: "charge done"})
	ev.seen = sightings{"x": rowsOf(h)}
	return ev
}

// The checks find what they look for.
func TestProblemsAreFound(t *testing.T) {
	tests := []struct {
		name string
		harm func(ev *evidence, h *restaq.StoredExecution)
		want string
	}{
		{"lost event", func(ev *evidence, _ *restaq.StoredExecution) { delete(ev.found, "evt") }, "0 executions, want 1"},
		{"two executions", func(ev *evidence, h *restaq.StoredExecution) {
			ev.found["evt"] = append(ev.found["evt"], h.Execution)
		}, "2 executions, want 1"},
		{"receipt of another", func(ev *evidence, _ *restaq.StoredExecution) { ev.acked["evt"][1] = "y" }, "a receipt named y"},
		{"unfinished", func(_ *evidence, h *restaq.StoredExecution) { h.Execution.Status = restaq.Failed }, "want completed"},
		{"not dead", func(ev *evidence, _ *restaq.StoredExecution) { ev.dead = map[string]bool{"x": true} }, "want failed"},
		{"cancel forgotten", func(ev *evidence, _ *restaq.StoredExecution) { ev.cancelled = map[string]bool{"x": true} }, "want cancelled"},
		{"restart forgotten", func(ev *evidence, _ *restaq.StoredExecution) { ev.restarted = map[string]bool{"x": true} }, "no attempt began anew"},
		{"attempt missing", func(_ *evidence, h *restaq.StoredExecution) { h.Execution.Attempts = 3 }, "2 ended attempts, want 3"},
		{"number twice", func(_ *evidence, h *restaq.StoredExecution) { h.Attempts[1].Number = 1 }, "attempt 1 stands in place 2"},
		{"times cross", func(_ *evidence, h *restaq.StoredExecution) {
			h.Attempts[1].StartedAt = h.Attempts[0].StartedAt
		}, "started before attempt 1 ended"},
		{"lost without a crash", func(ev *evidence, _ *restaq.StoredExecution) { ev.allowed = nil }, "lost, which nothing here explains"},
		{"attempt after completion", func(_ *evidence, h *restaq.StoredExecution) {
			h.Attempts[0].Outcome = restaq.AttemptCompleted
		}, "and another one followed"},
		{"record twice", func(_ *evidence, h *restaq.StoredExecution) {
			h.Steps[3].Status = restaq.StepCompleted
		}, "step charge completed in attempt 1 and again in attempt 2"},
		{"skipped without a record", func(_ *evidence, h *restaq.StoredExecution) {
			h.Steps[0].Status = restaq.StepFailed
		}, "was skipped in attempt 2 without a record"},
		{"record missing", func(_ *evidence, h *restaq.StoredExecution) {
			h.Steps = h.Steps[:len(h.Steps)-1]
		}, "records of 4 steps"},
		{"booked twice", func(ev *evidence, _ *restaq.StoredExecution) {
			ev.booked["x"] = append(ev.booked["x"], ev.booked["x"]...)
		}, "want what is recorded"},
		{"booked without a record", func(ev *evidence, _ *restaq.StoredExecution) { ev.booked["x"][0] = "forged" }, "want what is recorded"},
		{"recorded without being booked", func(ev *evidence, _ *restaq.StoredExecution) { ev.booked = nil }, "want what is recorded"},
		{"booked for nothing", func(ev *evidence, _ *restaq.StoredExecution) { ev.booked["z"] = []string{"1"} }, "booked, but there is none"},
		{"row changed", func(_ *evidence, h *restaq.StoredExecution) { h.Steps[0].Shape = "other" }, "was read as"},
		{"row gone", func(_ *evidence, h *restaq.StoredExecution) { h.Steps = h.Steps[1:] }, `is now ""`},
		{"ran again", func(ev *evidence, _ *restaq.StoredExecution) {
			ev.ledger = append(ev.ledger, entry{What: began, Execution: "x", Attempt: 2, Step: "charge"})
		}, "step charge ran again in attempt 2"},
		{"returned another value", func(ev *evidence, _ *restaq.StoredExecution) {
			ev.ledger[len(ev.ledger)-1].Value = "forged"
		}, "which is not its record"},
		{"record of nothing", func(ev *evidence, _ *restaq.StoredExecution) { ev.ledger[1].Value = "forged" }, "was returned by no step"},
		{"ran for nothing", func(ev *evidence, _ *restaq.StoredExecution) {
			ev.ledger = append(ev.ledger, entry{What: began, Execution: "z", Attempt: 1, Step: "charge"})
		}, "a step ran, but there is none"},
	}
	if found := sound().problems(); len(found) > 0 {
		t.Fatalf("problems where there are none: %q", found)
	}
	for _, test := range tests {
		ev := sound()
		test.harm(ev, ev.histories["x"])
		found := ev.problems()
		if !slices.ContainsFunc(found, func(p string) bool { return strings.Contains(p, test.want) }) {
			t.Errorf("%s: found %q, want one with %q", test.name, found, test.want)
		}
	}
}

// A restart makes records void: steps run again, once.
func TestARestartIsNoProblem(t *testing.T) {
	ev := sound()
	h := ev.histories["x"]
	last := h.Attempts[1]
	last.Number, last.Kind = 3, restaq.Restarted
	last.StartedAt, last.EndedAt = last.EndedAt, last.EndedAt.Add(time.Minute)
	h.Attempts = append(h.Attempts, last)
	h.Execution.Attempts = 3
	for i, step := range stepNames {
		ev.ledger = append(ev.ledger, entry{What: began, Execution: "x", Attempt: 3, Step: step},
			entry{What: returned, Execution: "x", Attempt: 3, Step: step, Value: "again"})
		h.Steps = append(h.Steps, restaq.StepRow{Attempt: 3, Seq: i + 1, Name: step, Status: restaq.StepCompleted, Output: []byte(`"again"`)})
	}
	ev.booked["x"] = append(ev.booked["x"], "again")
	ev.restarted = map[string]bool{"x": true}
	ev.ledger = append(ev.ledger, entry{What: recorded, Execution: "x", Attempt: 3, Step: "charge", Value: "again"})
	if found := ev.problems(); len(found) > 0 {
		t.Errorf("problems where there are none: %q", found)
	}
}
