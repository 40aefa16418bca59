package main

import (
	"context"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func replayCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "replay ID...",
		Short: "Make new executions of the same events",
		Long: `Make a new execution of each execution's stored event, for the same handler.
The old one and its history stay as they are.

Prints each new execution's id and status.`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, ids []string) error {
			return a.each(ctx, ids, rt.Replay)
		}),
	}
}
