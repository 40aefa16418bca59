package memory

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// History returns an execution with all its rows.
func (s *Store) History(ctx context.Context, id string) (*restaq.StoredExecution, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.executions[id]
	if e == nil {
		return nil, fmt.Errorf("execution %s: %w", id, restaq.ErrNotFound)
	}
	h := &restaq.StoredExecution{Execution: e.out(), Event: e.event.out(true), OrderKey: e.orderKey}
	for _, a := range e.attempts {
		row := a.AttemptRow
		row.Detail = slices.Clone(row.Detail)
		h.Attempts = append(h.Attempts, row)
	}
	for _, row := range e.steps {
		h.Steps = append(h.Steps, cloneStep(row))
	}
	if e.Status == restaq.Running {
		h.Kind, h.StartedAt = e.kind, e.startedAt
	}
	return h, nil
}

// entry is a row of a list with its place in the order of the list.
type entry struct {
	restaq.Execution
	at time.Time
	id string // breaks ties of at
}

// List returns a page of executions, or of unhandled events, newest first.
func (s *Store) List(ctx context.Context, f restaq.Filter) (restaq.Page, error) {
	if err := ctx.Err(); err != nil {
		return restaq.Page{}, fmt.Errorf("list executions: %w", err)
	}
	after, err := parseCursor(f.Cursor)
	if err != nil {
		return restaq.Page{}, fmt.Errorf("list executions: %w", err)
	}
	s.mu.Lock()
	var rows []entry
	if f.Unhandled {
		rows = s.unhandled(&f)
	} else {
		rows = s.matching(&f)
	}
	s.mu.Unlock()

	slices.SortFunc(rows, newestFirst)
	if f.Cursor != "" {
		rows = slices.DeleteFunc(rows, func(r entry) bool { return newestFirst(after, r) >= 0 })
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 50
	}
	limit = min(limit, 1000)
	var page restaq.Page
	for i, r := range rows {
		if i == limit {
			page.Next = rows[i-1].cursor()
			break
		}
		page.Executions = append(page.Executions, r.Execution)
	}
	return page, nil
}

func (s *Store) matching(f *restaq.Filter) []entry {
	var rows []entry
	for _, e := range s.executions {
		if matchStatus(f.Statuses, &e.Execution) && (f.StoppedBy == "" || e.Dead() && f.StoppedBy == e.StoppedBy) &&
			(f.Handler == "" || f.Handler == e.Handler) &&
			(f.Text == "" || e.Status == restaq.Failed && strings.Contains(e.Error, f.Text)) &&
			matchEvent(f, e.event) && matchTime(f, e.CreatedAt) {
			rows = append(rows, entry{e.out(), e.CreatedAt, e.ID})
		}
	}
	return rows
}

func (s *Store) unhandled(f *restaq.Filter) []entry {
	var rows []entry
	for _, ev := range s.events {
		if ev.unhandled && matchEvent(f, ev) && matchTime(f, ev.ReceivedAt) {
			row := restaq.Execution{Event: ev.Ref(), CreatedAt: ev.ReceivedAt}
			// Zeros keep the order of arrival under comparison as text.
			rows = append(rows, entry{row, ev.ReceivedAt, fmt.Sprintf("%020d", ev.arrival)})
		}
	}
	return rows
}

func matchStatus(words []string, e *restaq.Execution) bool {
	if len(words) == 0 {
		return true
	}
	return slices.ContainsFunc(words, func(word string) bool {
		switch word {
		case "dead":
			return e.Dead()
		case "retrying":
			return e.Retrying()
		default:
			return restaq.Status(word) == e.Status
		}
	})
}

func matchEvent(f *restaq.Filter, ev *event) bool {
	prefix, isPattern := strings.CutSuffix(f.EventType, "*")
	switch {
	case f.EventType == "":
	case isPattern && (len(ev.Type) <= len(prefix) || !strings.HasPrefix(ev.Type, prefix)):
		return false
	case !isPattern && f.EventType != ev.Type:
		return false
	}
	return (f.Provider == "" || f.Provider == ev.Provider) && (f.Source == "" || f.Source == ev.Source) &&
		(f.EventID == "" || f.EventID == ev.ID)
}

func matchTime(f *restaq.Filter, at time.Time) bool {
	return (f.Since.IsZero() || !at.Before(f.Since)) && (f.Until.IsZero() || at.Before(f.Until))
}

func newestFirst(a, b entry) int {
	if c := b.at.Compare(a.at); c != 0 {
		return c
	}
	return strings.Compare(b.id, a.id)
}

// A cursor names the last row of its page, so that rows which come or go do
// not move it.
func (e entry) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(e.at.UnixMicro(), 10) + " " + e.id))
}

func parseCursor(cursor string) (entry, error) {
	if cursor == "" {
		return entry{}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return entry{}, restaq.ErrCursor
	}
	at, id, ok := strings.Cut(string(text), " ")
	micros, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return entry{}, restaq.ErrCursor
	}
	return entry{at: time.UnixMicro(micros), id: id}, nil
}
