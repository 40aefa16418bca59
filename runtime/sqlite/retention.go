package sqlite

import (
	"context"
	"fmt"
	"time"
)

// Forget deletes events of a provider that have no execution, oldest first.
func (s *Store) Forget(ctx context.Context, provider string, olderThan time.Duration, limit int) (n int, err error) {
	if olderThan <= 0 {
		return 0, fmt.Errorf("forget events: age must be positive, got %v", olderThan)
	}
	err = s.writer.do(ctx, func(tx *tx) error {
		old, err := forgettable(tx.query, provider, tx.now.Add(-olderThan).UnixMicro(), limit)
		if err != nil {
			return err
		}
		n = len(old)
		for _, seq := range old {
			if _, err := tx.exec(`DELETE FROM restaq_event WHERE seq = ?`, seq); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("forget events: %w", err)
	}
	return n, nil
}

// forgettable finds events that were received before the cutoff and have no
// execution. The transaction that would add one comes before or after this one.
func forgettable(query queryFunc, provider string, cutoff int64, limit int) (events []int64, err error) {
	rows, err := query(`SELECT e.seq FROM restaq_event AS e
		WHERE (e.unhandled = 1 OR e.payload IS NULL AND e.header IS NULL) AND e.provider = ? AND e.received_at <= ?
			AND NOT EXISTS (SELECT 1 FROM restaq_execution AS x WHERE `+delivered+`)
			AND NOT EXISTS (SELECT 1 FROM restaq_execution WHERE event = e.seq AND late = 1)
		ORDER BY e.received_at LIMIT ?`, provider, cutoff, limit)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var seq int64
		err := rows.Scan(&seq)
		events = append(events, seq)
		return err
	})
	return events, err
}

// TakeTurn gives a name to an owner, unless another has it.
func (s *Store) TakeTurn(ctx context.Context, name, owner string, d time.Duration) (mine bool, err error) {
	err = s.writer.do(ctx, func(tx *tx) error {
		n, err := tx.exec(`INSERT INTO restaq_turn (name, owner, until) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
			WHERE owner = excluded.owner OR until <= ?`,
			name, owner, tx.now.Add(d).UnixMicro(), tx.now.UnixMicro())
		mine = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take turn %s: %w", name, err)
	}
	return mine, nil
}
