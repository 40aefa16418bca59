package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	restaq "github.com/restaq/restaq/runtime"
)

// History returns an execution with all its rows, as of one moment.
func (s *Store) History(ctx context.Context, id string) (*restaq.StoredExecution, error) {
	var h *restaq.StoredExecution
	err := s.reader.snapshot(ctx, func(query queryFunc) (err error) {
		h, err = history(query, id)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("execution %s: %w", id, restaq.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return h, nil
}

func history(query queryFunc, id string) (*restaq.StoredExecution, error) {
	e := &execution{}
	h := &restaq.StoredExecution{}
	err := scanOne(query, append(e.columns(), header{&h.Event.Header}, blob{&h.Event.Payload}), `SELECT `+executionColumns+`, e.header, e.payload
		FROM restaq_execution AS x JOIN restaq_event AS e ON e.seq = x.event
		WHERE x.id = ?`, id)
	if err != nil {
		return nil, err
	}
	h.Execution, h.OrderKey = e.out(), e.orderKey
	ref := e.Event
	h.Event.Source, h.Event.Provider, h.Event.ID, h.Event.Type, h.Event.ReceivedAt = ref.Source, ref.Provider, ref.ID, ref.Type, ref.ReceivedAt
	if e.Status == restaq.Running {
		h.Kind, h.StartedAt = e.kind, e.startedAt
	}
	if h.Attempts, err = attempts(query, e.seq); err != nil {
		return nil, err
	}
	h.Steps, err = steps(query, e.seq)
	return h, err
}

func attempts(query queryFunc, seq int64) (all []restaq.AttemptRow, err error) {
	rows, err := query(`SELECT number, kind, outcome, error, step, detail, started_at, ended_at
		FROM restaq_attempt WHERE execution = ? ORDER BY number`, seq)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		all = append(all, restaq.AttemptRow{})
		a := &all[len(all)-1]
		return rows.Scan(&a.Number, &a.Kind, &a.Outcome, &a.Error, &a.Step, blob{&a.Detail}, moment{&a.StartedAt}, moment{&a.EndedAt})
	})
	return all, err
}

func steps(query queryFunc, seq int64) (all []restaq.StepRow, err error) {
	rows, err := query(`SELECT attempt, seq, name, func, status, error, output, inputs, shape, detail, started_at, ended_at
		FROM restaq_step WHERE execution = ? ORDER BY attempt, seq`, seq)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		all = append(all, restaq.StepRow{})
		r := &all[len(all)-1]
		return rows.Scan(&r.Attempt, &r.Seq, &r.Name, &r.Func, &r.Status, &r.Error, blob{&r.Output}, blob{&r.Inputs}, &r.Shape, blob{&r.Detail},
			moment{&r.StartedAt}, moment{&r.EndedAt})
	})
	return all, err
}
