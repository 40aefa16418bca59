package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// lookupSQL reads an event and its original executions in one snapshot. An
// event without executions is one row with an empty id.
const lookupSQL = `
SELECT ev.source, ev.provider, ev.event_id, ev.type, ev.received_at,
	coalesce(e.id::text, ''), coalesce((SELECT text FROM restaq.term WHERE id = e.handler), ''), e.created_at, ` + stateColumns + `
FROM restaq.event ev
LEFT JOIN restaq.execution e ON e.event = ev.seq AND e.replay_of IS NULL` + stateTables + `
WHERE ev.event_id = $2::text AND ev.source = $1::text
ORDER BY e.created_at, e.id`

// payloadSQL reads the rest of an event. Nobody changes it; a prune may take
// it away between the two statements, which is as if it had come before both.
const payloadSQL = `
SELECT payload, header FROM restaq.event WHERE event_id = $2::text AND source = $1::text`

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
	if err != nil {
		return nil, fmt.Errorf("look up event %s of %s: %w", eventID, source, err)
	}
	return found, nil
}

// lookupShared looks an event up together with others, or else by itself.
func (s *Store) lookupShared(ctx context.Context, key eventKey) (found *restaq.StoredEvent, err error) {
	c := &call{kind: lookups, in: key}
	switch err := s.writes.do(ctx, c); {
	case err != nil:
		return nil, err
	case c.committed:
		if found = c.out.(*restaq.StoredEvent); found == nil {
			return nil, restaq.ErrNotFound
		}
		return found, nil
	}
	err = s.statement(ctx, func(q querier) (err error) {
		found, err = s.lookup(ctx, q, key.source, key.id)
		return err
	})
	return found, err
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
		var f foundRow
		if err := rows.Scan(f.targets()...); err != nil {
			return nil, err
		}
		found = f.join(found)
	}
	return found, rows.Err()
}

// foundRow is an event with one of its executions, if it has any.
type foundRow struct {
	event     restaq.Event
	execution restaq.Execution
}

func (f *foundRow) targets() []any {
	ev, x := &f.event, &f.execution
	return append([]any{
		&ev.Source, &ev.Provider, &ev.ID, &ev.Type, utc{&ev.ReceivedAt}, &x.ID, &x.Handler, utc{&x.CreatedAt},
	}, stateTargets(x)...)
}

// join adds the row to those of the same event before it.
func (f *foundRow) join(found *restaq.StoredEvent) *restaq.StoredEvent {
	if found == nil {
		found = &restaq.StoredEvent{Event: f.event}
	}
	if f.execution.ID != "" {
		f.execution.Event = f.event.Ref()
		found.Executions = append(found.Executions, f.execution)
	}
	return found
}

// newColumns are the executions to be made, one row each.
const newColumns = `
	(SELECT id, restaq.term_id(handler) AS handler, order_key, replay_of, begun, error
	FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::boolean[], $6::text[])
		AS n (id, handler, order_key, replay_of, begun, error)) AS n`

// makeSQL goes on from a common table new, the rows to be made with their
// event, and makes the executions and their work. An id that exists already is
// left out.
const makeSQL = `
made AS (
	INSERT INTO restaq.execution (id, event, created_at, handler, replay_of, order_key)
	SELECT id, event, now(), handler, replay_of, order_key FROM new
	ON CONFLICT (id) DO NOTHING
	RETURNING id, created_at
), queued AS (
	INSERT INTO restaq.work (execution, event, token, attempts, due_at, finished_at, lease_until, started_at,
		handler, order_key, status, owner, error)
	SELECT n.id, n.event, n.begun::integer, n.begun::integer,
		CASE WHEN NOT n.begun AND n.error = '' THEN now() END,
		CASE WHEN n.error <> '' THEN now() END,
		CASE WHEN n.begun THEN clock_timestamp() + $8::bigint * interval '1 microsecond' END,
		CASE WHEN n.begun THEN now() END,
		n.handler, n.order_key,
		CASE WHEN n.error <> '' THEN 'failed' WHEN n.begun THEN 'running' ELSE 'pending' END,
		CASE WHEN n.begun THEN $7::uuid END,
		n.error
	FROM new n JOIN made USING (id)
)`

// insertSQL stores an event with its executions. The unique index on the
// event's id decides a race: the loser waits for the winner's commit, inserts
// no row, and so neither executions nor work.
const insertSQL = `
WITH ev AS (
	INSERT INTO restaq.event (source, event_id, provider, type, payload, header, received_at, unhandled)
	VALUES ($9::text, $10::text, $11::text, $12::text, $13::bytea, $14::bytea, now(), $15::boolean)
	ON CONFLICT (event_id, source) DO NOTHING
	RETURNING seq, received_at
), new AS (
	SELECT n.*, ev.seq AS event FROM ev CROSS JOIN ` + newColumns + `
), ` + makeSQL + `
SELECT ev.received_at, made.id::text, made.created_at FROM ev LEFT JOIN made ON true`

// lockEventSQL is the first statement of a transaction that adds executions to
// an event. The next statement sees all that were ever added to it.
const lockEventSQL = `
SELECT seq, provider, type, received_at FROM restaq.event
WHERE event_id = $2::text AND source = $1::text
FOR UPDATE`

// addSQL makes executions of an event that the transaction has locked, but no
// second original of a handler.
const addSQL = `
WITH new AS (
	SELECT n.*, $9::bigint AS event FROM ` + newColumns + `
	WHERE n.replay_of IS NOT NULL OR NOT EXISTS (
		SELECT FROM restaq.execution e
		WHERE e.event = $9::bigint AND e.handler = n.handler AND e.replay_of IS NULL)
), ` + makeSQL + `, handled AS (
	UPDATE restaq.event SET unhandled = false
	WHERE seq = $9::bigint AND unhandled AND EXISTS (SELECT FROM made)
)
SELECT $10::timestamptz, made.id::text, made.created_at FROM made`

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
	args, err := newArguments(in)
	if err == nil && in.Event != nil {
		created, executions, err = s.insert(ctx, in, args)
	} else if err == nil {
		executions, err = s.add(ctx, in, args)
		created = len(executions) > 0
	}
	if err != nil {
		return false, nil, fmt.Errorf("insert event: %w", err)
	}
	return created, executions, nil
}

func (s *Store) insert(ctx context.Context, in *restaq.Insertion, args []any) (created bool, executions []restaq.Execution, err error) {
	e := in.Event
	args = append(args, e.Source, e.ID, e.Provider, e.Type, e.Payload, encodeHeader(e.Header), len(in.Executions) == 0)
	err = s.statement(ctx, func(q querier) (err error) {
		created, executions, err = s.made(ctx, q, in, e.Ref(), insertSQL, args)
		return err
	})
	return created, executions, err
}

func (s *Store) add(ctx context.Context, in *restaq.Insertion, args []any) (executions []restaq.Execution, err error) {
	err = s.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		ref := restaq.EventRef{Source: in.Source, ID: in.EventID}
		var seq int64
		err := tx.QueryRow(ctx, s.q(lockEventSQL), in.Source, in.EventID).Scan(&seq, &ref.Provider, &ref.Type, utc{&ref.ReceivedAt})
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("event %s of %s: %w", in.EventID, in.Source, restaq.ErrNotFound)
		}
		if err != nil {
			return err
		}
		_, executions, err = s.made(ctx, tx, in, ref, addSQL, append(args, seq, ref.ReceivedAt))
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

// newArguments are the arguments of newColumns and makeSQL. A second original
// of one handler is left out.
func newArguments(in *restaq.Insertion) ([]any, error) {
	n := len(in.Executions)
	var (
		ids, replays     = make([]pgtype.UUID, 0, n), make([]pgtype.UUID, 0, n)
		handlers, orders = make([]string, 0, n), make([]string, 0, n)
		begun, errs      = make([]bool, 0, n), make([]string, 0, n)
		originals        = make(map[string]bool, n)
	)
	for _, e := range in.Executions {
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
		ids, replays = append(ids, id), append(replays, replay)
		handlers, orders = append(handlers, e.Handler), append(orders, e.OrderKey)
		begun, errs = append(begun, e.Begin && e.Error == ""), append(errs, e.Error)
	}
	return []any{ids, handlers, orders, replays, begun, errs, ownerID(in.Owner), in.Lease.Microseconds()}, nil
}
