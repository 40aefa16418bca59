//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// evidence is all that is known after a scenario.
type evidence struct {
	sent      map[string]bool
	acked     map[string][]string
	found     map[string][]restaq.Execution // event → its original executions
	histories map[string]*restaq.StoredExecution
	ledger    []entry
	booked    map[string][]string // execution → what transactions have booked
	seen      sightings

	cancelled map[string]bool // executions that a person was told are cancelled
	restarted map[string]bool // executions that a person was told will restart
	dead      map[string]bool // executions that use up their attempts

	// allowed are the ways in which an attempt may end here, besides completed
	// and failed.
	allowed []restaq.AttemptOutcome
}

// verify fails the test with what is wrong with the evidence.
func (f *fleet) verify(s *sendings, ev evidence) *evidence {
	f.t.Helper()
	ev.sent, ev.acked, ev.ledger, ev.booked = s.sent, s.acked, f.entries(), f.booked()
	ev.found, ev.histories = make(map[string][]restaq.Execution), make(map[string]*restaq.StoredExecution)
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*patience)
	defer cancel()
	for id := range ev.sent {
		stored, err := f.store.Lookup(ctx, "stripe", id, false)
		if errors.Is(err, restaq.ErrNotFound) {
			continue
		}
		if err != nil {
			f.t.Fatal(err)
		}
		ev.found[id] = stored.Executions
		for _, e := range stored.Executions {
			if ev.histories[e.ID], err = f.store.History(ctx, e.ID); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	found := ev.problems()
	for i, problem := range found {
		if i == 20 {
			f.t.Errorf("… and %d more", len(found)-i)
			break
		}
		f.t.Error(problem)
	}
	return &ev
}

// problems returns what is wrong, in words.
func (ev *evidence) problems() []string {
	var all []string
	bad := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	ev.checkEvents(bad)
	for _, id := range sortedKeys(ev.histories) {
		h := ev.histories[id]
		here := func(format string, args ...any) { bad("execution %s: "+format, append([]any{id}, args...)...) }
		ev.checkEnd(h, here)
		ev.checkAttempts(h, here)
		ev.checkSteps(h, here)
		ev.checkSeen(h, here)
		ev.checkBooked(h, here)
	}
	for _, id := range sortedKeys(ev.booked) {
		if ev.histories[id] == nil {
			bad("execution %s: booked, but there is none", id)
		}
	}
	ev.checkLedger(bad)
	return all
}

type complaint func(format string, args ...any)

// checkEvents: nothing acknowledged is lost, and one event is one execution.
func (ev *evidence) checkEvents(bad complaint) {
	for _, id := range sortedKeys(ev.sent) {
		executions := ev.found[id]
		named, acked := ev.acked[id]
		switch {
		case !acked && len(executions) == 0: // never taken
		case len(executions) != 1:
			bad("event %s: %d executions, want 1", id, len(executions))
		default:
			for _, name := range named {
				if name != executions[0].ID {
					bad("event %s: a receipt named %s, want %s", id, name, executions[0].ID)
				}
			}
		}
	}
}

// checkEnd: every execution has come to an end, the one that was asked for.
func (ev *evidence) checkEnd(h *restaq.StoredExecution, bad complaint) {
	e := &h.Execution
	want := restaq.Completed
	if ev.cancelled[e.ID] {
		want = restaq.Cancelled
	}
	if ev.dead[e.ID] {
		want = restaq.Failed
	}
	if e.Status != want || ev.dead[e.ID] != e.Dead() {
		bad("%s (%s), want %s", e.Status, e.Error, want)
	}
	if ev.restarted[e.ID] && !ev.cancelled[e.ID] &&
		!slices.ContainsFunc(h.Attempts, func(a restaq.AttemptRow) bool { return a.Kind == restaq.Restarted }) {
		bad("no attempt began anew, though a restart was accepted")
	}
}

// slack is by how much one attempt's end may seem to be after the next one's
// beginning, as a take-over writes both in one statement.
const slack = time.Second

// checkAttempts: attempts are numbered, follow each other, and ended in a way
// that something here explains.
func (ev *evidence) checkAttempts(h *restaq.StoredExecution, bad complaint) {
	if len(h.Attempts) != h.Execution.Attempts {
		bad("%d ended attempts, want %d", len(h.Attempts), h.Execution.Attempts)
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		if a.Number != i+1 {
			bad("attempt %d stands in place %d", a.Number, i+1)
		}
		if a.EndedAt.Before(a.StartedAt.Add(-slack)) {
			bad("attempt %d ended before it started", a.Number)
		}
		if i > 0 && a.StartedAt.Before(h.Attempts[i-1].EndedAt.Add(-slack)) {
			bad("attempt %d started before attempt %d ended", a.Number, a.Number-1)
		}
		last := i == len(h.Attempts)-1
		switch {
		case a.Outcome == restaq.AttemptFailed:
		case a.Outcome == restaq.AttemptCompleted:
			if !last && h.Attempts[i+1].Kind != restaq.Restarted {
				bad("attempt %d completed, and another one followed", a.Number)
			}
		case a.Outcome == restaq.AttemptCancelled && last && ev.cancelled[h.Execution.ID]:
		case !slices.Contains(ev.allowed, a.Outcome):
			bad("attempt %d: %s, which nothing here explains", a.Number, a.Outcome)
		}
		if last && h.Execution.Status == restaq.Completed && a.Outcome != restaq.AttemptCompleted {
			bad("completed, but the last attempt is %s", a.Outcome)
		}
	}
}

// checkSteps: a completed step is completed once and skipped from then on, and
// a completed execution has completed all.
func (ev *evidence) checkSteps(h *restaq.StoredExecution, bad complaint) {
	completed := make(map[string]int) // step → attempt
	rows := h.Steps
	for i := range h.Attempts {
		a := &h.Attempts[i]
		if a.Kind == restaq.Restarted {
			clear(completed)
		}
		for len(rows) > 0 && rows[0].Attempt <= a.Number {
			r := &rows[0]
			rows = rows[1:]
			at, done := completed[r.Name]
			switch {
			case r.Attempt < a.Number:
				bad("a step of attempt %d, which there is not", r.Attempt)
			case r.Status == restaq.StepCompleted && done:
				bad("step %s completed in attempt %d and again in attempt %d", r.Name, at, r.Attempt)
			case r.Status == restaq.StepCompleted:
				completed[r.Name] = r.Attempt
			case r.Status == restaq.StepSkipped && !done:
				bad("step %s was skipped in attempt %d without a record", r.Name, r.Attempt)
			case r.Status == restaq.StepFailed && done:
				bad("step %s completed in attempt %d and failed in attempt %d", r.Name, at, r.Attempt)
			}
		}
	}
	for i := range rows {
		bad("step %s of attempt %d, which has not ended", rows[i].Name, rows[i].Attempt)
	}
	if h.Execution.Status == restaq.Completed && len(completed) != len(stepNames) {
		bad("completed with the records of %d steps, want %d", len(completed), len(stepNames))
	}
}

// checkSeen: what was read once stays as it was.
func (ev *evidence) checkSeen(h *restaq.StoredExecution, bad complaint) {
	now := rowsOf(h)
	seen := ev.seen[h.Execution.ID]
	for _, key := range sortedKeys(seen) {
		if now[key] != seen[key] {
			bad("%s was read as %s and is now %q", key, seen[key], now[key])
		}
	}
}

// checkBooked: what a step wrote in its transaction is there exactly if its
// record is.
func (ev *evidence) checkBooked(h *restaq.StoredExecution, bad complaint) {
	var want []string
	for i := range h.Steps {
		if r := &h.Steps[i]; r.Name == booking && r.Status == restaq.StepCompleted {
			want = append(want, value(r))
		}
	}
	got := slices.Clone(ev.booked[h.Execution.ID])
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		bad("booked %q, want what is recorded: %q", got, want)
	}
}

// rowsOf returns a history's rows as text.
func rowsOf(h *restaq.StoredExecution) map[string]string {
	rows := make(map[string]string, len(h.Attempts)+len(h.Steps))
	for i := range h.Attempts {
		rows[fmt.Sprint("attempt ", h.Attempts[i].Number)] = fmt.Sprintf("%+v", h.Attempts[i])
	}
	for i := range h.Steps {
		rows[fmt.Sprint("step ", h.Steps[i].Attempt, ".", h.Steps[i].Seq)] = fmt.Sprintf("%+v", h.Steps[i])
	}
	return rows
}

// checkLedger: the steps ran as the histories say.
func (ev *evidence) checkLedger(bad complaint) {
	type call struct{ execution, step, value string }
	values := make(map[call]bool)
	for i := range ev.ledger {
		e := &ev.ledger[i]
		h := ev.histories[e.Execution]
		if h == nil {
			if e.Execution != "" {
				bad("execution %s: a step ran, but there is none", e.Execution)
			}
			continue
		}
		switch e.What {
		case began:
			if r := recordFor(h, e.Step, e.Attempt, e.Attempt-1); r != nil {
				bad("execution %s: step %s ran again in attempt %d of worker %s; attempt %d had recorded it", e.Execution, e.Step, e.Attempt, e.Worker, r.Attempt)
			}
		case returned:
			values[call{e.Execution, e.Step, e.Value}] = true
		case recorded:
			if r := recordFor(h, e.Step, e.Attempt, e.Attempt); r == nil || value(r) != e.Value {
				bad("execution %s: the wrapper of step %s returned %q in attempt %d, which is not its record", e.Execution, e.Step, e.Value, e.Attempt)
			}
		}
	}
	for _, id := range sortedKeys(ev.histories) {
		for _, r := range ev.histories[id].Steps {
			if r.Status == restaq.StepCompleted && !values[call{id, r.Name, value(&r)}] {
				bad("execution %s: record %s of attempt %d was returned by no step", id, r.Name, r.Attempt)
			}
		}
	}
}

// recordFor returns the record of a step that counts in an attempt, if the
// attempts up to last had made it: restarts make earlier records void.
func recordFor(h *restaq.StoredExecution, step string, attempt, last int) *restaq.StepRow {
	since := 0
	for i := range h.Attempts {
		if a := &h.Attempts[i]; a.Kind == restaq.Restarted && a.Number <= attempt {
			since = a.Number
		}
	}
	for i := range h.Steps {
		r := &h.Steps[i]
		if r.Name == step && r.Status == restaq.StepCompleted && r.Attempt >= since && r.Attempt <= last {
			return r
		}
	}
	return nil
}

// value is the text in a record.
func value(r *restaq.StepRow) string {
	var text string
	if err := json.Unmarshal(r.Output, &text); err != nil {
		return fmt.Sprintf("no text: %q", r.Output)
	}
	return text
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
