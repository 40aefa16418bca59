package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

// listFlags are the flags of list.
type listFlags struct {
	filterFlags
	all, count, asJSON bool
}

func listCommand(a *app) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List executions, newest first",
		Long: `List executions, newest first, a page at a time: --cursor goes on where a page
ended, and --all prints all pages. With --count, print how many there are
instead; counting stops at 10,000 and says "10000+".

With --unhandled, list events instead that no handler has ever worked on.

With --json, each page is a line: {"executions": […], "next": "CURSOR"}, or
{"count": N, "more": BOOL} with --count.
` + filterHelp,
		Example: `  restaq list --dead --since 24h
  restaq list --type 'stripe.charge.*' --text 'connection reset'
  restaq list --handler billing.Billing.ChargeSucceeded --count
  restaq list --all --json | jq -r '.executions[].id'`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			return f.apply(time.Now())
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, _ []string) error {
			if f.count {
				return a.count(ctx, rt, &f)
			}
			return a.list(ctx, rt, &f)
		}),
	}
	flags := cmd.Flags()
	f.add(flags)
	flags.BoolVar(&f.filter.Unhandled, "unhandled", false, "events that no handler has worked on")
	flags.IntVar(&f.filter.Limit, "limit", 50, "rows of a page, up to 1000")
	flags.StringVar(&f.filter.Cursor, "cursor", "", "where the page begins")
	flags.BoolVar(&f.all, "all", false, "all pages")
	flags.BoolVar(&f.count, "count", false, "print how many there are")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// apply puts the flags into the filter, and finds those that do not go together.
func (f *listFlags) apply(now time.Time) error {
	if err := f.filterFlags.apply(now); err != nil {
		return err
	}
	if f.filter.Unhandled && (len(f.filter.Statuses) > 0 || f.filter.Handler != "" || f.filter.StoppedBy != "" || f.filter.Text != "") {
		return errors.New("--unhandled lists events without executions: they have no status, no handler and no error")
	}
	if f.count && (f.all || f.filter.Cursor != "") {
		return errors.New("--count counts all pages: --all and --cursor do not go with it")
	}
	if f.filter.Limit < 1 || f.filter.Limit > 1000 {
		return fmt.Errorf("--limit %d: want 1 to 1000", f.filter.Limit)
	}
	return nil
}

// mostCounted is where counting ends.
const mostCounted = 10_000

// count prints how many there are.
func (a *app) count(ctx context.Context, rt *restaq.Runtime, f *listFlags) error {
	n, err := rt.Count(ctx, f.filter, mostCounted+1)
	if err != nil {
		return err
	}
	if f.asJSON {
		return a.json(struct {
			Count int  `json:"count"`
			More  bool `json:"more"`
		}{min(n, mostCounted), n > mostCounted})
	}
	a.print(counted(n))
	return nil
}

// counted writes a number that was counted up to one more than mostCounted.
func counted(n int) string {
	if n > mostCounted {
		return strconv.Itoa(mostCounted) + "+"
	}
	return strconv.Itoa(n)
}

// list prints a page, or all of them.
func (a *app) list(ctx context.Context, rt *restaq.Runtime, f *listFlags) error {
	t := executionTable()
	row := executionRow
	if f.filter.Unhandled {
		t = &table{header: []string{"SOURCE", "EVENT", "TYPE", "RECEIVED"}, painted: -1, flexible: []int{0, 1, 2}}
		row = eventRow
	}
	m, err := masksOf(ctx, rt)
	if err != nil {
		return err
	}
	for {
		page, err := rt.List(ctx, f.filter)
		if err == nil {
			err = m.page(ctx, rt, &page)
		}
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

// executionTable is a list of executions.
func executionTable() *table {
	return &table{header: []string{"EXECUTION", "STATUS", "TRIES", "CREATED", "HANDLER", "EVENT", "ERROR"}, painted: 1, flexible: []int{4, 5, 6}}
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
