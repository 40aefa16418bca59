package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func doctorCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [--json]",
		Short: "Look for what is wrong with a store, and say what to do",
		Long: `Look at the connection, the schema, the indexes, what is overdue and what is dead;
on PostgreSQL also at the clock, at settings that promises rest on, at dead rows
and at transactions that keep them, and whether a pooler stands between; on
SQLite at the file's integrity and its log. Nothing is changed. A large SQLite
file is read as a whole, which takes a while.

Prints a line for each: ok, warn (it works, and somebody should look) or fail
(it does not work, or not as promised), and below it what to do. With --json,
prints {"findings": [{"check": …, "level": …, "text": …, "advice": …}]}.

The exit status is 1 if something fails.`,
		Example: `  restaq doctor
  restaq doctor --json | jq -r '.findings[] | select(.level != "ok") | .advice'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := a.examine(cmd)
			if err != nil {
				return err
			}
			return a.findings(found, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// examine returns what there is to say of the store. That it cannot be opened
// or examined is a finding, too.
func (a *app) examine(cmd *cobra.Command) ([]restaq.Finding, error) {
	var found []restaq.Finding
	err := a.verb(func(ctx context.Context, rt *restaq.Runtime, _ []string) (err error) {
		found, err = rt.Examine(ctx)
		return err
	})(cmd, nil)
	var failed failure
	if errors.As(err, &failed) {
		found = append(found, restaq.Finding{Check: "store", Level: restaq.LevelFail, Text: failed.Error(), Advice: adviceOn(failed)})
		err = nil
	}
	return found, err
}

// adviceOn says what to do about a store that cannot be used.
func adviceOn(err error) string {
	if strings.Contains(err.Error(), "restaq migrate") {
		return "run restaq migrate"
	}
	return "see that the store is there and can be reached from here, and that --store (or RESTAQ_STORE) names it"
}

// findings prints them, and fails if one does.
func (a *app) findings(found []restaq.Finding, asJSON bool) error {
	var err error
	for i := range found {
		if found[i].Level == restaq.LevelFail {
			err = failure{errReported}
		}
	}
	if asJSON {
		if err := a.json(map[string][]restaq.Finding{"findings": found}); err != nil {
			return failure{err}
		}
		return err
	}
	colour := map[restaq.Level]string{restaq.LevelOK: "completed", restaq.LevelWarn: "retrying", restaq.LevelFail: "dead"}
	for _, f := range found {
		a.print(fmt.Sprintf("%s  %s: %s", a.paint(colour[f.Level], fmt.Sprintf("%-4s", f.Level)), f.Check, clean(f.Text)))
		if f.Advice != "" {
			a.print("      " + clean(f.Advice))
		}
	}
	return err
}
