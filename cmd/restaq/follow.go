package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// follower prints what is new of an execution, a line each: when an attempt
// begins, when a call of a step has ended, how an attempt and the execution
// ended.
type follower struct {
	*output
	printed map[string]bool
}

// follow prints what happens to an execution until nothing more will, or ctx
// ends. With asJSON, it prints the execution whenever it has changed.
func (a *app) follow(ctx context.Context, rt *restaq.Runtime, m masks, id string, every time.Duration, asJSON bool) error {
	f := follower{output: a.output, printed: make(map[string]bool)}
	var last restaq.Execution
	for {
		h, err := inspect(ctx, rt, m, id)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case !asJSON:
			f.show(h)
		case h.Execution != last:
			if err := a.json(&h.Execution); err != nil {
				return err
			}
			last = h.Execution
		}
		if h.Final() {
			if h.Status != restaq.Completed {
				return errReported
			}
			return nil
		}
		if !sleep(ctx, every) {
			return nil
		}
	}
}

// sleep waits, and reports whether ctx is still there.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// show prints what is new.
func (f *follower) show(h *restaq.History) {
	f.once("created", h.CreatedAt, fmt.Sprintf("%s for %s", clean(h.Event.Type+" "+h.Event.ID), clean(h.Handler)))
	for i := range h.Tries {
		t := &h.Tries[i]
		who := fmt.Sprintf("attempt %d", t.Number)
		kind := ""
		if t.Kind != restaq.Automatic.String() {
			kind = " (" + t.Kind + ")"
		}
		f.once(who, t.StartedAt, who+kind)
		for j := range t.Steps {
			s := &t.Steps[j]
			f.once(fmt.Sprint(who, s.Name, s.StartedAt.UnixNano()), s.EndedAt, "  "+stepLine(s))
		}
		if t.Outcome != "" {
			line := who + " " + string(t.Outcome)
			if t.Outcome == restaq.AttemptFailed {
				line += ": " + firstLine(t.Error, 80)
			}
			f.once(who+" ended", t.EndedAt, line)
		}
	}
	e := &h.Execution
	switch {
	case e.Final():
		f.once(fmt.Sprint("final", e.Attempts), e.FinishedAt, f.paint(word(e), word(e)))
	case e.Retrying():
		f.once(fmt.Sprint("retrying", e.Attempts), time.Time{}, f.paint("retrying", "retrying")+" at "+stamp(e.RetryAt))
	}
}

// once prints a line unless it has done so. A line without a time is
// indented as if it had one.
func (f *follower) once(key string, at time.Time, line string) {
	if f.printed[key] {
		return
	}
	f.printed[key] = true
	f.print(fmt.Sprintf("%-20s  %s", stamp(at), line))
}

// stepLine says how a call of a step went.
func stepLine(s *restaq.StepRecord) string {
	line := clean(s.Name) + ": "
	switch s.Status {
	case restaq.StepSkipped:
		return line + "skipped, cached"
	case restaq.StepCompleted:
		line += "completed"
	default:
		line += "failed (" + firstLine(s.Error, 80) + ")"
	}
	return line + " in " + brief(s.EndedAt.Sub(s.StartedAt))
}

// brief writes a duration in about three digits.
func brief(d time.Duration) string {
	unit := time.Microsecond
	for unit*1000 <= d && unit < time.Second {
		unit *= 1000
	}
	if d >= 10*unit {
		return d.Round(unit).String()
	}
	return d.Round(unit / 10).String()
}

// errEvery is an error of the flag --every.
var errEvery = errors.New("--every: want at least 10ms")
