package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

// action is a verb that does something to executions, named by their ids or
// found by a filter.
type action struct {
	word                 restaq.Action
	short, long, example string

	// one does it to one execution.
	one func(ctx context.Context, rt *restaq.Runtime, id string) (restaq.Execution, error)
}

// actionHelp is a part of the help of every action.
const actionHelp = `
Executions are named by their ids, or chosen by flags as those of list: what
%[1]s would do then, --dry-run says. With --all, it is all executions. On a
terminal, %[1]s asks before it begins; elsewhere --yes is needed. Those that it
cannot be done to (cancelled or completed ones, or without payload) are skipped.
So as not to keep new events waiting, it goes on only while few executions of a
handler wait to be begun: --outstanding says how many.

With ids, prints each execution's id and status; else how many were done. Who
asked, as USER@HOST, stands in the store's audit.
`

// actionFlags are the flags of an action.
type actionFlags struct {
	filterFlags
	all, dryRun, yes, asJSON bool
	outstanding              int
}

func actionCommand(a *app, act action) *cobra.Command {
	var f actionFlags
	word := string(act.word)
	cmd := &cobra.Command{
		Use:     word + " ID... | " + word + " FILTER",
		Short:   act.short,
		Long:    act.long + "\n" + fmt.Sprintf(actionHelp, word) + filterHelp,
		Example: act.example,
		PreRunE: func(_ *cobra.Command, args []string) error {
			return f.check(a, word, args)
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, ids []string) error {
			switch {
			case len(ids) == 0:
				return a.many(ctx, rt, act.word, &f)
			case f.dryRun:
				return a.each(ctx, ids, func(ctx context.Context, id string) (restaq.Execution, error) {
					h, err := rt.Inspect(ctx, id)
					if err != nil {
						return restaq.Execution{}, err
					}
					return h.Execution, nil
				})
			}
			return a.each(signed(ctx), ids, func(ctx context.Context, id string) (restaq.Execution, error) {
				return act.one(ctx, rt, id)
			})
		}),
	}
	flags := cmd.Flags()
	f.add(flags)
	flags.BoolVar(&f.all, "all", false, "all executions in the store")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.IntVar(&f.outstanding, "outstanding", 16, "how many executions of a handler may wait to be begun")
	flags.BoolVar(&f.asJSON, "json", false, "print the counts as JSON")
	return cmd
}

// check finds flags that do not go together.
func (f *actionFlags) check(a *app, word string, ids []string) error {
	if err := f.apply(time.Now()); err != nil {
		return err
	}
	chosen := f.restricts() || f.all
	switch {
	case len(ids) > 0 && chosen:
		return errors.New("give ids or flags that choose executions, not both")
	case len(ids) == 0 && !chosen:
		return errors.New("no executions: give their ids, or flags that choose them such as --dead, or --all")
	case f.all && f.restricts():
		return errors.New("--all is all executions: other flags that choose do not go with it")
	case f.outstanding < 1:
		return fmt.Errorf("--outstanding %d: must be positive", f.outstanding)
	case len(ids) == 0 && !f.dryRun && !f.yes && !a.asks:
		return errors.New(word + " of several: there is no terminal to ask on, add --yes (or --dry-run to see what it would do)")
	}
	return nil
}

// sample is how many of many executions are shown.
const sample = 5

// many acts on what the filter finds.
func (a *app) many(ctx context.Context, rt *restaq.Runtime, word restaq.Action, f *actionFlags) error {
	n, err := rt.Count(ctx, f.filter, mostCounted+1)
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.wouldDo(ctx, rt, word, f, n)
	}
	if n == 0 {
		a.note("nothing found")
	}
	if n > 0 && !f.yes {
		if !a.ask(fmt.Sprintf("%s %s executions (%s)?", word, counted(n), clean(f.filter.String()))) {
			return errors.New("nothing was done")
		}
	}
	bar := progress{output: a.output, verb: string(word), total: n, open: n > mostCounted}
	r, err := rt.Bulk(signed(ctx), restaq.Bulk{
		Action: word, Filter: f.filter, Outstanding: f.outstanding,
		Progress: func(r restaq.BulkResult) { bar.at(r.Done + r.Skipped + r.Failed) },
	})
	bar.end()
	for _, failed := range r.Errors {
		a.report(failed)
	}
	if f.asJSON {
		if err := a.json(r); err != nil {
			return err
		}
	} else {
		a.print(fmt.Sprintf("%s: %d done, %d skipped, %d failed", word, r.Done, r.Skipped, r.Failed))
	}
	if err == nil && r.Failed > 0 {
		err = errReported
	}
	return err
}

// wouldDo says what would be done to n executions.
func (a *app) wouldDo(ctx context.Context, rt *restaq.Runtime, word restaq.Action, f *actionFlags, n int) error {
	few := f.filter
	few.Limit = sample
	page, err := rt.List(ctx, few)
	if err != nil {
		return err
	}
	m, err := masksOf(ctx, rt)
	if err == nil {
		err = m.page(ctx, rt, &page)
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		return a.json(struct {
			Count  int                `json:"count"`
			More   bool               `json:"more"`
			Sample []restaq.Execution `json:"sample"`
		}{min(n, mostCounted), n > mostCounted, append([]restaq.Execution{}, page.Executions...)})
	}
	a.print(fmt.Sprintf("would %s %s executions (%s)", word, counted(n), clean(f.filter.String())))
	if n == 0 {
		return nil
	}
	t := executionTable()
	var rows [][]string
	for i := range page.Executions {
		rows = append(rows, executionRow(&page.Executions[i]))
	}
	a.page(t, rows)
	if n > len(rows) {
		a.note("these are the newest %d", len(rows))
	}
	return nil
}
