package main

import (
	"github.com/spf13/cobra"
)

func migrateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store's schema up to date",
		Long: `Make the store if it is not there, and bring its schema up to date. Programs of
the same major version go on working with it, so a deploy may migrate first.

Prints the names of the migrations that it applied.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.open(cmd.Context(), true) // which migrates
			if err != nil {
				return err
			}
			defer store.Close()
			applied, err := store.Migrate(cmd.Context())
			if err != nil {
				return failure{err}
			}
			for _, name := range applied {
				a.print(name)
			}
			if len(applied) == 0 {
				a.note("the schema is up to date")
			}
			return nil
		},
	}
}
