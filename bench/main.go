// Bench measures what the design promises about speed and prints a row for each
// promise:
//
//	make bench
//
// The rows of the generator compare times of whole commands, warm, run in turn
// so that a busy moment of the machine falls on all of them; the ratio is the
// median of each round's ratio.
// The rows of the checks compare restaqgen check with go vet in the same way, by
// processor time, on a module of a hundred packages.
// The rows of the codecs compare generated codecs with other JSON libraries, by
// processor time, on types that all of them get.
// The rows of the runtime compare this project, on PostgreSQL and on SQLite,
// with what one would write by hand and with a peer, on a server of their own
// that waits for its disk, in turn as well. The last table holds the ratios
// against those that are to be reached.
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
	"time"
)

func main() {
	runs := flag.Int("runs", 21, "how often each command of the generator's rows runs; 0 leaves them out")
	checkRuns := flag.Int("checks", 0, "how often restaqgen check and go vet run in the rows of the checks, some minutes each; 0 leaves them out")
	cold := flag.Bool("cold", true, "measure the checks with empty caches, too")
	codecTurns := flag.Int("codecs", 5, "how often each JSON library of the codecs' rows takes its turn; 0 leaves them out")
	var p plan
	flag.IntVar(&p.rounds, "rounds", 5, "how often each subject of the runtime's rows takes its turn; 0 leaves them out")
	flag.StringVar(&p.only, "only", "", "measure in the runtime's rows those alone whose names have one of these words")
	flag.DurationVar(&p.window, "window", 2*time.Second, "how long a turn takes")
	flag.IntVar(&p.costs, "costs", 1000, "over how many executions the cost of one is taken")
	flag.IntVar(&p.pending, "pending", 100_000, "beside how many pending executions the heap is measured; 0 leaves those rows out")
	flag.IntVar(&p.finished, "finished", 0, "beside how many finished executions claims are measured; 0 leaves that row out")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := bench(ctx, *runs, *checkRuns, *cold, *codecTurns, p)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, runs, checkRuns int, cold bool, codecTurns int, p plan) error {
	rows := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if runs > 0 {
		if err := generatorRows(ctx, rows, runs); err != nil {
			return err
		}
		if err := rows.Flush(); err != nil {
			return err
		}
		fmt.Println()
	}
	if checkRuns > 0 {
		if err := checkRows(ctx, rows, checkRuns, cold); err != nil {
			return err
		}
		if err := rows.Flush(); err != nil {
			return err
		}
		fmt.Println()
	}
	if codecTurns > 0 {
		if err := codecRows(ctx, rows, codecTurns); err != nil {
			return err
		}
		if err := rows.Flush(); err != nil {
			return err
		}
		fmt.Println()
	}
	if p.pending > 0 {
		if err := pendingRows(ctx, rows, p.pending); err != nil {
			return err
		}
		fmt.Fprintln(rows)
	}
	if p.finished > 0 {
		if err := claimRows(ctx, rows, p.finished, max(100, 20*p.rounds)); err != nil {
			return err
		}
		fmt.Fprintln(rows)
	}
	if p.rounds > 0 {
		if err := runtimeRows(ctx, rows, p); err != nil {
			return err
		}
	}
	return rows.Flush()
}
