package main

import (
	"context"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func retryCommand(a *app) *cobra.Command {
	return actionCommand(a, action{
		word:  restaq.ActionRetry,
		short: "Try executions again now; completed steps are skipped",
		long: `Ask for the next attempt of executions now, with a fresh budget of attempts.
Completed steps are skipped. An attempt under way is joined. A completed
execution stays as it is; a cancelled one cannot be retried.`,
		example: `  restaq retry 0192f0c1-58b3-7d3a-9a44-6f1c2b0e7d11
  restaq retry --dead --text 'connection reset' --since 24h
  restaq retry --dead --handler shop.Orders.Paid --dry-run
  restaq list --dead --all --json | jq -r '.executions[].id' | xargs restaq retry`,
		one: func(ctx context.Context, rt *restaq.Runtime, id string) (restaq.Execution, error) {
			e, err := rt.Retry(ctx, id)
			if err == nil && e.Status == restaq.Completed {
				a.note("%s is completed: there is nothing to retry (restart runs it again)", id)
			}
			return e, err
		},
	})
}
