package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

// putHandlersSQL adds handlers in the order of their names, so that processes
// which start together wait for each other one way round. A handler that is
// there as it is, is not written again.
const putHandlersSQL = `
INSERT INTO restaq.handler AS h (name, events, detail)
SELECT n.name, n.events, n.detail
FROM json_to_recordset($1::text::json) AS n (name text, events text[], detail text)
ORDER BY n.name
ON CONFLICT (name) DO UPDATE SET events = excluded.events, detail = excluded.detail
WHERE h.events <> excluded.events OR h.detail IS DISTINCT FROM excluded.detail`

// handlerRow is a handler as putHandlersSQL reads it.
type handlerRow struct {
	Name   string   `json:"name"`
	Events []string `json:"events"`
	Detail string   `json:"detail"`
}

// PutHandlers adds handlers to the directory or replaces them.
func (s *Store) PutHandlers(ctx context.Context, handlers []restaq.HandlerInfo) error {
	byName := make(map[string]handlerRow, len(handlers)) // a row can be written once by a statement
	for _, h := range handlers {
		detail, err := json.Marshal(h.HandlerDetail)
		if err != nil {
			return fmt.Errorf("put handlers: %s: %w", h.Name, err)
		}
		row := handlerRow{h.Name, h.Events, string(detail)}
		if row.Events == nil {
			row.Events = []string{}
		}
		byName[h.Name] = row
	}
	data, err := json.Marshal(slices.AppendSeq([]handlerRow{}, maps.Values(byName)))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if err == nil { // a delivery then finds the name known
			_, err = s.resolve(ctx, term{name: name})
		}
	}
	if err == nil {
		err = s.statement(ctx, func(q querier) error {
			_, err := column[string](ctx, q, s.q(putHandlersSQL), string(data))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("put handlers: %w", err)
	}
	return nil
}

// Handlers returns all handlers that were ever put, by name.
func (s *Store) Handlers(ctx context.Context) ([]restaq.HandlerInfo, error) {
	var all []restaq.HandlerInfo
	err := s.statement(ctx, func(q querier) error {
		rows, err := q.Query(ctx, s.q(`SELECT name, events, coalesce(detail, '{}') FROM restaq.handler ORDER BY name`))
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (h restaq.HandlerInfo, err error) {
			var detail string
			if err := row.Scan(&h.Name, &h.Events, &detail); err != nil {
				return h, err
			}
			if err := json.Unmarshal([]byte(detail), &h.HandlerDetail); err != nil {
				return h, fmt.Errorf("handler %s: %w", h.Name, err)
			}
			return h, nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list handlers: %w", err)
	}
	return all, nil
}

// The first process to ask makes the key; the others, however many at once,
// read it in a statement of their own, which sees what the first committed.
const (
	makeKeySQL = `
INSERT INTO restaq.meta (key, value) VALUES ('fingerprint', $1::bytea) ON CONFLICT (key) DO NOTHING`

	readKeySQL = `SELECT value FROM restaq.meta WHERE key = 'fingerprint'`
)

// FingerprintKey returns the secret of this store that keys input
// fingerprints.
func (s *Store) FingerprintKey(ctx context.Context) ([]byte, error) {
	s.keyMu.Lock()
	defer s.keyMu.Unlock()
	if s.key != nil {
		return slices.Clone(s.key), nil
	}
	key, err := s.readKey(ctx)
	if err == nil && len(key) == 0 {
		fresh := make([]byte, 32)
		rand.Read(fresh) // never fails
		err = s.statement(ctx, func(q querier) error {
			_, err := column[string](ctx, q, s.q(makeKeySQL), fresh)
			return err
		})
		if err == nil {
			key, err = s.readKey(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read fingerprint key: %w", err)
	}
	s.key = key
	return slices.Clone(key), nil
}

// Secret returns a secret by its name.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	var found [][]byte
	err := s.statement(ctx, func(q querier) (err error) {
		found, err = column[[]byte](ctx, q, s.q(`SELECT value FROM restaq.meta WHERE key = $1::text`), name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read secret %s: %w", name, err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return found[0], nil
}

// The row's lock decides between processes that swap one secret.
const (
	addSecretSQL = `
INSERT INTO restaq.meta (key, value) VALUES ($1::text, $2::bytea) ON CONFLICT (key) DO NOTHING RETURNING key`

	dropSecretSQL = `
DELETE FROM restaq.meta WHERE key = $1::text AND value = $2::bytea RETURNING key`

	replaceSecretSQL = `
UPDATE restaq.meta SET value = $3::bytea WHERE key = $1::text AND value = $2::bytea RETURNING key`
)

// SwapSecret replaces a secret.
func (s *Store) SwapSecret(ctx context.Context, name string, old, value []byte) (bool, error) {
	var changed []string
	err := s.statement(ctx, func(q querier) (err error) {
		switch {
		case old == nil && value == nil:
			changed, err = column[string](ctx, q, s.q(`SELECT 'none' WHERE NOT EXISTS (SELECT FROM restaq.meta WHERE key = $1::text)`), name)
		case old == nil:
			changed, err = column[string](ctx, q, s.q(addSecretSQL), name, value)
		case value == nil:
			changed, err = column[string](ctx, q, s.q(dropSecretSQL), name, old)
		default:
			changed, err = column[string](ctx, q, s.q(replaceSecretSQL), name, old, value)
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("swap secret %s: %w", name, err)
	}
	return len(changed) == 1, nil
}

// readKey returns the key, or nothing if there is none yet.
func (s *Store) readKey(ctx context.Context) ([]byte, error) {
	var keys [][]byte
	err := s.statement(ctx, func(q querier) (err error) {
		keys, err = column[[]byte](ctx, q, s.q(readKeySQL))
		return err
	})
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return keys[0], nil
}
