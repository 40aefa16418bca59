// Bench measures what the design promises about speed and prints a row for each
// promise:
//
//	make bench
//
// The rows of the generator compare times of whole commands, warm, run in turn
// so that a busy moment of the machine falls on all of them; the ratio is the
// median of each round's ratio.
// The rows of the runtime count executions of one workflow on each store.
//
// Results go to standard output, complaints to standard error. The exit code is
// 1 if a measurement failed; a slow result is a row, not a failure, for it may
// be the machine's.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"text/tabwriter"
)

func main() {
	runs := flag.Int("runs", 21, "how often each command of the generator's rows runs")
	executions := flag.Int("executions", 2000, "how many executions each store works off in the runtime's rows")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := bench(ctx, *runs, *executions)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, runs, executions int) error {
	rows := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if err := generatorRows(ctx, rows, runs); err != nil {
		return err
	}
	if err := rows.Flush(); err != nil {
		return err
	}
	fmt.Println()
	if err := runtimeRows(ctx, rows, executions); err != nil {
		return err
	}
	return rows.Flush()
}
