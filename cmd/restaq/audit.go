package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func auditCommand(a *app) *cobra.Command {
	var f restaq.AuditFilter
	var since, until string
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "audit [flags]",
		Short: "List what people asked for, newest first",
		Long: `List what people asked for with the command and the web page, newest first: when,
who, what, of which execution or of which ones. Entries outlive the executions
that they name.

Times are RFC 3339, or how long ago, such as 36h or 7d.

With --json, each page is a line: {"entries": […], "next": "CURSOR"}.`,
		Example: `  restaq audit --since 24h
  restaq audit --execution 0192f0c1-58b3-7d3a-9a44-6f1c2b0e7d11
  restaq audit --person ada@ops-1 --action cancel`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) (err error) {
			now := time.Now()
			if f.Since, err = parseTime(since, now); err != nil {
				return fmt.Errorf("--since %w", err)
			}
			if f.Until, err = parseTime(until, now); err != nil {
				return fmt.Errorf("--until %w", err)
			}
			if f.Limit < 1 || f.Limit > 1000 {
				return fmt.Errorf("--limit %d: want 1 to 1000", f.Limit)
			}
			return nil
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, _ []string) error {
			return a.audit(ctx, rt, f, all, asJSON)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Person, "person", "", "asked for by this `person`: USER@HOST for the command")
	flags.StringVar(&f.Action, "action", "", "of this `action`: retry, restart, replay, replay-event, cancel, prune, …")
	flags.StringVar(&f.Execution, "execution", "", "of the execution with this `id`")
	flags.StringVar(&since, "since", "", "asked for at this `time` or later")
	flags.StringVar(&until, "until", "", "asked for before this `time`")
	flags.IntVar(&f.Limit, "limit", 50, "rows of a page, up to 1000")
	flags.StringVar(&f.Cursor, "cursor", "", "where the page begins")
	flags.BoolVar(&all, "all", false, "all pages")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// audit prints a page, or all of them.
func (a *app) audit(ctx context.Context, rt *restaq.Runtime, f restaq.AuditFilter, all, asJSON bool) error {
	t := &table{header: []string{"AT", "PERSON", "ACTION", "EXECUTION", "DETAIL"}, painted: -1, flexible: []int{1, 4}}
	for {
		page, err := rt.Audit(ctx, f)
		if err != nil {
			return err
		}
		switch {
		case asJSON:
			if page.Entries == nil {
				page.Entries = []restaq.AuditEntry{}
			}
			if err := a.json(page); err != nil {
				return err
			}
		case len(page.Entries) == 0 && t.widths == nil:
			a.note("nothing found")
		default:
			var rows [][]string
			for i := range page.Entries {
				e := &page.Entries[i]
				rows = append(rows, []string{stamp(e.At), clean(e.Person), clean(e.Action), clean(e.Execution), clean(e.Detail)})
			}
			a.page(t, rows)
		}
		if page.Next == "" {
			return nil
		}
		if !all {
			if !asJSON {
				a.note("there are more: add --cursor %s, or --all", page.Next)
			}
			return nil
		}
		f.Cursor = page.Next
	}
}
