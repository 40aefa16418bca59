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

// delivered joins an event e with the executions x that its delivery made.
// Their numbers follow each other. One whose execution is gone may be another
// event's by now.
const delivered = `x.seq >= e.first AND x.seq < e.first + e.executions AND x.event = e.seq`

// lookup reads an event with its executions. What came later, and the event's
// large columns, are read after, if there is any and if they are asked for:
// the former only comes, and the latter change only to be emptied.
func lookup(query queryFunc, source, eventID string, payload bool) (*restaq.StoredEvent, error) {
	var found *restaq.StoredEvent
	var seq int64
	var late bool
	rows, err := query(`SELECT e.received_at, e.provider, e.type, e.seq, e.late, `+outColumns+`
		FROM restaq_event AS e LEFT JOIN restaq_execution AS x ON `+delivered+`
		WHERE e.id = ? AND e.source = ?`, eventID, source)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		if found == nil {
			found = &restaq.StoredEvent{Event: restaq.Event{Source: source, ID: eventID}}
		}
		ev := &found.Event
		return addExecution(found, rows, moment{&ev.ReceivedAt}, &ev.Provider, &ev.Type, &seq, &late)
	})
	if err == nil && found == nil {
		err = sql.ErrNoRows
	}
	if err != nil {
		return nil, err
	}
	if late {
		rows, err := query(`SELECT `+outColumns+` FROM restaq_execution AS x WHERE x.event = ? AND x.late = 1 AND x.replay_of = ''`, seq)
		if err != nil {
			return nil, err
		}
		if err := each(rows, func() error { return addExecution(found, rows) }); err != nil {
			return nil, err
		}
	}
	if payload {
		err = scanOne(query, []any{header{&found.Event.Header}, blob{&found.Event.Payload}},
			`SELECT header, payload FROM restaq_event WHERE seq = ?`, seq)
	}
	return found, err
}

// outColumns are those of restaq_execution as x that callers see, the event
// aside. Without an execution the id is empty.
const outColumns = `coalesce(x.id, ''), coalesce(x.handler, ''), coalesce(x.status, ''), coalesce(x.attempts, 0),
	x.created_at, x.finished_at, x.due_at, coalesce(x.error, ''), coalesce(x.step, '')`

// addExecution scans a row that ends with outColumns.
func addExecution(found *restaq.StoredEvent, rows rows, before ...any) error {
	var e execution
	err := rows.Scan(append(before, &e.ID, &e.Handler, &e.Status, &e.Attempts,
		moment{&e.CreatedAt}, moment{&e.FinishedAt}, moment{&e.due}, &e.Error, &e.Step)...)
	if err != nil || e.ID == "" {
		return err
	}
	e.Event = found.Event.Ref()
	found.Executions = append(found.Executions, e.out())
	return nil
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
	first, err := t.nextExecution()
	if err != nil {
		return false, nil, err
	}
	var event int64
	var ref restaq.EventRef
	if in.Event != nil {
		if event, err = t.insertEvent(in.Event, first, len(in.Executions)); err != nil || event == 0 {
			return false, nil, err
		}
		created = true
		ref = in.Event.Ref()
		ref.ReceivedAt = t.now
	} else if event, ref, err = t.eventToExtend(in); err != nil {
		return false, nil, err
	}
	for i := range in.Executions {
		e := t.newExecution(&in.Executions[i], in, ref)
		e.seq, e.event, e.late = first, event, in.Event == nil
		if e.Status == restaq.Running {
			if err := t.introduce(in.Owner); err != nil {
				return false, nil, err
			}
		}
		ok, err := t.insertExecution(e)
		if err != nil {
			return false, nil, err
		}
		if ok || !e.late { // the delivery's have successive numbers in any case
			first++
		}
		if ok {
			created = true
			made = append(made, e.out())
			t.keep(e)
		}
	}
	return created, made, nil
}

// insertEvent returns the new event's number; 0 if the event is there. The
// unique index decides, and nothing was read before that could be stale.
func (t *tx) insertEvent(ev *restaq.Event, first int64, executions int) (int64, error) {
	head, err := encodeHeader(ev.Header)
	if err != nil {
		return 0, fmt.Errorf("encode header: %w", err)
	}
	seq, err := t.nextEvent()
	if err != nil {
		return 0, err
	}
	n, err := t.exec(`INSERT INTO restaq_event (seq, received_at, unhandled, first, executions, late, source, id, provider, type, header, payload)
		VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id, source) DO NOTHING`,
		seq, t.now.UnixMicro(), executions == 0, first, executions, ev.Source, ev.ID, ev.Provider, ev.Type, head, ev.Payload)
	if err != nil || n == 0 {
		return 0, err
	}
	if t.user == nil {
		t.w.event = seq
	}
	return seq, nil
}

// eventToExtend finds the stored event that executions are added to.
func (t *tx) eventToExtend(in *restaq.Insertion) (seq int64, ref restaq.EventRef, err error) {
	ref.Source, ref.ID = in.Source, in.EventID
	var kept bool
	err = scanOne(t.query, []any{&seq, moment{&ref.ReceivedAt}, &ref.Provider, &ref.Type, &kept},
		`SELECT seq, received_at, provider, type, payload IS NOT NULL FROM restaq_event WHERE id = ? AND source = ?`, in.EventID, in.Source)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("event %s of %s: %w", in.EventID, in.Source, restaq.ErrNotFound)
	} else if err == nil && !kept && len(in.Executions) > 0 {
		err = fmt.Errorf("event %s of %s: %w", in.EventID, in.Source, restaq.ErrNoPayload)
	}
	if err == nil && len(in.Executions) > 0 {
		_, err = t.exec(`UPDATE restaq_event SET unhandled = 0, late = 1 WHERE seq = ? AND late = 0`, seq)
	}
	return seq, ref, err
}

func (t *tx) newExecution(n *restaq.NewExecution, in *restaq.Insertion, ref restaq.EventRef) *execution {
	e := &execution{
		Execution: restaq.Execution{ID: n.ID, Handler: n.Handler, Event: ref, ReplayOf: n.ReplayOf, CreatedAt: t.now},
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

// insertExecution reports whether it stored e. Left out are a second original
// of one handler, as nobody else adds one meanwhile, and an id that this call
// stored before, by the unique index.
func (t *tx) insertExecution(e *execution) (bool, error) {
	if e.late && e.ReplayOf == "" {
		var there bool
		err := scanOne(t.query, []any{&there}, `SELECT EXISTS (
				SELECT 1 FROM restaq_event AS e JOIN restaq_execution AS x ON `+delivered+` WHERE e.seq = ?1 AND x.handler = ?2)
			OR EXISTS (
				SELECT 1 FROM restaq_execution WHERE event = ?1 AND late = 1 AND handler = ?2 AND replay_of = '')`, e.event, e.Handler)
		if err != nil || there {
			return false, err
		}
	}
	var behind bool
	if e.orderKey != "" && e.Status == restaq.Pending {
		err := scanOne(t.query, []any{&behind}, `SELECT EXISTS (SELECT 1 FROM restaq_execution INDEXED BY restaq_execution_order
			WHERE handler = ? AND order_key = ? AND order_key <> '' AND due_at IS NOT NULL)`, e.Handler, e.orderKey)
		if err != nil {
			return false, err
		}
	}
	n, err := t.exec(`INSERT INTO restaq_execution (seq, event, late, created_at, due_at, finished_at, started_at, token, attempts,
			kind, wish, status, id, handler, order_key, behind, replay_of, owner, step, error)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		e.seq, e.event, e.late, e.CreatedAt.UnixMicro(), micros(e.due), micros(e.FinishedAt), micros(e.startedAt), e.token, e.Attempts,
		e.kind, e.wish, e.Status, e.ID, e.Handler, e.orderKey, behind, e.ReplayOf, e.owner, e.Step, e.Error)
	if n > 0 && t.user == nil {
		t.w.execution = e.seq
	}
	return n > 0, err
}
