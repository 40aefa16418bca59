package main

import (
	"context"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func replayCommand(a *app) *cobra.Command {
	return actionCommand(a, action{
		word:  restaq.ActionReplay,
		short: "Make new executions of the same events",
		long: `Make a new execution of each execution's stored event, for the same handler.
The old one and its history stay as they are. With ids, the ids printed are those
of the new executions. Doing it twice makes two.`,
		example: `  restaq replay 0192f0c1-58b3-7d3a-9a44-6f1c2b0e7d11
  restaq replay --status completed --type github.push --since 2026-01-31 --dry-run`,
		one: func(ctx context.Context, rt *restaq.Runtime, id string) (restaq.Execution, error) {
			return rt.Replay(ctx, id)
		},
	})
}
