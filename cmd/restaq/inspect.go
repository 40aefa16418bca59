package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func inspectCommand(a *app) *cobra.Command {
	var history, asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect ID [--history] [--json]",
		Short: "Show an execution, or its whole history",
		Long: `Show an execution: its event, handler and status, when it is tried next, its
last error. With --history, show its attempts and their steps as a tree.

With --json, print the execution as JSON; with --history too, that and all that
is known of its attempts and steps, the event's payload and the recorded
outputs among it.`,
		Args: cobra.ExactArgs(1),
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, args []string) error {
			h, err := rt.Inspect(ctx, args[0])
			switch {
			case err != nil:
				return explain(args[0], err)
			case asJSON && history:
				return a.json(h)
			case asJSON:
				return a.json(&h.Execution)
			case history:
				a.tree(h)
			default:
				a.summary(&h.Execution)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&history, "history", false, "show attempts and steps")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// tree prints an execution's history; on a terminal, its status in colour.
func (a *app) tree(h *restaq.History) {
	text := h.Tree()
	status := "Status: " + string(h.Status)
	text = strings.Replace(text, status, "Status: "+a.paint(word(&h.Execution), string(h.Status)), 1)
	fmt.Fprint(a.stdout, text)
}

// summary prints an execution, a fact a line.
func (a *app) summary(e *restaq.Execution) {
	status := string(e.Status)
	switch {
	case e.Dead():
		status += " (dead: it waits for a person)"
	case e.Retrying():
		status += " (retrying)"
	}
	next := ""
	if e.Retrying() {
		next = stamp(e.RetryAt)
		if in := time.Until(e.RetryAt).Round(time.Second); in > 0 {
			next += " (in " + in.String() + ")"
		}
	}
	event := e.Event.Type + " " + e.Event.ID
	if e.Event.Source != e.Event.Provider {
		event += " from " + e.Event.Source
	}
	lines := strings.Split(strings.TrimRight(e.Error, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = clean(strings.TrimRight(line, "\r"))
	}
	for _, fact := range []struct{ name, value string }{
		{"Execution", e.ID},
		{"Event", clean(event)},
		{"Handler", clean(e.Handler)},
		{"Status", a.paint(word(e), status)},
		{"Attempts", fmt.Sprint(e.Attempts)},
		{"Created", stamp(e.CreatedAt)},
		{"Finished", stamp(e.FinishedAt)},
		{"Next try", next},
		{"Replay of", e.ReplayOf},
		{"Step", clean(e.Step)},
		{"Last error", strings.Join(lines, "\n            ")},
	} {
		if fact.value != "" {
			a.print(fmt.Sprintf("%-12s%s", fact.name+":", fact.value))
		}
	}
}
