package sqlite

import (
	"context"
	"errors"
	"testing"
)

// endless counts for ever; SQLite interrupts it now and then only.
const endless = `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c`

func TestAReadEndsWithItsContext(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t), Readers: 1})
	mustInsert(t, s, "evt_1")
	ways := map[string]func(ctx context.Context, fn func(query queryFunc) error) error{
		"of its own statement": s.reader.readOnce,
		"of a snapshot":        s.reader.snapshot,
	}
	for name, read := range ways {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := read(ctx, func(query queryFunc) error {
				if err := scanOne(query, []any{new(int)}, `SELECT 1`); err != nil {
					t.Error(err)
				}
				cancel()
				return scanOne(query, []any{new(int)}, endless)
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a read after the end of its context = %v", err)
			}
			ctx, cancel = context.WithCancel(t.Context())
			defer cancel()
			err = read(ctx, func(query queryFunc) error {
				go cancel()
				return scanOne(query, []any{new(int)}, endless)
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a read whose context ended under way = %v", err)
			}
			mustFind(t, s, "evt_1") // on the same connection
		})
	}
}

func TestAReaderWaitsWhileTheFileIsPutInOrder(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path, Readers: 1})
	mustInsert(t, s, "evt_1")
	calls := 0
	query := patiently(t.Context(), func(text string, args ...any) (rows, error) {
		if calls++; calls < 3 {
			return nil, &libError{code: 5, text: "database is locked"}
		}
		return s.writer.conn.query(text, args...) // the writer has nothing to do
	})
	var n int
	if err := scanOne(query, []any{&n}, `SELECT 1`); err != nil || n != 1 || calls != 3 {
		t.Errorf("read %d after %d calls, %v", n, calls, err)
	}
}
