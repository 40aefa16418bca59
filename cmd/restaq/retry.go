package main

import (
	"context"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func retryCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "retry ID...",
		Short: "Try executions again now; completed steps are skipped",
		Long: `Ask for the next attempt of executions now, with a fresh budget of attempts.
Completed steps are skipped. An attempt under way is joined. A completed
execution stays as it is; a cancelled one cannot be retried.

Prints each execution's id and status.`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, ids []string) error {
			return a.each(ctx, ids, func(ctx context.Context, id string) (restaq.Execution, error) {
				e, err := rt.Retry(ctx, id)
				if err == nil && e.Status == restaq.Completed {
					a.note("%s is completed: there is nothing to retry (restart runs it again)", id)
				}
				return e, err
			})
		}),
	}
}
