package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func replayEventCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "replay-event SOURCE EVENT_ID",
		Short: "Run a stored event's handlers that have not seen it",
		Long: `Make the executions of those handlers that have none for a stored event: a
handler that was added later, or all of them for an event that nobody subscribed
to when it came. The handlers are those that processes on this store have ever
registered.

Prints each new execution's id and status.`,
		Args: cobra.ExactArgs(2),
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, args []string) error {
			executions, err := rt.ReplayEvent(signed(ctx), args[0], args[1])
			if errors.Is(err, restaq.ErrNotFound) {
				return fmt.Errorf("no event %s from %s in this store", args[1], args[0])
			}
			if err != nil {
				return err
			}
			if len(executions) == 0 {
				a.note("no handler that subscribes to event %s from %s is without an execution of it", args[1], args[0])
			}
			for i := range executions {
				a.printLine(&executions[i])
			}
			return nil
		}),
	}
}
