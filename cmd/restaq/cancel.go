package main

import (
	"context"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func cancelCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID...",
		Short: "End executions for good",
		Long: `End executions for good: no attempt begins, and what an attempt under way would
still write is refused. A completed execution cannot be cancelled.

Prints each execution's id and status.`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, ids []string) error {
			return a.each(ctx, ids, rt.Cancel)
		}),
	}
}
