package sqlite

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	restaq "github.com/restaq/restaq/runtime"
)

// PutHandlers adds handlers to the directory or replaces them.
func (s *Store) PutHandlers(ctx context.Context, handlers []restaq.HandlerInfo) error {
	err := s.writer.do(ctx, func(tx *tx) error {
		for _, h := range handlers {
			events, err := json.Marshal(h.Events)
			if err != nil {
				return err
			}
			detail, err := json.Marshal(h.HandlerDetail)
			if err != nil {
				return fmt.Errorf("%s: %w", h.Name, err)
			}
			// Every process puts its handlers when it starts; those that
			// changed nothing write nothing.
			_, err = tx.exec(`INSERT INTO restaq_handler (name, events, detail) VALUES (?, ?, ?)
				ON CONFLICT (name) DO UPDATE SET events = excluded.events, detail = excluded.detail
				WHERE events <> excluded.events OR detail <> excluded.detail`, h.Name, string(events), string(detail))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("put handlers: %w", err)
	}
	return nil
}

// Handlers returns all handlers that were ever put, by name.
func (s *Store) Handlers(ctx context.Context) (all []restaq.HandlerInfo, err error) {
	err = s.reader.read(ctx, func(query queryFunc) error {
		rows, err := query(`SELECT name, events, detail FROM restaq_handler ORDER BY name`)
		if err != nil {
			return err
		}
		return each(rows, func() error {
			var h restaq.HandlerInfo
			var events, detail []byte
			if err := rows.Scan(&h.Name, &events, &detail); err != nil {
				return err
			}
			if err := json.Unmarshal(events, &h.Events); err != nil {
				return fmt.Errorf("handler %s: %w", h.Name, err)
			}
			if len(detail) > 0 {
				if err := json.Unmarshal(detail, &h.HandlerDetail); err != nil {
					return fmt.Errorf("handler %s: %w", h.Name, err)
				}
			}
			all = append(all, h)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list handlers: %w", err)
	}
	return all, nil
}

// Secret returns a secret by its name.
func (s *Store) Secret(ctx context.Context, name string) (value []byte, err error) {
	err = s.reader.read(ctx, func(query queryFunc) error {
		value = nil
		rows, err := query(`SELECT value FROM restaq_meta WHERE key = ?`, name)
		if err != nil {
			return err
		}
		return each(rows, func() error { return rows.Scan(&value) })
	})
	if err != nil {
		return nil, fmt.Errorf("read secret %s: %w", name, err)
	}
	return value, nil
}

// SwapSecret replaces a secret.
func (s *Store) SwapSecret(ctx context.Context, name string, old, value []byte) (swapped bool, err error) {
	err = s.writer.do(ctx, func(tx *tx) error {
		var n int64
		var err error
		switch {
		case old == nil && value == nil:
			err = scanOne(tx.query, []any{&n}, `SELECT count(*) = 0 FROM restaq_meta WHERE key = ?`, name)
		case old == nil:
			n, err = tx.exec(`INSERT INTO restaq_meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING`, name, value)
		case value == nil:
			n, err = tx.exec(`DELETE FROM restaq_meta WHERE key = ? AND value = ?`, name, old)
		default:
			n, err = tx.exec(`UPDATE restaq_meta SET value = ? WHERE key = ? AND value = ?`, value, name, old)
		}
		swapped = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("swap secret %s: %w", name, err)
	}
	return swapped, nil
}

// FingerprintKey returns the key of this file's input fingerprints. Whoever
// asks first makes it; the others, of any process, find it.
func (s *Store) FingerprintKey(ctx context.Context) (key []byte, err error) {
	err = s.writer.do(ctx, func(tx *tx) error {
		made := make([]byte, 32)
		rand.Read(made) // never fails
		if _, err := tx.exec(`INSERT INTO restaq_meta (key, value) VALUES ('fingerprint', ?) ON CONFLICT DO NOTHING`, made); err != nil {
			return err
		}
		return scanOne(tx.query, []any{&key}, `SELECT value FROM restaq_meta WHERE key = 'fingerprint'`)
	})
	if err != nil {
		return nil, fmt.Errorf("read fingerprint key: %w", err)
	}
	return key, nil
}
