package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	restaq "github.com/restaq/restaq/runtime"
)

// Change moves an execution from one of c.From to c.To.
func (s *Store) Change(ctx context.Context, id string, c restaq.Change) (*restaq.Execution, bool, error) {
	var after restaq.Execution
	var changed bool
	var err error
	if len(c.From) == 0 {
		err = s.reader.read(ctx, func(query queryFunc) error {
			e, err := load(query, id)
			after = e.out()
			return err
		})
	} else {
		err = s.writer.do(ctx, func(tx *tx) error {
			after, changed, err = tx.change(id, c)
			return err
		})
	}
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, fmt.Errorf("execution %s: %w", id, restaq.ErrNotFound)
	}
	if err != nil {
		return nil, false, fmt.Errorf("change execution %s: %w", id, err)
	}
	return &after, changed, nil
}

func (t *tx) change(id string, c restaq.Change) (after restaq.Execution, changed bool, err error) {
	e, err := t.load(id)
	if err != nil {
		return after, false, err
	}
	if !slices.Contains(c.From, e.Status) {
		return e.out(), false, nil
	}
	running := e.Status == restaq.Running
	switch {
	case c.To == restaq.Pending && !running:
		e.wish = max(e.wish, c.Kind)
		e.setPending(t.now)
	case c.To == restaq.Running && running:
		e.wish = max(e.wish, c.Kind)
	case c.To == restaq.Cancelled:
		if running {
			if err := t.closeAttempt(e, restaq.AttemptCancelled); err != nil {
				return after, false, err
			}
		}
		e.setFinished(restaq.Cancelled, t.now)
	default:
		return after, false, fmt.Errorf("no way from %s to %s", e.Status, c.To)
	}
	return e.out(), true, t.save(e)
}
