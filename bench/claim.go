package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
)

// These make the rows that completed executions leave, numbered from $1 to $2,
// as the store would have left them: an event, an execution, and the end of its
// one attempt. Ids are in order, as those of version 7 are. No statement needs
// what another makes, so they run at once.
var fillSQL = []string{`
INSERT INTO restaq.event (received_at, source, provider, type, event_id, executions, payload)
SELECT now() - interval '1 day', restaq.term_id('bench'), restaq.term_id('bench'), restaq.term_id('bench.order.placed'),
	'old_' || lpad(n::text, 12, '0'), ARRAY[` + fillID + `], '{}'
FROM generate_series($1::bigint, $2::bigint) n`, `
INSERT INTO restaq.execution (id, created_at, handler, source, event_id)
SELECT ` + fillID + `, now() - interval '1 day', restaq.term_id('bench.Claimed'), restaq.term_id('bench'), 'old_' || lpad(n::text, 12, '0')
FROM generate_series($1::bigint, $2::bigint) n`, `
INSERT INTO restaq.entry (execution, started_at, ended_at, token, position, attempt, outcome, kind)
SELECT ` + fillID + `, now() - interval '1 day', now() - interval '1 day', 1, 1, 1, 0, 0
FROM generate_series($1::bigint, $2::bigint) n`}

const fillID = `('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`

// fillChunk is how many executions are made by one statement.
const fillChunk = 500_000

// claimRows compares what a claim takes beside so many finished executions
// with what it takes in an empty database, in turn.
func claimRows(ctx context.Context, out io.Writer, finished, rounds int) (err error) {
	server, err := pgtest.Start(ctx, pgtest.Config{Fsync: true, Settings: []string{"max_wal_size=16GB"}})
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

// fill makes n finished executions.
func fill(ctx context.Context, url string, n int) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, name := range []string{"bench", "bench.order.placed", "bench.Claimed"} {
		if _, err := pool.Exec(ctx, `SELECT restaq.term_id($1)`, name); err != nil {
			return err
		}
	}
	var group sync.WaitGroup
	failed := make([]error, len(fillSQL))
	for i, sql := range fillSQL {
		group.Go(func() {
			for from := 1; from <= n && failed[i] == nil; from += fillChunk {
				_, failed[i] = pool.Exec(ctx, sql, from, min(from+fillChunk-1, n))
			}
		})
	}
	group.Wait()
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("make %d finished executions: %w", n, err)
	}
	_, err = pool.Exec(ctx, `VACUUM (ANALYZE)`)
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
