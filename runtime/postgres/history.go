package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	historySQL = `
SELECT ` + executionColumns + `, ` + stateColumns + `,
	ev.payload, ev.header, e.order_key, coalesce(w.kind, 0), w.started_at
FROM restaq.execution e
JOIN restaq.event ev ON ev.seq = e.event` + stateTables + `
WHERE e.id = $1::uuid`

	attemptsSQL = `
SELECT number, kind, outcome, error, step, detail, started_at, ended_at
FROM restaq.attempt WHERE execution = $1::uuid
ORDER BY number`

	stepsSQL = `
SELECT attempt, seq, name, (SELECT text FROM restaq.term WHERE id = func), status, error, output, inputs,
	(SELECT text FROM restaq.term WHERE id = shape), detail, started_at, ended_at
FROM restaq.step WHERE execution = $1::uuid
ORDER BY attempt, seq`
)

// History returns an execution with all its rows. Its three statements read one
// snapshot, and go to the server together.
func (s *Store) History(ctx context.Context, id string) (*restaq.StoredExecution, error) {
	key, ok := parseID(id)
	if !ok {
		return nil, notFound(id)
	}
	var h *restaq.StoredExecution
	err := s.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
		var b pgx.Batch
		b.Queue(s.q(historySQL), key)
		b.Queue(s.q(attemptsSQL), key)
		b.Queue(s.q(stepsSQL), key)
		results := tx.SendBatch(ctx, &b)
		h, err = readHistory(results)
		return errors.Join(err, results.Close())
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, notFound(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read history of execution %s: %w", id, err)
	}
	return h, nil
}

func readHistory(results pgx.BatchResults) (*restaq.StoredExecution, error) {
	var h restaq.StoredExecution
	x := &h.Execution
	targets := append(executionTargets(x), stateTargets(x)...)
	targets = append(targets, &h.Event.Payload, header{&h.Event.Header}, &h.OrderKey, &h.Kind, utc{&h.StartedAt})
	if err := results.QueryRow().Scan(targets...); err != nil {
		return nil, err
	}
	h.Event.Source, h.Event.Provider, h.Event.ID = x.Event.Source, x.Event.Provider, x.Event.ID
	h.Event.Type, h.Event.ReceivedAt = x.Event.Type, x.Event.ReceivedAt
	if x.Status != restaq.Running {
		h.Kind = restaq.Automatic
	}

	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	h.Attempts, err = pgx.AppendRows(h.Attempts, rows, func(row pgx.CollectableRow) (a restaq.AttemptRow, err error) {
		return a, row.Scan(&a.Number, &a.Kind, &a.Outcome, &a.Error, &a.Step, &a.Detail, utc{&a.StartedAt}, utc{&a.EndedAt})
	})
	if err != nil {
		return nil, err
	}
	if rows, err = results.Query(); err != nil {
		return nil, err
	}
	h.Steps, err = pgx.AppendRows(h.Steps, rows, func(row pgx.CollectableRow) (r restaq.StepRow, err error) {
		return r, row.Scan(&r.Attempt, &r.Seq, &r.Name, &r.Func, stepStatus{&r.Status}, &r.Error, &r.Output, &r.Inputs, &r.Shape, &r.Detail,
			utc{&r.StartedAt}, utc{&r.EndedAt})
	})
	return &h, err
}
