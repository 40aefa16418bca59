package restaq

import (
	"context"
	"fmt"
	"time"
)

// An Examiner looks at its own health. It is an optional ability of a [Store].
type Examiner interface {
	// Examine says of each thing that it looks at how that is. It changes
	// nothing, and may read all of the store.
	Examine(ctx context.Context) ([]Finding, error)
}

// Finding is how one thing of a store is.
type Finding struct {
	Check  string `json:"check"` // what was looked at, in a word or two that stay the same
	Level  Level  `json:"level"`
	Text   string `json:"text"`             // what was found
	Advice string `json:"advice,omitempty"` // what to do; "" if there is nothing
}

// Level says how bad a finding is.
type Level string

// The levels of findings.
const (
	LevelOK   Level = "ok"
	LevelWarn Level = "warn" // it works, and somebody should look
	LevelFail Level = "fail" // it does not work, or not as promised
)

// Examine says how the store and the work in it are, for a person who wonders
// what is wrong: dead executions, handlers whose executions nobody takes, and
// what a store that is an [Examiner] knows of itself. It changes nothing. On a
// large store it may take minutes.
func (rt *Runtime) Examine(ctx context.Context) ([]Finding, error) {
	var found []Finding
	if examiner, ok := rt.raw.(Examiner); ok {
		own, err := examiner.Examine(ctx)
		if err != nil {
			return nil, fmt.Errorf("examine store: %w", err)
		}
		found = own
	}
	for _, look := range []func(context.Context) (Finding, error){rt.examineDead, rt.examineStranded} {
		f, err := look(ctx)
		if err != nil {
			return nil, fmt.Errorf("examine executions: %w", err)
		}
		found = append(found, f)
	}
	return found, nil
}

// mostExamined is where counting ends.
const mostExamined = 10_000

// examineDead counts what waits for a person.
func (rt *Runtime) examineDead(ctx context.Context) (Finding, error) {
	n, err := rt.Count(ctx, Filter{Statuses: []string{"dead"}}, mostExamined+1)
	f := Finding{Check: "dead executions", Level: LevelOK, Text: "none"}
	switch {
	case n > mostExamined:
		f.Text = fmt.Sprintf("more than %d", mostExamined)
	case n > 0:
		f.Text = fmt.Sprint(n)
	}
	if n > 0 {
		f.Level = LevelWarn
		f.Advice = "see restaq list --dead; once the cause is gone, restaq retry --dead"
	}
	return f, err
}

// examineStranded looks for handlers whose executions nobody takes.
func (rt *Runtime) examineStranded(ctx context.Context) (Finding, error) {
	f := Finding{Check: "stranded executions", Level: LevelOK, Text: "none"}
	infos, err := rt.Handlers(ctx)
	if err != nil {
		return f, err
	}
	var names []string
	for _, info := range infos {
		page, err := rt.List(ctx, Filter{
			Handler: info.Name, Statuses: []string{string(Pending)}, Until: rt.cfg.Now().Add(-strandedAfter), Limit: 1,
		})
		if err != nil {
			return f, err
		}
		if len(page.Executions) > 0 {
			names = append(names, info.Name)
		}
	}
	if len(names) > 0 {
		f.Level = LevelWarn
		f.Text = fmt.Sprintf("pending for more than %v, of %q", time.Duration(strandedAfter), names)
		f.Advice = "run a process that has these handlers, or more of them; if a handler is gone, restaq cancel --handler NAME"
	}
	return f, nil
}
