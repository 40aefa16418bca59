package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func tailCommand(a *app) *cobra.Command {
	var f restaq.Filter
	var every, length time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tail [flags]",
		Short: "Print deliveries and outcomes as they happen",
		Long: `Print what happens from now on, a line each: "received" for each execution that a
delivery or a replay makes, "unhandled" for an event that no handler subscribes
to, and the execution's status when an attempt has ended: completed, retrying,
dead or cancelled. It ends when it is interrupted, or after --for.

It looks at the store every second, or as --every says. Of an execution that
begins and ends more than once between two looks the last status is printed.

With --json, each line is {"at": TIME, "what": WORD, "execution": {…}}.`,
		Example: `  restaq tail
  restaq tail --handler billing.Billing.ChargeSucceeded --json
  restaq tail --type 'github.*' --for 10m | grep -w dead`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if every < 10*time.Millisecond {
				return errEvery
			}
			if length < 0 {
				return errors.New("--for: must not be negative")
			}
			return nil
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, _ []string) error {
			if length > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, length)
				defer cancel()
			}
			m, err := masksOf(ctx, rt)
			if err != nil {
				return err
			}
			t := tail{output: a.output, rt: rt, masks: m, filter: f, asJSON: asJSON, seen: make(map[string]time.Time), waiting: make(map[string]restaq.Execution)}
			err = t.run(ctx, every)
			if ctx.Err() != nil {
				return nil
			}
			return err
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Handler, "handler", "", "of this handler `name`")
	flags.StringVar(&f.EventType, "type", "", "of this event `type`; its last segment may be *")
	flags.StringVar(&f.Provider, "provider", "", "of this provider's events")
	flags.StringVar(&f.Source, "source", "", "of this source's events")
	flags.DurationVar(&every, "every", time.Second, "how often to look")
	flags.DurationVar(&length, "for", 0, "how long; 0 is until interrupted")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// tail looks at the store again and again and prints what is new: what was
// created since the look before, and the outcomes of what waits for one.
type tail struct {
	*output
	rt     *restaq.Runtime
	masks  masks
	filter restaq.Filter
	asJSON bool

	newest  time.Time                   // when the newest that was seen was created, by the store's clock
	seen    map[string]time.Time        // executions and events created not long before newest
	waiting map[string]restaq.Execution // of which more is to come, as they were seen last
}

// overlap is how far a look goes back before the newest: a commit shows what
// was created when its transaction began.
const overlap = 15 * time.Second

// news is a line.
type news struct {
	At        time.Time         `json:"at"`
	What      string            `json:"what"`
	Execution *restaq.Execution `json:"execution"`
}

// run prints until ctx ends.
func (t *tail) run(ctx context.Context, every time.Duration) error {
	for _, unhandled := range []bool{false, true} {
		f := t.filter
		f.Unhandled, f.Limit = unhandled, 1
		page, err := t.rt.List(ctx, f)
		if err != nil {
			return err
		}
		for i := range page.Executions {
			t.see(page.Executions[i].CreatedAt)
		}
	}
	if _, err := t.look(ctx); err != nil { // what was there before is no news
		return err
	}
	t.note("watching")
	for sleep(ctx, every) {
		found, err := t.look(ctx)
		if err != nil {
			return err
		}
		slices.SortStableFunc(found, func(a, b news) int { return a.At.Compare(b.At) })
		for i := range found {
			if err := t.show(ctx, &found[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// see notes when something was created.
func (t *tail) see(created time.Time) {
	if created.After(t.newest) {
		t.newest = created
	}
}

// look returns what is new.
func (t *tail) look(ctx context.Context) (found []news, err error) {
	fresh, err := t.created(ctx, false)
	if err != nil {
		return nil, err
	}
	for i := range fresh {
		e := &fresh[i]
		found = append(found, news{e.CreatedAt, "received", e})
		if e.Final() || e.Retrying() {
			found = append(found, outcome(e))
		}
		if !e.Final() {
			t.waiting[e.ID] = *e
		}
	}
	if t.filter.Handler == "" {
		events, err := t.created(ctx, true)
		if err != nil {
			return nil, err
		}
		for i := range events {
			found = append(found, news{events[i].CreatedAt, "unhandled", &events[i]})
		}
	}
	for key, created := range t.seen {
		if created.Before(t.newest.Add(-2 * overlap)) {
			delete(t.seen, key)
		}
	}
	outcomes, err := t.outcomes(ctx)
	return append(found, outcomes...), err
}

// created returns the executions, or the unhandled events, that no look has
// seen.
func (t *tail) created(ctx context.Context, unhandled bool) (fresh []restaq.Execution, err error) {
	f := t.filter
	f.Unhandled, f.Limit = unhandled, 500
	if !t.newest.IsZero() {
		f.Since = t.newest.Add(-overlap)
	}
	for {
		page, err := t.rt.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range page.Executions {
			e := &page.Executions[i]
			key := cmp.Or(e.ID, e.Event.Source+"\x00"+e.Event.ID)
			if _, old := t.seen[key]; !old {
				t.seen[key] = e.CreatedAt
				fresh = append(fresh, *e)
			}
		}
		if page.Next == "" {
			break
		}
		f.Cursor = page.Next
	}
	for i := range fresh {
		t.see(fresh[i].CreatedAt)
	}
	return fresh, nil
}

// outcomes returns what became of the executions that wait for something.
func (t *tail) outcomes(ctx context.Context) (found []news, err error) {
	f := t.filter
	f.Statuses = []string{string(restaq.Pending), string(restaq.Running), string(restaq.Sleeping), "retrying"}
	f.Limit = 1000
	page, err := t.rt.List(ctx, f)
	if err != nil {
		return nil, err
	}
	gone := maps.Clone(t.waiting)
	for i := range page.Executions {
		e := &page.Executions[i]
		before, known := t.waiting[e.ID]
		if known && e.Retrying() && !(before.Retrying() && before.Attempts == e.Attempts) {
			found = append(found, outcome(e))
		}
		t.waiting[e.ID] = *e
		delete(gone, e.ID)
	}
	for id := range gone {
		h, err := t.rt.Inspect(ctx, id)
		if err == nil && !h.Final() {
			continue // more than a page waits
		}
		delete(t.waiting, id)
		switch {
		case err == nil:
			found = append(found, outcome(&h.Execution))
		case !errors.Is(err, restaq.ErrNotFound):
			return nil, err
		}
	}
	return found, nil
}

// outcome is news of how an attempt ended. When a failed attempt ended that
// another one follows, the execution does not say: it is seen now.
func outcome(e *restaq.Execution) news {
	at := e.FinishedAt
	if at.IsZero() {
		at = time.Now().UTC().Truncate(time.Microsecond)
	}
	return news{at, word(e), e}
}

// show prints a line.
func (t *tail) show(ctx context.Context, n *news) error {
	e := n.Execution
	if err := t.masks.errors(ctx, t.rt, e); err != nil {
		return err
	}
	if t.asJSON {
		return t.json(n)
	}
	line := fmt.Sprintf("%s  %s  ", stamp(n.At), t.paint(n.What, fmt.Sprintf("%-9s", n.What)))
	event := clean(e.Event.Type + " " + e.Event.ID)
	if n.What == "unhandled" {
		t.print(line + event)
		return nil
	}
	line += e.ID + "  " + clean(e.Handler) + "  " + event
	if e.Status == restaq.Failed && n.What != "received" {
		line += "  " + firstLine(e.Error, 60)
	}
	t.print(line)
	return nil
}
