package main

import (
	"context"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func restartCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "restart ID...",
		Short: "Run executions again from the start, every step of them",
		Long: `Ask for the next attempt of executions with every step run again, even those
that completed, and a fresh budget of attempts. An attempt under way ends first.
Completed and dead executions are reopened; a cancelled one cannot be restarted.

Prints each execution's id and status.`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, ids []string) error {
			return a.each(ctx, ids, rt.Restart)
		}),
	}
}
