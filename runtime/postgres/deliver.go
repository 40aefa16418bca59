package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// foundColumns are an execution e, or none with an empty id, of an event ev.
const foundColumns = `
	coalesce(e.id::text, ''), coalesce((SELECT text FROM restaq.term WHERE id = e.handler), ''), '', e.created_at, ` + eventColumns + `, ` + stateColumns

// foundTables are joined to an event for its original executions.
const foundTables = `
LEFT JOIN restaq.execution e ON e.id = ANY (ev.executions) AND e.replay_of IS NULL AND ` + ofEvent + stateTables

// isEvent names an event ev by its source and id.
const isEvent = `ev.event_id = $2::text AND ev.source = (SELECT id FROM restaq.term WHERE text = $1::text)`

// lookupSQL reads an event and its original executions in one snapshot. An
// event without executions is one row with an empty id.
const lookupSQL = `
SELECT ` + foundColumns + `
FROM restaq.event ev` + foundTables + `
WHERE ` + isEvent + `
ORDER BY e.created_at, e.id`

// payloadSQL reads the rest of an event. Nobody changes it; a prune may take
// it away between the two statements, which is as if it had come before both.
const payloadSQL = `
SELECT payload, header FROM restaq.event ev WHERE ` + isEvent

// Lookup returns the stored event with the executions that are not replays.
func (s *Store) Lookup(ctx context.Context, source, eventID string, payload bool) (*restaq.StoredEvent, error) {
	found, err := s.lookupShared(ctx, eventKey{source, eventID})
	if err == nil && payload {
		err = s.statement(ctx, func(q querier) error {
			rows, err := q.Query(ctx, s.q(payloadSQL), source, eventID)
			if err != nil {
				return err
			}
			_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
				return struct{}{}, row.Scan(&found.Event.Payload, header{&found.Event.Header})
			})
			return err
		})
	}
	if err != nil && err != restaq.ErrNotFound { // which most lookups return
		err = fmt.Errorf("look up event %s of %s: %w", eventID, source, err)
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// lookupShared looks an event up together with others, or else by itself.
func (s *Store) lookupShared(ctx context.Context, key eventKey) (found *restaq.StoredEvent, err error) {
	source, err := s.resolve(ctx, term{name: key.source})
	if err != nil {
		return nil, err
	}
	isNew, _, err := s.lookupBy(ctx, lookups, key, source)
	if err != nil {
		return nil, err
	}
	if isNew {
		return nil, restaq.ErrNotFound
	}
	done, found, err := s.lookupBy(ctx, readings, key, source)
	if err != nil || done && found != nil {
		return found, err
	}
	err = s.statement(ctx, func(q querier) (err error) {
		found, err = s.lookup(ctx, q, key.source, key.id)
		return err
	})
	return found, err
}

// lookupBy makes a call of a kind for an event.
func (s *Store) lookupBy(ctx context.Context, k kind, key eventKey, source int32) (committed bool, found *restaq.StoredEvent, err error) {
	c := newCall(k, 0)
	defer c.free()
	c.lookup = lookupCall{key, source}
	c.in = &c.lookup
	if err := s.writes.do(ctx, c); err != nil {
		return false, nil, err
	}
	found, _ = c.out.(*restaq.StoredEvent)
	return c.committed, found, nil
}

func (s *Store) lookup(ctx context.Context, q querier, source, eventID string) (*restaq.StoredEvent, error) {
	rows, err := q.Query(ctx, s.q(lookupSQL), source, eventID)
	if err != nil {
		return nil, err
	}
	found, err := readLookup(rows)
	if err == nil && found == nil {
		err = restaq.ErrNotFound
	}
	return found, err
}

// readLookup reads an event, nil if there are no rows.
func readLookup(rows pgx.Rows) (found *restaq.StoredEvent, err error) {
	defer rows.Close()
	for rows.Next() {
		x, err := scanExecution(rows)
		if err != nil {
			return nil, err
		}
		found = joinFound(found, x)
	}
	return found, rows.Err()
}

// joinFound adds an execution, if it is one, to those of its event before it.
func joinFound(found *restaq.StoredEvent, x *restaq.Execution) *restaq.StoredEvent {
	if found == nil {
		e := &x.Event
		found = &restaq.StoredEvent{Event: restaq.Event{
			Source: e.Source, Provider: e.Provider, ID: e.ID, Type: e.Type, ReceivedAt: e.ReceivedAt,
		}}
	}
	if x.ID != "" {
		found.Executions = append(found.Executions, *x)
	}
	return found
}

// newColumns are the executions to be made, one row each.
const newColumns = `
	(SELECT * FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::uuid[], $5::boolean[], $6::text[])
		AS n (id, handler, order_key, replay_of, begun, error)) AS n`

// placeColumn is the hash of the order key, and the place, of a row of newColumns. Executions that are not to be
// made take none. The rows come in one order for all processes, so that two of
// them do not wait for each other's keys.
const placeColumn = keyHash + ` AS key, CASE WHEN n.order_key <> '' THEN restaq.take_place(n.handler, ` + keyHash + `) END AS place`

// keyHash is the hash of an order key of n, null for none. It is not negative.
const keyHash = `hashtextextended(nullif(n.order_key, ''), 0) & 9223372036854775807`

// makeSQL goes on from a common table new, the rows to be made with their
// event, and makes the executions and their work. An id that exists already is
// left out.
const makeSQL = `
made AS (
	INSERT INTO restaq.execution (id, handler, source, event_id, created_at, replay_of, order_key, place)
	SELECT id, handler, source, event_id, now(), replay_of, nullif(order_key, ''), place FROM new
	ON CONFLICT (id) DO NOTHING
	RETURNING id, created_at
), queued AS (
	INSERT INTO restaq.work (execution, token, attempts, due_at, finished_at, lease_until, started_at,
		handler, order_key, place, status, owner, error)
	SELECT n.id, n.begun::integer, n.begun::integer,
		CASE WHEN NOT n.begun AND n.error = '' THEN now() END,
		CASE WHEN n.error <> '' THEN now() END,
		CASE WHEN n.begun THEN clock_timestamp() + $8::bigint * interval '1 microsecond' END,
		CASE WHEN n.begun THEN now() END,
		n.handler, n.key, n.place,
		CASE WHEN n.error <> '' THEN 'failed' WHEN n.begun THEN 'running' ELSE 'pending' END,
		CASE WHEN n.begun THEN $7::uuid END,
		nullif(n.error, '')
	FROM new n JOIN made USING (id)
)`

// insertSQL stores an event with its executions. The primary key decides a race:
// the loser waits for the winner's commit, inserts no row, and so neither
// executions nor work.
const insertSQL = `
WITH ev AS (
	INSERT INTO restaq.event (source, event_id, provider, type, payload, header, received_at, executions)
	VALUES ($9::integer, $10::text, $11::integer, $12::integer, $13::bytea, $14::bytea, now(),
		CASE WHEN cardinality($1::uuid[]) > 0 THEN $1::uuid[] END)
	ON CONFLICT (event_id, source) DO NOTHING
	RETURNING source, event_id, received_at
), new AS (
	SELECT n.*, ev.*, ` + placeColumn + ` FROM ev CROSS JOIN ` + newColumns + `
), ` + makeSQL + `
SELECT ev.received_at, made.id::text, made.created_at FROM ev LEFT JOIN made ON true`

// lockEventSQL is the first statement of a transaction that adds executions to
// an event. The next statement sees all that were ever added to it.
const lockEventSQL = `
SELECT ` + eventColumns + `, payload IS NOT NULL FROM restaq.event ev WHERE ` + isEvent + `
FOR UPDATE`

// addSQL makes executions of an event that the transaction has locked, but no
// second original of a handler.
const addSQL = `
WITH ev AS (
	SELECT ev.source, ev.event_id, ev.received_at, ev.executions FROM restaq.event ev
	WHERE ev.event_id = $10::text AND ev.source = (SELECT id FROM restaq.term WHERE text = $9::text)
), new AS (
	SELECT n.*, ev.source, ev.event_id, ev.received_at, ` + placeColumn + ` FROM ev CROSS JOIN ` + newColumns + `
	WHERE n.replay_of IS NOT NULL OR NOT EXISTS (
		SELECT FROM restaq.execution e
		WHERE e.id = ANY (ev.executions) AND e.handler = n.handler AND e.replay_of IS NULL AND ` + ofEvent + `)
), ` + makeSQL + `, noted AS (
	UPDATE restaq.event e SET executions = coalesce(ev.executions, '{}') || ARRAY (SELECT id FROM made)
	FROM ev WHERE e.event_id = ev.event_id AND e.source = ev.source AND EXISTS (SELECT FROM made)
)
SELECT (SELECT received_at FROM ev), made.id::text, made.created_at FROM made`

// Insert stores an event with its executions, or executions of a stored event.
func (s *Store) Insert(ctx context.Context, in *restaq.Insertion) (created bool, executions []restaq.Execution, err error) {
	if in.Event != nil {
		done, result, err := s.insertShared(ctx, in)
		if err != nil {
			return false, nil, fmt.Errorf("insert event: %w", err)
		}
		if done {
			return result.created, result.executions, nil
		}
	}
	args, err := s.newArguments(ctx, in)
	if err == nil && in.Event != nil {
		created, executions, err = s.insert(ctx, in, args)
	} else if err == nil {
		executions, err = s.add(ctx, in, args)
		created = len(executions) > 0
	}
	if err != nil {
		return false, nil, fmt.Errorf("insert event: %w", err)
	}
	s.begun(executions)
	return created, executions, nil
}

func (s *Store) insert(ctx context.Context, in *restaq.Insertion, args []any) (created bool, executions []restaq.Execution, err error) {
	err = s.statement(ctx, func(q querier) (err error) {
		created, executions, err = s.made(ctx, q, in, in.Event.Ref(), insertSQL, args)
		return err
	})
	return created, executions, err
}

func (s *Store) add(ctx context.Context, in *restaq.Insertion, args []any) (executions []restaq.Execution, err error) {
	err = s.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		var ref restaq.EventRef
		var kept bool
		err := tx.QueryRow(ctx, s.q(lockEventSQL), in.Source, in.EventID).Scan(&ref.Source, &ref.Provider, &ref.ID, &ref.Type, utc{&ref.ReceivedAt}, &kept)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("event %s of %s: %w", in.EventID, in.Source, restaq.ErrNotFound)
		}
		if err == nil && !kept && len(in.Executions) > 0 {
			return fmt.Errorf("event %s of %s: %w", in.EventID, in.Source, restaq.ErrNoPayload)
		}
		if err != nil {
			return err
		}
		_, executions, err = s.made(ctx, tx, in, ref, addSQL, append(args, in.Source, in.EventID))
		return err
	})
	return executions, err
}

// made runs a statement that makes executions. any reports whether it returned
// a row.
func (s *Store) made(ctx context.Context, q querier, in *restaq.Insertion, ref restaq.EventRef, sql string, args []any) (any bool, executions []restaq.Execution, err error) {
	rows, err := q.Query(ctx, s.q(sql), args...)
	if err != nil {
		return false, nil, err
	}
	defer rows.Close()
	times := make(map[string]time.Time)
	for rows.Next() {
		any = true
		var id *string
		var at time.Time
		if err := rows.Scan(utc{&ref.ReceivedAt}, &id, utc{&at}); err != nil {
			return false, nil, err
		}
		if id != nil {
			times[*id] = at
		}
	}
	if err := rows.Err(); err != nil {
		return false, nil, err
	}
	for _, n := range in.Executions {
		if at, ok := times[n.ID]; ok {
			executions = append(executions, newExecution(&n, ref, at))
		}
	}
	return any, executions, nil
}

// newExecution is an execution as it was stored.
func newExecution(n *restaq.NewExecution, ref restaq.EventRef, at time.Time) restaq.Execution {
	x := restaq.Execution{
		ID: n.ID, Handler: n.Handler, Event: ref, ReplayOf: n.ReplayOf, Status: restaq.Pending, CreatedAt: at,
	}
	switch {
	case n.Error != "":
		x.Status, x.Error, x.FinishedAt = restaq.Failed, n.Error, at
	case n.Begin:
		x.Status, x.Attempts = restaq.Running, 1
	}
	return x
}

// newArguments are the arguments of newColumns and makeSQL, and then those of an
// event. A second original of one handler is left out.
func (s *Store) newArguments(ctx context.Context, in *restaq.Insertion) ([]any, error) {
	n := len(in.Executions)
	var (
		ids, replays = make([]pgtype.UUID, 0, n), make([]pgtype.UUID, 0, n)
		handlers     = make([]int32, 0, n)
		orders, errs = make([]string, 0, n), make([]string, 0, n)
		begun        = make([]bool, 0, n)
		originals    = make(map[string]bool, n)
	)
	executions := slices.Clone(in.Executions)
	slices.SortStableFunc(executions, func(a, b restaq.NewExecution) int { // for placeColumn
		return cmp.Or(cmp.Compare(a.Handler, b.Handler), cmp.Compare(a.OrderKey, b.OrderKey))
	})
	for _, e := range executions {
		if e.ReplayOf == "" && originals[e.Handler] {
			continue
		}
		originals[e.Handler] = originals[e.Handler] || e.ReplayOf == ""
		id, ok := parseID(e.ID)
		if !ok {
			return nil, fmt.Errorf("execution id %q is no UUID", e.ID)
		}
		var replay pgtype.UUID
		if e.ReplayOf != "" {
			if replay, ok = parseID(e.ReplayOf); !ok {
				return nil, fmt.Errorf("execution id %q is no UUID", e.ReplayOf)
			}
		}
		handler, err := s.resolve(ctx, term{name: e.Handler})
		if err != nil {
			return nil, err
		}
		ids, replays = append(ids, id), append(replays, replay)
		handlers, orders = append(handlers, handler), append(orders, e.OrderKey)
		begun, errs = append(begun, e.Begin && e.Error == ""), append(errs, e.Error)
	}
	args := []any{ids, handlers, orders, replays, begun, errs, ownerID(in.Owner), in.Lease.Microseconds()}
	if e := in.Event; e != nil {
		terms, err := s.eventTerms(ctx, e)
		if err != nil {
			return nil, err
		}
		args = append(args, terms[0], e.ID, terms[1], terms[2], e.Payload, encodeHeader(e.Header))
	}
	return args, nil
}

// eventTerms are an event's source, provider and type.
func (s *Store) eventTerms(ctx context.Context, e *restaq.Event) (ids [3]int32, err error) {
	for i, text := range [...]string{e.Source, e.Provider, e.Type} {
		if ids[i], err = s.resolve(ctx, term{name: text}); err != nil {
			break
		}
	}
	return ids, err
}
