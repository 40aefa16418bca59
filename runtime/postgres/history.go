package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	historySQL = `
SELECT ` + executionColumns + `, ` + stateColumns + `,
	ev.payload, ev.header, coalesce(e.order_key, ''), coalesce(w.kind, 0), w.started_at, coalesce(w.token, 0)
FROM restaq.execution e
JOIN restaq.event ev ON ` + ofEvent + stateTables + `
WHERE e.id = $1::uuid`

	endsSQLOf = `
SELECT token, attempt, kind, outcome, coalesce(error, ''), coalesce(name, ''), detail, started_at, ended_at
FROM restaq.entry WHERE execution = $1::uuid AND kind IS NOT NULL
ORDER BY token`

	stepsSQL = `
SELECT token, coalesce(seq, position), name, (SELECT text FROM restaq.term WHERE id = func), outcome, coalesce(error, ''),
	output, inputs, detail, started_at, ended_at
FROM restaq.entry WHERE execution = $1::uuid AND kind IS NULL
ORDER BY token, 2`
)

// History returns an execution with all its rows. Its three statements read one
// snapshot, and go to the server together with the transaction's end: a client
// that takes long to read what they return is not idle in a transaction. After
// an error the pool gives the connection up, and with it the transaction.
func (s *Store) History(ctx context.Context, id string) (*restaq.StoredExecution, error) {
	key, ok := parseID(id)
	if !ok {
		return nil, notFound(id)
	}
	var h *restaq.StoredExecution
	begin := s.bounded(pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	err := s.repeat(ctx, s.pool, func(c *pgxpool.Conn) error {
		tx, err := c.BeginTx(ctx, begin)
		if err != nil {
			return err
		}
		var b pgx.Batch
		b.Queue(s.q(historySQL), key)
		b.Queue(s.q(endsSQLOf), key)
		b.Queue(s.q(stepsSQL), key)
		b.Queue(`COMMIT`)
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
	var running int32 // the token of the attempt under way
	x := &h.Execution
	targets := append(executionTargets(x), stateTargets(x)...)
	targets = append(targets, &h.Event.Payload, header{&h.Event.Header}, &h.OrderKey, &h.Kind, utc{&h.StartedAt}, &running)
	if err := results.QueryRow().Scan(targets...); err != nil {
		return nil, err
	}
	h.Event.Source, h.Event.Provider, h.Event.ID = x.Event.Source, x.Event.Provider, x.Event.ID
	h.Event.Type, h.Event.ReceivedAt = x.Event.Type, x.Event.ReceivedAt
	if x.Status != restaq.Running {
		h.Kind = restaq.Automatic
	}
	numbers := map[int32]int{running: x.Attempts} // of attempts, by token
	if err := readEnds(results, &h, numbers); err != nil {
		return nil, err
	}
	return &h, readSteps(results, &h, numbers)
}

// readEnds reads the attempts that ended, and their numbers. One that does not
// count has none.
func readEnds(results pgx.BatchResults, h *restaq.StoredExecution, numbers map[int32]int) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	var (
		a       restaq.AttemptRow
		token   int32
		number  *int32
		outcome int
	)
	targets := []any{&token, &number, &a.Kind, &outcome, &a.Error, &a.Step, &a.Detail, utc{&a.StartedAt}, utc{&a.EndedAt}}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		if number == nil {
			return nil
		}
		a.Number = int(*number)
		if a.Outcome, err = codeOf(attemptOutcomes, outcome); err != nil {
			return err
		}
		numbers[token] = a.Number
		h.Attempts = append(h.Attempts, a)
		return nil
	})
	return err
}

func readSteps(results pgx.BatchResults, h *restaq.StoredExecution, numbers map[int32]int) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	var (
		r       restaq.StepRow
		token   int32
		name    string
		outcome int
	)
	targets := []any{
		&token, &r.Seq, &r.Name, &name, &outcome, &r.Error, &r.Output, &r.Inputs, &r.Detail, utc{&r.StartedAt}, utc{&r.EndedAt},
	}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		r.Attempt = numbers[token]
		setTerm(&r, name)
		if r.Status, err = codeOf(stepStatuses, outcome); err != nil {
			return err
		}
		h.Steps = append(h.Steps, r)
		return nil
	})
	return err
}
