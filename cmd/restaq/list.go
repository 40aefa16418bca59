package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

// listFlags are the flags of list that are no part of a Filter as they stand.
type listFlags struct {
	filter         restaq.Filter
	dead, retrying bool
	since, until   string
	all, asJSON    bool
}

func listCommand(a *app) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List executions, newest first",
		Long: `List executions, newest first, a page at a time: --cursor goes on where a page
ended, and --all prints all pages.

Statuses are pending, running, sleeping, completed, failed and cancelled; of
the failed ones, "retrying" wait for their next attempt and "dead" for a person.
With --stopped-by, list those that are dead for one reason: "schema" is a record
that the build could not read, "changed-input" a record made from other inputs
(Config.StrictInputs), "permanent" an error that the handler or a step made
permanent, and "attempts" that all attempts were used up.
With --unhandled, list events instead that no handler has ever worked on.

Times are RFC 3339 (2026-01-31T09:30:00Z, or 2026-01-31 for its beginning in
UTC), or how long ago, such as 90m, 36h or 7d.

With --json, each page is a line: {"executions": […], "next": "CURSOR"}.`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			return f.apply(time.Now())
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, _ []string) error { return a.list(ctx, rt, &f) }),
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.filter.Statuses, "status", nil, "of these `statuses`")
	flags.BoolVar(&f.dead, "dead", false, "failed for good: they wait for a person")
	flags.BoolVar(&f.retrying, "retrying", false, "failed, and wait for their next attempt")
	flags.StringVar((*string)(&f.filter.StoppedBy), "stopped-by", "", "dead for this `reason`: schema, key, changed-input, permanent or attempts")
	flags.BoolVar(&f.filter.Unhandled, "unhandled", false, "events that no handler has worked on")
	flags.StringVar(&f.filter.Handler, "handler", "", "of this handler `name`")
	flags.StringVar(&f.filter.EventType, "type", "", "of this event `type`; its last segment may be *")
	flags.StringVar(&f.filter.Provider, "provider", "", "of this provider's events")
	flags.StringVar(&f.filter.Source, "source", "", "of this source's events")
	flags.StringVar(&f.filter.EventID, "event", "", "of the event with this `id`")
	flags.StringVar(&f.since, "since", "", "created at this `time` or later")
	flags.StringVar(&f.until, "until", "", "created before this `time`")
	flags.IntVar(&f.filter.Limit, "limit", 50, "rows of a page, up to 1000")
	flags.StringVar(&f.filter.Cursor, "cursor", "", "where the page begins")
	flags.BoolVar(&f.all, "all", false, "all pages")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// apply puts the flags into the filter. now is what "ago" counts from.
func (f *listFlags) apply(now time.Time) (err error) {
	if f.dead {
		f.filter.Statuses = append(f.filter.Statuses, "dead")
	}
	if f.retrying {
		f.filter.Statuses = append(f.filter.Statuses, "retrying")
	}
	for _, s := range f.filter.Statuses {
		switch s {
		case "pending", "running", "sleeping", "completed", "failed", "cancelled", "dead", "retrying":
		default:
			return fmt.Errorf("--status %q: there is no such status", s)
		}
	}
	switch f.filter.StoppedBy {
	case "", restaq.StoppedByAttempts, restaq.StoppedByPermanent, restaq.StoppedBySchema, restaq.StoppedByKey, restaq.StoppedByChangedInput:
	default:
		return fmt.Errorf("--stopped-by %q: want schema, key, changed-input, permanent or attempts", f.filter.StoppedBy)
	}
	if f.filter.Unhandled && (len(f.filter.Statuses) > 0 || f.filter.Handler != "" || f.filter.StoppedBy != "") {
		return errors.New("--unhandled lists events without executions: they have no status and no handler")
	}
	if f.filter.Limit < 1 || f.filter.Limit > 1000 {
		return fmt.Errorf("--limit %d: want 1 to 1000", f.filter.Limit)
	}
	if f.filter.Since, err = parseTime(f.since, now); err != nil {
		return fmt.Errorf("--since %w", err)
	}
	if f.filter.Until, err = parseTime(f.until, now); err != nil {
		return fmt.Errorf("--until %w", err)
	}
	return nil
}

// list prints a page, or all of them.
func (a *app) list(ctx context.Context, rt *restaq.Runtime, f *listFlags) error {
	t := &table{header: []string{"EXECUTION", "STATUS", "TRIES", "CREATED", "HANDLER", "EVENT", "ERROR"}, painted: 1}
	row := executionRow
	if f.filter.Unhandled {
		t = &table{header: []string{"SOURCE", "EVENT", "TYPE", "RECEIVED"}, painted: -1}
		row = eventRow
	}
	for {
		page, err := rt.List(ctx, f.filter)
		if err != nil {
			return err
		}
		switch {
		case f.asJSON:
			if page.Executions == nil {
				page.Executions = []restaq.Execution{}
			}
			if err := a.json(page); err != nil {
				return err
			}
		case len(page.Executions) == 0 && t.widths == nil:
			a.note("nothing found")
		default:
			var rows [][]string
			for i := range page.Executions {
				rows = append(rows, row(&page.Executions[i]))
			}
			a.page(t, rows)
		}
		if page.Next == "" {
			return nil
		}
		if !f.all {
			if !f.asJSON {
				a.note("there are more: add --cursor %s, or --all", page.Next)
			}
			return nil
		}
		f.filter.Cursor = page.Next
	}
}

// executionRow is a row of a list of executions.
func executionRow(e *restaq.Execution) []string {
	problem := ""
	if e.Status == restaq.Failed {
		problem = firstLine(e.Error, 60)
	}
	return []string{
		e.ID, word(e), strconv.Itoa(e.Attempts), stamp(e.CreatedAt), clean(e.Handler), clean(e.Event.Type + " " + e.Event.ID), problem,
	}
}

// eventRow is a row of a list of unhandled events.
func eventRow(e *restaq.Execution) []string {
	return []string{clean(e.Event.Source), clean(e.Event.ID), clean(e.Event.Type), stamp(e.Event.ReceivedAt)}
}

// parseTime reads a time, a date, or a duration before now. "" is no time.
func parseTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	d, err := parseAge(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q: want a time such as 2026-01-31T09:30:00Z, or how long ago, such as 36h or 7d", text)
	}
	return now.Add(-d), nil
}

// parseAge reads a duration as time.ParseDuration does, or a number of days.
func parseAge(text string) (time.Duration, error) {
	var d time.Duration
	var err error
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		if err == nil && !(n >= 0 && n < 100*365) {
			err = errors.New("out of range")
		}
		d = time.Duration(n * float64(24*time.Hour))
	} else {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q: want a duration such as 90m, 36h or 30d", text)
	}
	return d, nil
}
