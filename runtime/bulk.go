package restaq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Counter counts executions. It is an optional ability of a [Store].
type Counter interface {
	// Count returns how many rows List would return over all pages, and most
	// if there are as many or more. Cursor and Limit are not used.
	Count(ctx context.Context, f Filter, most int) (int, error)
}

// Count returns how many executions, or unhandled events, a filter finds, and
// most if there are as many or more. Its cost grows with most, and with what
// has to be looked at to find so many.
func (rt *Runtime) Count(ctx context.Context, f Filter, most int) (int, error) {
	c, ok := rt.raw.(Counter)
	if !ok {
		return 0, fmt.Errorf("count executions: %w", ErrUnsupported)
	}
	if err := f.normalize(); err != nil {
		return 0, fmt.Errorf("count executions: %w", err)
	}
	if most < 1 {
		return 0, errors.New("count executions: most: must be positive")
	}
	n, err := c.Count(ctx, f, most)
	if err != nil {
		return 0, fmt.Errorf("count executions: %w", err)
	}
	return n, nil
}

// Action is what a person can ask for of an execution.
type Action string

// The actions, by the words of the restaq command.
const (
	ActionRetry   Action = "retry"
	ActionRestart Action = "restart"
	ActionReplay  Action = "replay"
	ActionCancel  Action = "cancel"
)

// Bulk asks for one action on every execution that a filter finds, or on those
// that are named.
type Bulk struct {
	Action Action

	// IDs, if not nil, names the executions, at most 1000. Filter and
	// Outstanding are not used then, and the audit has an entry for each.
	IDs []string

	// Filter chooses the executions. Its Cursor and Limit are not used, and
	// those that are stored after Bulk began are left out.
	Filter Filter

	// Outstanding is how many of them may wait in the store to be begun, for
	// one handler, before Bulk waits as well: what arrives meanwhile waits
	// behind no more than these. Default: 16. After 10 s it goes on all the same
	// with the next page: the handler's processes may be down.
	Outstanding int

	// Progress, if not nil, is called after each page, and at the end. Calls
	// do not overlap.
	Progress func(BulkResult)
}

// BulkResult says how far a Bulk has come.
type BulkResult struct {
	Done    int `json:"done"`    // the action is recorded
	Skipped int `json:"skipped"` // it could not be: cancelled or completed, without payload, or gone
	Failed  int `json:"failed"`

	// Errors are the first 10 errors of those that failed.
	Errors []error `json:"-"`
}

const (
	bulkPage        = 16
	bulkErrors      = 10
	bulkIDs         = 1000
	bulkOutstanding = 16
	bulkPatience    = 10 * time.Second
	firstBulkWait   = 2 * time.Millisecond
	longBulkWait    = 200 * time.Millisecond
)

// Bulk does b.Action for each execution that b.Filter finds, newest first, a
// page at a time. It waits for no attempt: it returns when all wishes are
// recorded, or ctx ends. An error means that not all have been asked for; what
// was done is in the result. Calling it again is safe: retry, restart and
// cancel find what they did before, and replay makes replays again.
func (rt *Runtime) Bulk(ctx context.Context, b Bulk) (BulkResult, error) {
	r, err := rt.bulk(ctx, b)
	if b.Progress != nil {
		b.Progress(r)
	}
	if err != nil {
		return r, fmt.Errorf("%s executions: %w", b.Action, err)
	}
	return r, nil
}

func (rt *Runtime) bulk(ctx context.Context, b Bulk) (r BulkResult, err error) {
	act, err := rt.act(b.Action)
	if err != nil {
		return r, err
	}
	if b.IDs != nil {
		return rt.bulkOf(ctx, &b, act)
	}
	f := b.Filter
	if f.Unhandled {
		return r, errors.New("the filter finds events without executions: there is nothing to do it to")
	}
	setDefault(&b.Outstanding, bulkOutstanding)
	f.Cursor, f.Limit = "", bulkPage
	if err := rt.audit(ctx, string(b.Action), "", f.String()); err != nil {
		return r, err
	}
	ctx = context.WithValue(ctx, personKey{}, nil) // one entry for all
	for {
		page, err := rt.List(ctx, f)
		if err != nil {
			return r, err
		}
		if b.Action != ActionCancel {
			if err := rt.pace(ctx, page.Executions, b.Outstanding); err != nil {
				return r, err
			}
		}
		ids := make([]string, len(page.Executions))
		for i := range page.Executions {
			ids[i] = page.Executions[i].ID
		}
		r.add(rt.each(ctx, ids, act))
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if page.Next == "" {
			return r, nil
		}
		if b.Progress != nil {
			b.Progress(r)
		}
		f.Cursor = page.Next
	}
}

// bulkOf acts on the executions that b names.
func (rt *Runtime) bulkOf(ctx context.Context, b *Bulk, act func(ctx context.Context, id string) error) (r BulkResult, err error) {
	if len(b.IDs) > bulkIDs {
		return r, fmt.Errorf("%d executions are named: at most %d can be", len(b.IDs), bulkIDs)
	}
	for ids := range slices.Chunk(b.IDs, bulkPage) {
		r.add(rt.each(ctx, ids, act))
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if b.Progress != nil {
			b.Progress(r)
		}
	}
	return r, nil
}

// act returns what does an action without waiting for an attempt.
func (rt *Runtime) act(a Action) (func(ctx context.Context, id string) error, error) {
	switch a {
	case ActionRetry:
		return func(ctx context.Context, id string) error {
			_, _, err := rt.askRetry(ctx, id)
			return err
		}, nil
	case ActionRestart:
		return func(ctx context.Context, id string) error {
			_, err := rt.askRestart(ctx, id)
			return err
		}, nil
	case ActionReplay:
		return func(ctx context.Context, id string) error {
			_, err := rt.Replay(ctx, id)
			return err
		}, nil
	case ActionCancel:
		return func(ctx context.Context, id string) error {
			_, err := rt.Cancel(ctx, id)
			return err
		}, nil
	}
	return nil, fmt.Errorf("action %q: want retry, restart, replay or cancel", a)
}

// each acts on executions, all at once: they are no more than a page.
func (rt *Runtime) each(ctx context.Context, ids []string, act func(ctx context.Context, id string) error) (r BulkResult) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			err := act(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			r.note(err)
		})
	}
	all.Wait()
	return r
}

// note counts how an action on one execution went.
func (r *BulkResult) note(err error) {
	switch {
	case err == nil:
		r.Done++
	case errors.Is(err, ErrFinal), errors.Is(err, ErrNotFound), errors.Is(err, ErrNoPayload):
		r.Skipped++
	default:
		r.Failed++
		if len(r.Errors) < bulkErrors {
			r.Errors = append(r.Errors, err)
		}
	}
}

func (r *BulkResult) add(page BulkResult) {
	r.Done += page.Done
	r.Skipped += page.Skipped
	r.Failed += page.Failed
	r.Errors = append(r.Errors, page.Errors[:min(len(page.Errors), bulkErrors-len(r.Errors))]...)
}

// pace waits until of each of the executions' handlers fewer than most
// executions wait to be begun, but not for ever.
func (rt *Runtime) pace(ctx context.Context, executions []Execution, most int) error {
	seen := make(map[string]bool)
	for i := range executions {
		handler := executions[i].Handler
		if seen[handler] {
			continue
		}
		seen[handler] = true
		if err := rt.paceHandler(ctx, handler, most); err != nil {
			return err
		}
	}
	return nil
}

func (rt *Runtime) paceHandler(ctx context.Context, handler string, most int) error {
	f := Filter{Handler: handler, Statuses: []string{string(Pending)}}
	begun, wait := time.Now(), firstBulkWait
	for {
		n, err := rt.Count(ctx, f, most)
		if errors.Is(err, ErrUnsupported) {
			return nil
		}
		if err != nil {
			return err
		}
		if n < most || time.Since(begun) > bulkPatience {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		wait = min(2*wait, longBulkWait)
	}
}
