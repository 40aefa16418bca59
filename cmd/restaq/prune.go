package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func pruneCommand(a *app) *cobra.Command {
	var age string
	var p restaq.Prune
	cmd := &cobra.Command{
		Use:   "prune --older-than D [--status S]",
		Short: "Delete old finished executions with their histories",
		Long: `Delete executions that finished longer ago than a duration such as 36h or 90d,
with their histories, in small batches; and the payloads of events that have no
execution left. The ids of events are kept: a redelivery stays a duplicate.

Of the statuses completed, cancelled and dead, those given are deleted; by
default all three. Unfinished executions are never deleted.

Prints what was deleted.`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) (err error) {
			if age == "" {
				return errors.New("--older-than is needed")
			}
			if p.OlderThan, err = parseAge(age); err != nil {
				return fmt.Errorf("--older-than %w", err)
			}
			if p.OlderThan < time.Microsecond {
				return fmt.Errorf("--older-than %q: must be positive", age)
			}
			for _, s := range p.Statuses {
				if s != "completed" && s != "cancelled" && s != "dead" {
					return fmt.Errorf("--status %q: want completed, cancelled or dead", s)
				}
			}
			return nil
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, _ []string) error {
			done, err := pruneAll(ctx, rt, p)
			a.print(fmt.Sprintf("deleted %d executions, %d payloads", done.Executions, done.Payloads))
			return err
		}),
	}
	cmd.Flags().StringVar(&age, "older-than", "", "finished longer ago than this `duration`")
	cmd.Flags().StringSliceVar(&p.Statuses, "status", nil, "of these `statuses`")
	return cmd
}

// pruneAll prunes until nothing is left to prune, and returns what it deleted
// even if it fails half-way.
func pruneAll(ctx context.Context, rt *restaq.Runtime, p restaq.Prune) (all restaq.Pruned, err error) {
	for batch := signed(ctx); ; batch = ctx { // one entry in the audit
		done, err := rt.Prune(batch, p)
		if err != nil {
			return all, err
		}
		if done.Executions == 0 {
			return all, nil
		}
		all.Executions += done.Executions
		all.Payloads += done.Payloads
	}
}
