package restaq

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// History is everything that is known of an execution.
type History struct {
	Execution

	// Header and Payload are the event's. Payload is nil if it was not kept.
	Header  map[string][]string `json:"header,omitempty"`
	Payload []byte              `json:"-"`

	// Sealed says why the payload, or something of an attempt, cannot be shown:
	// its key is not in Config.Keyring, say. "" if all can.
	Sealed string `json:"sealed,omitempty"`

	// Tries are the attempts, by number; the last one may be under way.
	Tries []AttemptRecord `json:"tries"`
}

// AttemptRecord is one attempt of an execution.
type AttemptRecord struct {
	Number    int            `json:"number"`
	Kind      string         `json:"kind"` // automatic, retry, restart
	Outcome   AttemptOutcome `json:"outcome,omitempty"`
	Error     string         `json:"error,omitempty"`
	Stack     string         `json:"stack,omitempty"`
	Step      string         `json:"step,omitempty"` // whose failure ended it
	StartedAt time.Time      `json:"startedAt,omitzero"`
	EndedAt   time.Time      `json:"endedAt,omitzero"`
	Steps     []StepRecord   `json:"steps"`

	// Unused are records of earlier attempts that the attempt, which
	// completed, did not ask for: a step was renamed or removed, perhaps.
	Unused []string `json:"unused,omitempty"`
}

// StepRecord is one call of a step.
type StepRecord struct {
	Name   string     `json:"name"` // record name
	Func   string     `json:"func"`
	Status StepStatus `json:"status"`
	Error  string     `json:"error,omitempty"`
	Stack  string     `json:"stack,omitempty"`

	// Timeout says that the step's own deadline had passed.
	Timeout bool `json:"timeout,omitempty"`

	// Output is the recorded output, as JSON; nil if there is none.
	Output json.RawMessage `json:"output,omitempty"`

	// Shape is the fingerprint of the output's shape, and Inputs that of the
	// inputs, in hexadecimal.
	Shape  string `json:"shape,omitempty"`
	Inputs string `json:"inputs,omitempty"`

	// InputChanged says that the record that was returned had been made from
	// other inputs.
	InputChanged bool `json:"inputChanged,omitempty"`

	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
}

// MarshalJSON encodes the history, with the payload as JSON under "payload"
// or, if it is no JSON, in base64 under "payloadBase64".
func (h *History) MarshalJSON() ([]byte, error) {
	type plain History
	out := struct {
		*plain
		Payload json.RawMessage `json:"payload,omitempty"`
		Base64  []byte          `json:"payloadBase64,omitempty"`
	}{plain: (*plain)(h)}
	if json.Valid(h.Payload) {
		out.Payload = h.Payload
	} else {
		out.Base64 = h.Payload
	}
	return json.Marshal(out)
}

// Inspect returns an execution with its whole history, or ErrNotFound.
func (rt *Runtime) Inspect(ctx context.Context, id string) (*History, error) {
	if checkIdentifier(id) != nil {
		return nil, fmt.Errorf("inspect execution %q: %w", id, ErrNotFound)
	}
	stored, err := rt.store.History(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("inspect execution %s: %w", id, err)
	}
	return newHistory(stored), nil
}

func newHistory(s *StoredExecution) *History {
	h := &History{Execution: s.Execution, Header: s.Event.Header, Payload: s.Event.Payload}
	if s.Event.sealed != nil {
		h.Header, h.Payload = nil, nil
	}
	h.note(cmp.Or(s.Event.sealed, s.sealed))
	for _, a := range s.Attempts {
		d := decodeDetail[attemptDetail](a.Detail)
		h.Tries = append(h.Tries, AttemptRecord{
			Number: a.Number, Kind: a.Kind.String(), Outcome: a.Outcome, Error: a.Error, Stack: d.Stack, Step: a.Step,
			StartedAt: a.StartedAt, EndedAt: a.EndedAt, Steps: []StepRecord{}, Unused: d.Unused,
		})
	}
	if s.Execution.Status == Running {
		h.Tries = append(h.Tries, AttemptRecord{Number: s.Execution.Attempts, Kind: s.Kind.String(), StartedAt: s.StartedAt, Steps: []StepRecord{}})
	}
	i := 0
	for _, row := range s.Steps {
		h.note(row.sealed)
		for i < len(h.Tries) && h.Tries[i].Number < row.Attempt {
			i++
		}
		if i < len(h.Tries) && h.Tries[i].Number == row.Attempt {
			h.Tries[i].Steps = append(h.Tries[i].Steps, newStepRecord(&row))
		}
	}
	return h
}

// note notes that something cannot be shown.
func (h *History) note(err error) {
	if err != nil && h.Sealed == "" {
		h.Sealed = err.Error()
	}
}

func newStepRecord(row *StepRow) StepRecord {
	d := decodeDetail[stepDetail](row.Detail)
	r := StepRecord{
		Name: row.Name, Func: row.Func, Status: row.Status, Error: row.Error, Stack: d.Stack, Timeout: d.Timeout,
		Shape: row.Shape, InputChanged: d.InputChanged, StartedAt: row.StartedAt, EndedAt: row.EndedAt,
	}
	if len(row.Inputs) > 0 {
		r.Inputs = fmt.Sprintf("%x", row.Inputs)
	}
	if json.Valid(row.Output) {
		r.Output = row.Output
	}
	return r
}

// String returns "automatic", "retry" or "restart".
func (k AttemptKind) String() string {
	switch k {
	case Automatic:
		return "automatic"
	case Retried:
		return "retry"
	case Restarted:
		return "restart"
	}
	return fmt.Sprintf("AttemptKind(%d)", int8(k))
}

// Tree returns the history as text: a line for the execution, and below it a
// tree of its attempts and their steps. It ends with a line feed.
func (h *History) Tree() string {
	var w strings.Builder
	fmt.Fprintf(&w, "Execution: %s | Status: %s | Attempts: %d\n", h.ID, h.Status, h.Attempts)
	for i := range h.Tries {
		branch, indent := "├─", "│  "
		if i == len(h.Tries)-1 {
			branch, indent = "└─", "   "
		}
		a := &h.Tries[i]
		fmt.Fprintf(&w, "%s Attempt %d%s\n", branch, a.Number, a.label())
		lines := a.lines()
		if a.Outcome == "" && h.Step != "" {
			lines = append(lines, h.Step+": running")
		}
		for j, line := range lines {
			twig := "├─"
			if j == len(lines)-1 {
				twig = "└─"
			}
			fmt.Fprintf(&w, "%s%s %s\n", indent, twig, line)
		}
	}
	return w.String()
}

// label says what was special about an attempt.
func (a *AttemptRecord) label() string {
	var words []string
	if a.Kind == Restarted.String() && a.Number > 1 {
		words = append(words, "restart")
	}
	switch a.Outcome {
	case AttemptInterrupted, AttemptLost, AttemptCancelled, AttemptReleased:
		words = append(words, string(a.Outcome))
	case "":
		words = append(words, "running")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// lines returns a line for each step, and one for a failure outside of them.
func (a *AttemptRecord) lines() []string {
	var lines []string
	blamed := false
	for i := range a.Steps {
		s := &a.Steps[i]
		line := s.Name + ": "
		switch s.Status {
		case StepSkipped:
			line += "(skipped - cached)"
		case StepCompleted:
			line += "completed"
		default:
			line += "failed (" + firstLine(s.Error, 80) + ")"
			blamed = blamed || s.Name == a.Step
		}
		if s.InputChanged {
			line += " [input changed]"
		}
		lines = append(lines, line)
	}
	if a.Outcome == AttemptFailed && !blamed {
		lines = append(lines, "handler: failed ("+firstLine(a.Error, 80)+")")
	}
	return lines
}
