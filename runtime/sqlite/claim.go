package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Claim begins the next attempts of due executions.
func (s *Store) Claim(ctx context.Context, c restaq.Claim) (claimed []restaq.Claimed, err error) {
	if err := s.endOthers(ctx); err != nil {
		return nil, fmt.Errorf("look for ended processes: %w", err)
	}
	// Most polls find nothing. A snapshot tells them so without the lock.
	found, err := s.anyDue(ctx, c)
	if err == nil && found {
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

// anyDue reports whether there is something to claim, without taking any.
func (s *Store) anyDue(ctx context.Context, c restaq.Claim) (found bool, err error) {
	if c.Limit <= 0 || len(c.Handlers) == 0 {
		return false, ctx.Err()
	}
	if c.Recover {
		return true, ctx.Err()
	}
	c.Limit = 1
	err = s.reader.read(ctx, func(query queryFunc) error {
		due, err := candidates(query, c, s.now().UnixMicro())
		found = len(due) > 0
		return err
	})
	return found, err
}

// dueSQL finds the executions of a handler that are due and that do not wait
// for others of their order, oldest first. It walks through the index of
// unfinished work in order, so that the cost grows neither with what is
// finished, nor with what is due, nor with what is behind others. ?4 says that
// dead ones keep their key. dueExceptSQL passes over those of a JSON array.
const (
	dueSQL       = dueOfHandler + dueInTurn
	dueExceptSQL = dueOfHandler + ` AND x.id NOT IN (SELECT value FROM json_each(?5))` + dueInTurn
)

const dueOfHandler = `SELECT x.seq
	FROM restaq_execution AS x INDEXED BY restaq_execution_due
	WHERE x.handler = ?1 AND x.due_at <= ?2 AND x.behind = 0`

const dueInTurn = ` AND (x.order_key = '' OR x.status = 'running' OR
		NOT EXISTS (
			SELECT 1 FROM restaq_execution AS y INDEXED BY restaq_execution_order
			WHERE y.handler = x.handler AND y.order_key = x.order_key AND y.order_key <> '' AND y.due_at IS NOT NULL
				AND y.seq < x.seq)
		AND NOT EXISTS (
			SELECT 1 FROM restaq_execution AS y INDEXED BY restaq_execution_order_running
			WHERE y.handler = x.handler AND y.order_key = x.order_key AND y.order_key <> '' AND y.status = 'running')
		AND NOT (?4 AND EXISTS (
			SELECT 1 FROM restaq_execution AS y INDEXED BY restaq_execution_order_dead
			WHERE y.handler = x.handler AND y.order_key = x.order_key AND y.order_key <> '' AND y.due_at IS NULL
				AND y.status = 'failed' AND y.seq < x.seq)))
	ORDER BY x.due_at LIMIT ?3`

// candidates returns up to c.Limit executions to be claimed at now, those of
// each handler by turns.
func candidates(query queryFunc, c restaq.Claim, now int64) ([]int64, error) {
	sql, rest := dueSQL, []any{now, c.Limit, c.DeadBlocks}
	if len(c.Except) > 0 {
		except, err := json.Marshal(c.Except)
		if err != nil {
			return nil, err
		}
		sql, rest = dueExceptSQL, append(rest, string(except))
	}
	var lines [][]int64 // of each handler
	for i, handler := range c.Handlers {
		if slices.Contains(c.Handlers[:i], handler) {
			continue
		}
		due, err := seqs(query, sql, append([]any{handler}, rest...)...)
		if err != nil {
			return nil, err
		}
		lines = append(lines, due)
	}
	return byTurns(lines, c.Limit), nil
}

// byTurns takes the first of each line, then the second of each, and so on.
func byTurns(lines [][]int64, limit int) (taken []int64) {
	for n := 0; len(lines) > 0; n++ {
		lines = slices.DeleteFunc(lines, func(line []int64) bool { return n >= len(line) })
		for _, line := range lines {
			if len(taken) == limit {
				return taken
			}
			taken = append(taken, line[n])
		}
	}
	return taken
}

// seqs returns the only column of the rows of a query.
func seqs(query queryFunc, text string, args ...any) (found []int64, err error) {
	rows, err := query(text, args...)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var n int64
		err := rows.Scan(&n)
		found = append(found, n)
		return err
	})
	return found, err
}

// claim takes what is due, or what the owner had taken before. The transaction
// is the only one that writes, so what it found is so until it commits.
func (t *tx) claim(c restaq.Claim) ([]restaq.Claimed, error) {
	if c.Recover {
		return t.recover(c)
	}
	due, err := candidates(t.query, c, t.now.UnixMicro())
	if err != nil {
		return nil, err
	}
	if err := t.introduce(c.Owner); err != nil {
		return nil, err
	}
	claimed := make([]restaq.Claimed, len(due))
	for i, seq := range due {
		e, ev, err := t.claimable(seq)
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
		claimed[i] = e.claimed(ev)
	}
	return claimed, nil
}

// recover returns what runs under leases of the owner that it does not know
// of, and extends them.
func (t *tx) recover(c restaq.Claim) (claimed []restaq.Claimed, err error) {
	for i, handler := range c.Handlers {
		if slices.Contains(c.Handlers[:i], handler) {
			continue
		}
		running, err := seqs(t.query, `SELECT seq FROM restaq_execution INDEXED BY restaq_execution_due
			WHERE handler = ? AND due_at IS NOT NULL AND behind = 0 AND status = 'running' AND owner = ?`, handler, c.Owner)
		if err != nil {
			return nil, err
		}
		for _, seq := range running {
			e, ev, err := t.claimable(seq)
			if err != nil {
				return nil, err
			}
			if slices.Contains(c.Held, e.lease()) {
				continue
			}
			if len(claimed) == c.Limit {
				return claimed, nil
			}
			e.due = t.now.Add(c.Lease).Truncate(time.Microsecond)
			if err := t.save(e); err != nil {
				return nil, err
			}
			claimed = append(claimed, e.claimed(ev))
		}
	}
	return claimed, nil
}

// claimable reads an execution with its event.
func (t *tx) claimable(seq int64) (e *execution, ev restaq.Event, err error) {
	e = &execution{}
	err = scanOne(t.query, append(e.columns(), header{&ev.Header}, blob{&ev.Payload}), `SELECT `+executionColumns+`, e.header, e.payload
		FROM restaq_execution AS x JOIN restaq_event AS e ON e.seq = x.event
		WHERE x.seq = ?`, seq)
	r := e.Event
	ev.Source, ev.Provider, ev.ID, ev.Type, ev.ReceivedAt = r.Source, r.Provider, r.ID, r.Type, r.ReceivedAt
	return e, ev, err
}

func (e *execution) claimed(ev restaq.Event) restaq.Claimed {
	return restaq.Claimed{Execution: e.out(), Event: ev, Lease: e.lease(), Kind: e.kind}
}

// lease is that of the attempt under way.
func (e *execution) lease() restaq.Lease {
	return restaq.Lease{Execution: e.ID, Attempt: e.Attempts, Token: e.token}
}
