package main

import (
	"context"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func cancelCommand(a *app) *cobra.Command {
	return actionCommand(a, action{
		word:  restaq.ActionCancel,
		short: "End executions for good",
		long: `End executions for good: no attempt begins, and what an attempt under way would
still write is refused. A completed execution cannot be cancelled.`,
		example: `  restaq cancel 0192f0c1-58b3-7d3a-9a44-6f1c2b0e7d11
  restaq cancel --retrying --handler shop.Orders.Paid --until 7d`,
		one: func(ctx context.Context, rt *restaq.Runtime, id string) (restaq.Execution, error) {
			return rt.Cancel(ctx, id)
		},
	})
}
