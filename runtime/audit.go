package restaq

import (
	"context"
	"fmt"
	"time"
)

// An Auditor keeps what people asked for, and who. It is an optional ability of
// a [Store]. Entries outlive the executions that they name.
type Auditor interface {
	// AppendAudit appends entries, at the store's time: At is ignored.
	AppendAudit(ctx context.Context, entries []AuditEntry) error

	// Audit returns a page of entries, newest first.
	Audit(ctx context.Context, f AuditFilter) (AuditPage, error)
}

// AuditEntry is something that a person asked for.
type AuditEntry struct {
	At     time.Time `json:"at"`
	Person string    `json:"person"`
	Action string    `json:"action"` // the word of the restaq command: "retry", say

	// Execution is the execution's id, or "" for an action on several.
	Execution string `json:"execution,omitempty"`

	// Detail says more: the filter of an action on several, for example.
	Detail string `json:"detail,omitempty"`
}

// AuditFilter chooses entries. Zero fields do not restrict.
type AuditFilter struct {
	Person, Action, Execution string // exact

	Since, Until time.Time // at or after, before

	// Cursor is the Next of the page before; "" begins.
	Cursor string

	// Limit is the page's size: 0 means 50, at most 1000.
	Limit int
}

// AuditPage is a part of the audit.
type AuditPage struct {
	Entries []AuditEntry `json:"entries"`
	Next    string       `json:"next,omitempty"` // "" if there are no more
}

type personKey struct{}

// WithPerson returns a context under which Retry, Restart, Replay, ReplayEvent,
// Cancel, Prune and Bulk write the person's name and what was asked for to the
// store's audit, before they do it. Without a person nothing is written: it is
// the program itself that asks.
func WithPerson(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, personKey{}, name)
}

// audit notes what the context's person asks for, if there is one.
func (rt *Runtime) audit(ctx context.Context, action, execution, detail string) error {
	person, ok := ctx.Value(personKey{}).(string)
	if !ok {
		return nil
	}
	auditor, ok := rt.raw.(Auditor)
	if !ok {
		return nil
	}
	entry := AuditEntry{Person: storable(person), Action: action, Execution: storable(execution), Detail: storable(detail)}
	if err := auditor.AppendAudit(ctx, []AuditEntry{entry}); err != nil {
		return fmt.Errorf("write audit: %w", err)
	}
	return nil
}

// Audit returns a page of what people asked for, newest first.
func (rt *Runtime) Audit(ctx context.Context, f AuditFilter) (AuditPage, error) {
	auditor, ok := rt.raw.(Auditor)
	switch {
	case !ok:
		return AuditPage{}, fmt.Errorf("read audit: %w", ErrUnsupported)
	case f.Limit < 0 || f.Limit > 1000:
		return AuditPage{}, fmt.Errorf("read audit: limit %d: want 1 to 1000", f.Limit)
	case f.Limit == 0:
		f.Limit = 50
	}
	page, err := auditor.Audit(ctx, f)
	if err != nil {
		return AuditPage{}, fmt.Errorf("read audit: %w", err)
	}
	return page, nil
}
