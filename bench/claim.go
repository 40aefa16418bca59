package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
)

// fillSQL makes completed executions, as many as its argument says, as the
// store would have left them.
const fillSQL = `
WITH new AS MATERIALIZED (
	SELECT n, gen_random_uuid() AS id FROM generate_series(1, $1::bigint) n
), ev AS (
	INSERT INTO restaq.event (received_at, source, event_id, provider, type, payload, executions)
	SELECT now() - interval '1 day', restaq.term_id('bench'), 'old_' || n, restaq.term_id('bench'), restaq.term_id('bench.order.placed'),
		'{}', ARRAY[id]
	FROM new
), ex AS (
	INSERT INTO restaq.execution (id, source, event_id, created_at, handler)
	SELECT id, restaq.term_id('bench'), 'old_' || n, now() - interval '1 day', restaq.term_id('bench.Claimed') FROM new
)
INSERT INTO restaq.entry (execution, token, position, attempt, kind, started_at, ended_at, outcome)
SELECT id, 1, 1, 1, 0, now() - interval '1 day', now() - interval '1 day', 0 FROM new`

// claimRows compares what a claim takes beside so many finished executions
// with what it takes in an empty database, in turn.
func claimRows(ctx context.Context, out io.Writer, finished, rounds int) (err error) {
	server, err := pgtest.Start(ctx, pgtest.Config{Fsync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	stores := make([]*postgres.Store, 2)
	times := make([][]time.Duration, len(stores))
	for i := range stores {
		url, err := database(ctx, server, fmt.Sprint("claim_", i))
		if err != nil {
			return err
		}
		if stores[i], err = postgres.Open(ctx, url); err != nil {
			return err
		}
		defer stores[i].Close()
		if i == 1 {
			if err := fill(ctx, url, finished); err != nil {
				return err
			}
		}
	}
	for round := range rounds + 1 {
		for i, store := range stores {
			took, err := claimOnce(ctx, store)
			if err != nil {
				return err
			}
			if round > 0 {
				times[i] = append(times[i], took)
			}
		}
	}
	fmt.Fprintf(out, "a claim of %d, %d rounds\tmedian\tof the first\tto reach\n", claimed, rounds)
	fmt.Fprintf(out, "nothing finished\t%v\n", median(times[0]))
	fmt.Fprintf(out, "%d finished\t%v\t%.2f\t≤ 1.2\n", finished, median(times[1]), median(ratios(times[1], times[0])))
	return nil
}

func fill(ctx context.Context, url string, n int) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `SET synchronous_commit = off`); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, fillSQL, n); err != nil {
		return fmt.Errorf("make %d finished executions: %w", n, err)
	}
	_, err = conn.Exec(ctx, `VACUUM (ANALYZE)`)
	return err
}

// claimed is how many executions a claim takes.
const claimed = 16

// claimOnce makes executions, and returns how long it takes to claim them.
func claimOnce(ctx context.Context, store *postgres.Store) (time.Duration, error) {
	for range claimed {
		id := newID()
		if _, _, err := store.Insert(ctx, &restaq.Insertion{
			Event:      &restaq.Event{Source: "bench", Provider: "bench", ID: id, Type: orderType, Payload: payload(id)},
			Executions: []restaq.NewExecution{{ID: newUUID(), Handler: "bench.Claimed"}},
		}); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	got, err := store.Claim(ctx, restaq.Claim{Owner: newUUID(), Lease: time.Minute, Handlers: []string{"bench.Claimed"}, Limit: claimed})
	took := time.Since(start)
	if err != nil || len(got) != claimed {
		return 0, fmt.Errorf("claimed %d of %d: %w", len(got), claimed, err)
	}
	for _, c := range got {
		if _, err := store.Finish(ctx, c.Lease, &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted}); err != nil {
			return 0, err
		}
	}
	return took, nil
}
