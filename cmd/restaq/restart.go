package main

import (
	"context"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func restartCommand(a *app) *cobra.Command {
	return actionCommand(a, action{
		word:  restaq.ActionRestart,
		short: "Run executions again from the start, every step of them",
		long: `Ask for the next attempt of executions with every step run again, even those
that completed, and a fresh budget of attempts. An attempt under way ends first.
Completed and dead executions are reopened; a cancelled one cannot be restarted.`,
		example: `  restaq restart 0192f0c1-58b3-7d3a-9a44-6f1c2b0e7d11
  restaq restart --stopped-by schema --handler billing.Billing.ChargeSucceeded --yes`,
		one: func(ctx context.Context, rt *restaq.Runtime, id string) (restaq.Execution, error) {
			return rt.Restart(ctx, id)
		},
	})
}
