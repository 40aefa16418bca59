package sqlite

import (
	"context"
	"fmt"
	"slices"

	restaq "github.com/restaq/restaq/runtime"
)

const defaultPrune = 1000

// Prune deletes finished executions, oldest first.
func (s *Store) Prune(ctx context.Context, p restaq.Prune) (done restaq.Pruned, err error) {
	if p.OlderThan <= 0 {
		return done, fmt.Errorf("prune executions: OlderThan must be positive, got %v", p.OlderThan)
	}
	if p.Limit <= 0 {
		p.Limit = defaultPrune
	}
	err = s.writer.do(ctx, func(tx *tx) error {
		done, err = tx.prune(p)
		return err
	})
	if err != nil {
		return restaq.Pruned{}, fmt.Errorf("prune executions: %w", err)
	}
	return done, nil
}

// prunable finds the executions that p names, and their events. What finished
// before the cutoff was made before it, and the index of creation is read from
// its old end.
func prunable(query queryFunc, p restaq.Prune, cutoff int64) (executions, events []int64, err error) {
	var w where
	w.add(`x.finished_at <= ? AND x.created_at <= ?`, cutoff, cutoff)
	w.status(p.Statuses)
	rows, err := query(`SELECT x.seq, x.event FROM restaq_execution AS x`+w.String()+`
		ORDER BY x.created_at LIMIT ?`, append(w.args, p.Limit)...)
	if err != nil {
		return nil, nil, err
	}
	err = each(rows, func() error {
		var seq, event int64
		err := rows.Scan(&seq, &event)
		executions, events = append(executions, seq), append(events, event)
		return err
	})
	return executions, events, err
}

func (t *tx) prune(p restaq.Prune) (done restaq.Pruned, err error) {
	old, events, err := prunable(t.query, p, t.now.Add(-p.OlderThan).UnixMicro())
	if err != nil {
		return done, err
	}
	for _, seq := range old {
		for _, statement := range []string{
			`DELETE FROM restaq_step WHERE execution = ?`,
			`DELETE FROM restaq_attempt WHERE execution = ?`,
			`DELETE FROM restaq_execution WHERE seq = ?`,
		} {
			if _, err := t.exec(statement, seq); err != nil {
				return done, err
			}
		}
		done.Executions++
	}
	slices.Sort(events)
	for _, event := range slices.Compact(events) {
		n, err := t.emptyEvent(event)
		if err != nil {
			return done, err
		}
		done.Payloads += n
	}
	return done, nil
}

// emptyEvent drops the payload of an event that has no execution left. The
// transaction that would add one comes before or after this one.
func (t *tx) emptyEvent(seq int64) (int, error) {
	n, err := t.exec(`UPDATE restaq_event AS e SET payload = NULL, header = NULL
		WHERE e.seq = ?1 AND (e.payload IS NOT NULL OR e.header IS NOT NULL)
			AND NOT EXISTS (SELECT 1 FROM restaq_execution AS x WHERE `+delivered+`)
			AND NOT EXISTS (SELECT 1 FROM restaq_execution WHERE event = ?1 AND late = 1)`, seq)
	return int(n), err
}
