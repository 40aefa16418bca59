package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	restaq "github.com/restaq/restaq/runtime"
)

// Claim begins the next attempts of due executions.
func (s *Store) Claim(ctx context.Context, c restaq.Claim) (claimed []restaq.Claimed, err error) {
	if err := s.endOthers(ctx); err != nil {
		return nil, fmt.Errorf("look for ended processes: %w", err)
	}
	// Most polls find nothing. A snapshot tells them so without the lock.
	due, err := s.due(ctx, c)
	if err == nil && len(due) > 0 {
		err = s.writer.do(ctx, func(tx *tx) error {
			claimed, err = tx.claim(c)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("claim executions: %w", err)
	}
	return claimed, nil
}

// candidate is an execution that may be claimed.
type candidate struct{ seq, due int64 }

// due looks for executions to claim without taking any.
func (s *Store) due(ctx context.Context, c restaq.Claim) (due []candidate, err error) {
	if c.Limit <= 0 || len(c.Handlers) == 0 {
		return nil, ctx.Err()
	}
	c.Limit = 1
	err = s.reader.read(ctx, func(query queryFunc) error {
		due, err = candidates(query, c, s.now().UnixMicro())
		return err
	})
	return due, err
}

// candidates returns up to c.Limit executions that are due at now and behind no
// other of their order, oldest first. Each handler's are found by the
// index of unfinished work, in order, so that the cost grows neither with what
// is finished nor with what is due.
func candidates(query queryFunc, c restaq.Claim, now int64) ([]candidate, error) {
	var due []candidate
	for i, handler := range c.Handlers {
		if slices.Contains(c.Handlers[:i], handler) {
			continue
		}
		rows, err := query(`SELECT x.seq, x.due_at
			FROM restaq_execution AS x INDEXED BY restaq_execution_due
			WHERE x.handler = ? AND x.due_at <= ?
				AND (x.order_key = '' OR NOT EXISTS (
					SELECT 1 FROM restaq_execution AS y INDEXED BY restaq_execution_order
					WHERE y.handler = x.handler AND y.order_key = x.order_key AND y.order_key <> '' AND y.due_at IS NOT NULL
						AND (y.event, y.id) < (x.event, x.id))
					AND NOT EXISTS (
					SELECT 1 FROM restaq_execution AS z INDEXED BY restaq_execution_order
					WHERE z.handler = x.handler AND z.order_key = x.order_key AND z.order_key <> '' AND z.due_at > ?
						AND z.status = 'running' AND z.seq <> x.seq))
			ORDER BY x.due_at LIMIT ?`, handler, now, now, c.Limit)
		if err != nil {
			return nil, err
		}
		err = each(rows, func() error {
			var found candidate
			err := rows.Scan(&found.seq, &found.due)
			due = append(due, found)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(due, func(a, b candidate) int { return cmp.Compare(a.due, b.due) })
	return due[:min(len(due), c.Limit)], nil
}

// claim takes what is due. The transaction is the only one that writes, so
// what it found due is so until it has been begun.
func (t *tx) claim(c restaq.Claim) ([]restaq.Claimed, error) {
	due, err := candidates(t.query, c, t.now.UnixMicro())
	if err != nil {
		return nil, err
	}
	if err := t.introduce(c.Owner); err != nil {
		return nil, err
	}
	var claimed []restaq.Claimed
	for _, d := range due {
		one, err := t.claimOne(d.seq, c)
		if err != nil {
			return nil, err
		}
		claimed = append(claimed, *one)
	}
	return claimed, nil
}

func (t *tx) claimOne(seq int64, c restaq.Claim) (*restaq.Claimed, error) {
	e := &execution{}
	var ev restaq.Event
	err := scanOne(t.query, append(e.columns(), header{&ev.Header}, blob{&ev.Payload}), `SELECT `+executionColumns+`, e.header, e.payload
		FROM restaq_execution AS x JOIN restaq_event AS e ON e.seq = x.event
		WHERE x.seq = ?`, seq)
	if err != nil {
		return nil, err
	}
	if e.Status == restaq.Running { // its lease has run out
		if err := t.closeAttempt(e, restaq.AttemptLost); err != nil {
			return nil, err
		}
	}
	e.begin(t.now, c.Owner, c.Lease)
	if err := t.save(e); err != nil {
		return nil, err
	}
	r := e.Event
	ev.Source, ev.Provider, ev.ID, ev.Type, ev.ReceivedAt = r.Source, r.Provider, r.ID, r.Type, r.ReceivedAt
	return &restaq.Claimed{
		Execution: e.out(),
		Event:     ev,
		Lease:     restaq.Lease{Execution: e.ID, Attempt: e.Attempts, Token: e.token},
		Kind:      e.kind,
	}, nil
}
