// Restaq looks into a store of webhook executions and tells it what to do.
//
// Usage:
//
//	restaq inspect ID [--history] [--follow] [--json]
//	restaq list [FILTER] [--unhandled] [--count] [--json]
//	restaq tail [--handler H] [--type T] [--for D] [--json]
//	restaq stats [--since T] [--until T] [--json]
//	restaq retry|restart|replay|cancel ID...
//	restaq retry|restart|replay|cancel FILTER [--dry-run] [--yes]
//	restaq replay-event SOURCE EVENT_ID
//	restaq audit [--person P] [--action A] [flags]
//	restaq doctor [--json]
//	restaq export ID [--out FILE] [--unmasked]
//	restaq send TYPE --to URL --secret SECRET [--data FILE] [flags]
//	restaq ui [--listen ADDRESS] [--read-only]
//	restaq prune --older-than D [--status S]
//	restaq migrate
//	restaq impact --lock FILE [--dead] [--json]
//	restaq version
//
// "restaq help VERB" says more about each. FILTER is flags that choose
// executions: --dead, --status, --handler, --type, --text, --since and others.
//
// # The store
//
// The flag --store, or else the environment variable RESTAQ_STORE, names the
// store:
//
//	sqlite:PATH            an SQLite file
//	postgres://USER@HOST/DATABASE
//	                       a PostgreSQL database; --schema, or RESTAQ_SCHEMA,
//	                       names its schema if that is not "restaq"
//
// No verb but migrate changes the store's schema. The others refuse to work
// with one that is older than they need.
//
// # Who does the work
//
// Restaq runs no handlers. What retry, restart, replay and replay-event ask
// for is recorded in the store, and picked up by a process that runs the
// handler, within its Config.Poll (1 s unless set).
//
// # Exit status
//
//	0  done
//	1  failed, or there is no such execution or event
//	2  the command line cannot be understood
//
// With several ids, all are tried; the status is 1 if one failed.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	statusOK      = 0
	statusFailure = 1
	statusUsage   = 2
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run runs the verb that args begin with and returns the exit status.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := newOutput(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	root := command(&app{output: out, getenv: os.Getenv})
	root.SetArgs(args)
	root.SetOut(os.Stdout)
	root.SetErr(os.Stderr)

	cmd, err := root.ExecuteContextC(ctx)
	var failed failure
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &failed):
		out.report(failed.error)
		return statusFailure
	default:
		out.report(err)
		out.note("%q says more", strings.Replace(cmd.CommandPath(), "restaq", "restaq help", 1))
		return statusUsage
	}
}

// app is what the verbs share.
type app struct {
	*output
	getenv        func(string) string
	store, schema string // flags
}

// failure is an error of a verb that was understood. All other errors are of
// the command line.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// errReported is the failure of a verb that has said all about it.
var errReported = errors.New("reported")

// command puts the verbs together.
func command(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "restaq",
		Short:         "Look into a store of webhook executions, and tell it what to do",
		Long:          longHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.store, "store", "", "the store: sqlite:PATH or postgres://… (default $RESTAQ_STORE)")
	flags.StringVar(&a.schema, "schema", "", `the schema in a PostgreSQL database (default $RESTAQ_SCHEMA, else "restaq")`)
	root.AddCommand(
		inspectCommand(a), listCommand(a),
		retryCommand(a), restartCommand(a), replayCommand(a), replayEventCommand(a), cancelCommand(a), auditCommand(a), tailCommand(a), statsCommand(a),
		doctorCommand(a), exportCommand(a), sendCommand(a), uiCommand(a), pruneCommand(a), migrateCommand(a), impactCommand(a), versionCommand(a),
	)
	return root
}

const longHelp = `Look into a store of webhook executions, and tell it what to do.

The store is named by --store or by RESTAQ_STORE:

  sqlite:PATH                     an SQLite file
  postgres://USER@HOST/DATABASE   a PostgreSQL database

restaq runs no handlers: what retry, restart and the replays ask for is picked
up by a process that runs the handler.

Results go to standard output, everything else to standard error. The exit
status is 0 if all is done, 1 if something failed or was not found, and 2 if
the command line cannot be understood.`
