package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	restaq "github.com/restaq/restaq/runtime"
)

// Lookup returns the stored event with the executions that are not replays.
func (s *Store) Lookup(ctx context.Context, source, eventID string, payload bool) (*restaq.StoredEvent, error) {
	var found *restaq.StoredEvent
	err := s.reader.read(ctx, func(query queryFunc) (err error) {
		found, err = lookup(query, source, eventID, payload)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("event %s of %s: %w", eventID, source, restaq.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("look up event: %w", err)
	}
	return found, nil
}

// lookup reads event and executions in one statement, and so from one
// snapshot. The event's large columns would come with each of the executions,
// so they are read after; they change only to be emptied.
func lookup(query queryFunc, source, eventID string, payload bool) (*restaq.StoredEvent, error) {
	rows, err := query(`SELECT e.received_at, e.provider, e.type, e.seq,
			x.id, x.handler, x.status, x.attempts, x.created_at, x.finished_at, x.due_at, x.error, x.step
		FROM restaq_event AS e LEFT JOIN restaq_execution AS x ON x.event = e.seq AND x.replay_of = ''
		WHERE e.id = ? AND e.source = ?`, eventID, source)
	if err != nil {
		return nil, err
	}
	var seq int64
	var found *restaq.StoredEvent
	err = each(rows, func() error {
		if found == nil {
			found = &restaq.StoredEvent{Event: restaq.Event{Source: source, ID: eventID}}
		}
		ev := &found.Event
		var e execution
		var id, handler, status, failure, step sql.NullString
		var attempts sql.NullInt64
		err := rows.Scan(moment{&ev.ReceivedAt}, &ev.Provider, &ev.Type, &seq, &id, &handler, &status, &attempts,
			moment{&e.CreatedAt}, moment{&e.FinishedAt}, moment{&e.due}, &failure, &step)
		if err != nil || !id.Valid {
			return err
		}
		e.ID, e.Handler, e.Status, e.Attempts = id.String, handler.String, restaq.Status(status.String), int(attempts.Int64)
		e.Error, e.Step, e.Event = failure.String, step.String, ev.Ref()
		found.Executions = append(found.Executions, e.out())
		return nil
	})
	if err == nil && found == nil {
		err = sql.ErrNoRows
	}
	if err != nil || !payload {
		return found, err
	}
	return found, scanOne(query, []any{header{&found.Event.Header}, blob{&found.Event.Payload}},
		`SELECT header, payload FROM restaq_event WHERE seq = ?`, seq)
}

// Insert stores an event with its executions, or executions of a stored event.
func (s *Store) Insert(ctx context.Context, in *restaq.Insertion) (created bool, made []restaq.Execution, err error) {
	err = s.writer.do(ctx, func(tx *tx) error {
		created, made, err = tx.insert(in)
		return err
	})
	if err != nil {
		return false, nil, fmt.Errorf("insert event: %w", err)
	}
	return created, made, nil
}

func (t *tx) insert(in *restaq.Insertion) (created bool, made []restaq.Execution, err error) {
	var seq int64
	var ref restaq.EventRef
	if in.Event != nil {
		if seq, err = t.insertEvent(in.Event, len(in.Executions) == 0); err != nil || seq == 0 {
			return false, nil, err
		}
		created = true
		ref = in.Event.Ref()
		ref.ReceivedAt = t.now
	} else if seq, ref, err = t.eventToExtend(in); err != nil {
		return false, nil, err
	}
	for _, n := range in.Executions {
		e := t.newExecution(n, seq, ref, in)
		ok, err := t.insertExecution(e)
		if err != nil {
			return false, nil, err
		}
		if ok {
			created = true
			made = append(made, e.out())
		}
	}
	return created, made, nil
}

// insertEvent returns the new event's number; 0 if the event is there. The
// unique index decides, and nothing was read before that could be stale.
func (t *tx) insertEvent(ev *restaq.Event, unhandled bool) (int64, error) {
	head, err := encodeHeader(ev.Header)
	if err != nil {
		return 0, fmt.Errorf("encode header: %w", err)
	}
	result, err := t.exec(`INSERT INTO restaq_event (received_at, unhandled, source, id, provider, type, header, payload)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id, source) DO NOTHING`,
		t.now.UnixMicro(), unhandled, ev.Source, ev.ID, ev.Provider, ev.Type, head, ev.Payload)
	if err != nil {
		return 0, err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	return result.LastInsertId()
}

// eventToExtend finds the stored event that executions are added to.
func (t *tx) eventToExtend(in *restaq.Insertion) (seq int64, ref restaq.EventRef, err error) {
	ref.Source, ref.ID = in.Source, in.EventID
	err = scanOne(t.query, []any{&seq, moment{&ref.ReceivedAt}, &ref.Provider, &ref.Type},
		`SELECT seq, received_at, provider, type FROM restaq_event WHERE id = ? AND source = ?`, in.EventID, in.Source)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("event %s of %s: %w", in.EventID, in.Source, restaq.ErrNotFound)
	}
	if err == nil && len(in.Executions) > 0 {
		_, err = t.exec(`UPDATE restaq_event SET unhandled = 0 WHERE seq = ? AND unhandled = 1`, seq)
	}
	return seq, ref, err
}

func (t *tx) newExecution(n restaq.NewExecution, event int64, ref restaq.EventRef, in *restaq.Insertion) *execution {
	e := &execution{
		Execution: restaq.Execution{ID: n.ID, Handler: n.Handler, Event: ref, ReplayOf: n.ReplayOf, CreatedAt: t.now},
		event:     event,
		orderKey:  n.OrderKey,
	}
	switch {
	case n.Error != "":
		e.setFinished(restaq.Failed, t.now)
		e.Error = n.Error
	case n.Begin:
		e.begin(t.now, in.Owner, in.Lease)
	default:
		e.setPending(t.now)
	}
	return e
}

// insertExecution reports whether it stored e. The unique indexes leave out a
// second original of one handler, and an id that this call stored before.
func (t *tx) insertExecution(e *execution) (bool, error) {
	result, err := t.exec(`INSERT INTO restaq_execution (event, created_at, due_at, finished_at, started_at, token, attempts,
			kind, wish, status, id, handler, order_key, replay_of, owner, step, error)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		e.event, e.CreatedAt.UnixMicro(), micros(e.due), micros(e.FinishedAt), micros(e.startedAt), e.token, e.Attempts,
		e.kind, e.wish, e.Status, e.ID, e.Handler, e.orderKey, e.ReplayOf, e.owner, e.Step, e.Error)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
