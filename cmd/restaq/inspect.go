package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func inspectCommand(a *app) *cobra.Command {
	var history, follow, asJSON bool
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "inspect ID [--history] [--follow] [--json]",
		Short: "Show an execution, or its whole history",
		Long: `Show an execution: its event, handler and status, when it is tried next, its
last error. With --history, show its attempts and their steps as a tree.

With --json, print the execution as JSON; with --history too, that and all that
is known of its attempts and steps, the event's payload and the recorded
outputs among it. What programs want masked (Config.Redact) is.

With --follow, print what happens as it happens, a line each, until the
execution is completed, dead or cancelled; with --json too, the execution
whenever it has changed. The exit status is then 0 only if it is completed.`,
		Example: `  restaq inspect 0192f0c1-58b3-7d3a-9a44-6f1c2b0e7d11 --history
  restaq inspect 0192f0c1-58b3-7d3a-9a44-6f1c2b0e7d11 --history --json | jq .payload
  restaq retry "$ID" && restaq inspect "$ID" --follow`,
		Args: cobra.ExactArgs(1),
		PreRunE: func(*cobra.Command, []string) error {
			if every < 10*time.Millisecond {
				return errEvery
			}
			if follow && history {
				return errors.New("--follow prints the history as it happens: --history does not go with it")
			}
			return nil
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, args []string) error {
			m, err := masksOf(ctx, rt)
			if err != nil {
				return err
			}
			if follow {
				return a.follow(ctx, rt, m, args[0], every, asJSON)
			}
			h, err := inspect(ctx, rt, m, args[0])
			switch {
			case err != nil:
				return err
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
	cmd.Flags().BoolVar(&follow, "follow", false, "print what happens until nothing more will")
	cmd.Flags().DurationVar(&every, "every", time.Second, "how often to look, with --follow")
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
