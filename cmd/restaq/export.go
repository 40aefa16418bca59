package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func exportCommand(a *app) *cobra.Command {
	var out string
	var unmasked bool
	cmd := &cobra.Command{
		Use:   "export ID [--out FILE] [--unmasked]",
		Short: "Write an execution with its event to a file that a test can load",
		Long: `Write an execution with its event, its attempts and the recorded outputs of its
steps as JSON. restaqtest.Load reads it, and runs the handler with the recorded
steps in a test: why did it fail, and does it still?

Fields that programs want masked (Config.Redact) are masked, so a handler may
find them strange. --unmasked has them as they are: keep such a file as you keep
the store.`,
		Example: `  restaq export 0192f0c1-58b3-7d3a-9a44-6f1c2b0e7d11 --out testdata/dead.json`,
		Args:    cobra.ExactArgs(1),
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, args []string) error {
			m, err := masksOf(ctx, rt)
			if err != nil {
				return err
			}
			if unmasked {
				m = nil
			}
			h, err := inspect(ctx, rt, m, args[0])
			if err != nil {
				return err
			}
			if h.Sealed != "" {
				return errors.New("it cannot be read as a whole: " + h.Sealed)
			}
			data, err := json.MarshalIndent(h, "", "  ")
			if err != nil {
				return err
			}
			if out == "" {
				a.print(string(data))
				return nil
			}
			return os.WriteFile(out, append(data, '\n'), 0o600)
		}),
	}
	cmd.Flags().StringVar(&out, "out", "", "write to this `file` instead of standard output")
	cmd.Flags().BoolVar(&unmasked, "unmasked", false, "mask nothing")
	return cmd
}
