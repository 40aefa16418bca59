package postgres

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// eventKey is what names an event.
type eventKey struct{ source, id string }

func compareKeys(a, b eventKey) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.source, b.source))
}

// sharedLookupSQL is lookupSQL for many events.
const sharedLookupSQL = `
SELECT r.n, ev.source, ev.provider, ev.event_id, ev.type, ev.received_at,
	coalesce(e.id::text, ''), coalesce((SELECT text FROM restaq.term WHERE id = e.handler), ''), e.created_at, ` + stateColumns + `
FROM unnest($1::integer[], $2::text[], $3::text[]) AS r (n, source, event_id)
JOIN restaq.event ev ON ev.event_id = r.event_id AND ev.source = r.source
LEFT JOIN restaq.execution e ON e.event = ev.seq AND e.replay_of IS NULL` + stateTables + `
ORDER BY r.n, e.created_at, e.id`

func (s *Store) sharedLookup(calls []*call) shared {
	if len(calls) == 1 {
		return s.oneLookup(calls[0])
	}
	n := len(calls)
	numbers, sources, ids := make([]int32, n), make([]string, n), make([]string, n)
	for i, c := range calls {
		key := c.in.(eventKey)
		numbers[i], sources[i], ids[i] = int32(i), key.source, key.id
	}
	return shared{sharedLookupSQL, []any{numbers, sources, ids}, func(rows pgx.Rows) error {
		for _, c := range calls {
			c.committed, c.out = true, (*restaq.StoredEvent)(nil)
		}
		for rows.Next() {
			var n int32
			var f foundRow
			if err := rows.Scan(append([]any{&n}, f.targets()...)...); err != nil {
				return err
			}
			calls[n].out = f.join(calls[n].out.(*restaq.StoredEvent))
		}
		return rows.Err()
	}}
}

// oneLookupSQL finds out that an event is new, as most are, at the least cost.
const oneLookupSQL = `SELECT true FROM restaq.event WHERE event_id = $2::text AND source = $1::text`

// oneLookup is sharedLookup for one event. One that is there is looked up the
// careful way.
func (s *Store) oneLookup(c *call) shared {
	key := c.in.(eventKey)
	return shared{oneLookupSQL, []any{key.source, key.id}, func(rows pgx.Rows) error {
		c.committed, c.out = !rows.Next(), (*restaq.StoredEvent)(nil)
		return rows.Err()
	}}
}

// sharedInsertSQL is insertSQL for many events, none of which is twice among
// the arguments, without keys, replays and dead executions. Events are inserted
// in the order of their keys: two processes that insert the same ones wait for
// each other one way round.
const sharedInsertSQL = `
WITH ev AS (
	INSERT INTO restaq.event (source, event_id, provider, type, payload, header, received_at, unhandled)
	SELECT source, event_id, provider, type, payload, header, now(), unhandled
	FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::boolean[])
		AS n (source, event_id, provider, type, payload, header, unhandled)
	ON CONFLICT (event_id, source) DO NOTHING
	RETURNING seq, source, event_id
), new AS MATERIALIZED (
	SELECT n.*, ev.seq AS event
	FROM ev JOIN unnest($8::text[], $9::text[], $10::uuid[], $11::integer[], $12::boolean[], $13::uuid[], $14::bigint[])
		AS n (source, event_id, id, handler, begun, owner, lease) USING (event_id, source)
), made AS (
	INSERT INTO restaq.execution (id, event, created_at, handler, order_key)
	SELECT id, event, now(), handler, '' FROM new
), queued AS (
	INSERT INTO restaq.work (execution, event, token, attempts, due_at, lease_until, started_at, handler, order_key, status, owner)
	SELECT id, event, begun::integer, begun::integer,
		CASE WHEN NOT begun THEN now() END,
		CASE WHEN begun THEN clock_timestamp() + lease * interval '1 microsecond' END,
		CASE WHEN begun THEN now() END,
		handler, '', CASE WHEN begun THEN 'running' ELSE 'pending' END, owner
	FROM new
)
SELECT source, event_id, now() FROM ev`

// oneInsertSQL is sharedInsertSQL for one event with one execution.
const oneInsertSQL = `
WITH ev AS (
	INSERT INTO restaq.event (source, event_id, provider, type, payload, header, received_at, unhandled)
	VALUES ($1::text, $2::text, $3::text, $4::text, $5::bytea, $6::bytea, now(), false)
	ON CONFLICT (event_id, source) DO NOTHING
	RETURNING seq
), made AS (
	INSERT INTO restaq.execution (id, event, created_at, handler, order_key)
	SELECT $7::uuid, seq, now(), $8::integer, '' FROM ev
)
INSERT INTO restaq.work (execution, event, token, attempts, due_at, lease_until, started_at, handler, order_key, status, owner)
SELECT $7::uuid, seq, $9::boolean::integer, $9::boolean::integer,
	CASE WHEN NOT $9::boolean THEN now() END,
	CASE WHEN $9::boolean THEN clock_timestamp() + $11::bigint * interval '1 microsecond' END,
	CASE WHEN $9::boolean THEN now() END,
	$8::integer, '', CASE WHEN $9::boolean THEN 'running' ELSE 'pending' END, $10::uuid
FROM ev
RETURNING now()`

// insertCall is what Insert is asked for.
type insertCall struct {
	*restaq.Insertion
	key      eventKey
	ids      []pgtype.UUID // of the executions
	handlers []int32       // theirs
}

// insertResult is what comes of it.
type insertResult struct {
	created    bool
	executions []restaq.Execution
}

func (s *Store) sharedInsert(calls []*call) shared {
	if len(calls) == 1 && len(calls[0].in.(*insertCall).ids) == 1 {
		return s.oneInsert(calls[0])
	}
	slices.SortStableFunc(calls, func(a, b *call) int {
		return compareKeys(a.in.(*insertCall).key, b.in.(*insertCall).key)
	})
	n := len(calls)
	first := make(map[eventKey]*call, n)
	var a insertRows
	for _, c := range calls {
		in := c.in.(*insertCall)
		if first[in.key] == nil { // the others lose the race
			first[in.key] = c
			a.add(in)
		}
	}
	return shared{sharedInsertSQL, a.columns(), func(rows pgx.Rows) error {
		for _, c := range calls {
			c.committed, c.out = true, insertResult{}
		}
		for rows.Next() {
			var key eventKey
			var at time.Time
			if err := rows.Scan(&key.source, &key.id, utc{&at}); err != nil {
				return err
			}
			c := first[key]
			c.out = s.inserted(c.in.(*insertCall), at)
		}
		return rows.Err()
	}}
}

// oneInsert is sharedInsert for one event with one execution.
func (s *Store) oneInsert(c *call) shared {
	in := c.in.(*insertCall)
	e, begun := in.Event, in.Executions[0].Begin
	var owner pgtype.UUID
	if begun {
		owner = ownerID(in.Owner)
	}
	return shared{
		oneInsertSQL,
		[]any{
			e.Source, e.ID, e.Provider, e.Type, e.Payload, encodeHeader(e.Header),
			in.ids[0], in.handlers[0], begun, owner, in.Lease.Microseconds(),
		},
		func(rows pgx.Rows) error {
			c.committed, c.out = true, insertResult{}
			if rows.Next() {
				var at time.Time
				if err := rows.Scan(utc{&at}); err != nil {
					return err
				}
				c.out = s.inserted(in, at)
			}
			return rows.Err()
		},
	}
}

// inserted is the result of an insertion that was done.
func (s *Store) inserted(in *insertCall, at time.Time) insertResult {
	result := insertResult{true, make([]restaq.Execution, len(in.Executions))}
	ref := in.Event.Ref()
	ref.ReceivedAt = at
	for i := range in.Executions {
		result.executions[i] = newExecution(&in.Executions[i], ref, at)
	}
	return result
}

// insertRows are events and executions column by column.
type insertRows struct {
	sources, ids, providers, types []string
	payloads, headers              [][]byte
	unhandled                      []bool

	ofSources, ofIDs []string
	executions       []pgtype.UUID
	handlers         []int32
	begun            []bool
	owners           []pgtype.UUID
	leases           []int64
}

func (r *insertRows) add(in *insertCall) {
	e := in.Event
	r.sources, r.ids = append(r.sources, e.Source), append(r.ids, e.ID)
	r.providers, r.types = append(r.providers, e.Provider), append(r.types, e.Type)
	r.payloads, r.headers = append(r.payloads, bytes.Clone(e.Payload)), append(r.headers, encodeHeader(e.Header))
	r.unhandled = append(r.unhandled, len(in.Executions) == 0)
	for i := range in.Executions {
		var owner pgtype.UUID
		if in.Executions[i].Begin {
			owner = ownerID(in.Owner)
		}
		r.ofSources, r.ofIDs = append(r.ofSources, e.Source), append(r.ofIDs, e.ID)
		r.executions, r.handlers = append(r.executions, in.ids[i]), append(r.handlers, in.handlers[i])
		r.begun, r.owners = append(r.begun, in.Executions[i].Begin), append(r.owners, owner)
		r.leases = append(r.leases, in.Lease.Microseconds())
	}
}

func (r *insertRows) columns() []any {
	return []any{
		r.sources, r.ids, r.providers, r.types, r.payloads, r.headers, r.unhandled,
		r.ofSources, r.ofIDs, r.executions, r.handlers, r.begun, r.owners, r.leases,
	}
}

// plainInsert returns an insertion as sharedInsertSQL takes it, or nil if it
// is one for the careful way.
func (s *Store) plainInsert(ctx context.Context, in *restaq.Insertion) (*insertCall, error) {
	c := &insertCall{Insertion: in, key: eventKey{in.Event.Source, in.Event.ID}}
	var handlers []string
	for i := range in.Executions {
		e := &in.Executions[i]
		id, ok := parseID(e.ID)
		if !ok || e.OrderKey != "" || e.ReplayOf != "" || e.Error != "" || slices.Contains(handlers, e.Handler) || slices.Contains(c.ids, id) {
			return nil, nil
		}
		c.ids, handlers = append(c.ids, id), append(handlers, e.Handler)
	}
	var err error
	c.handlers, err = s.resolve(ctx, make([]int32, 0, len(handlers)), handlers...)
	return c, err
}

// insertShared inserts a new event in a commit that others share. done is false
// if it has to be done the careful way.
func (s *Store) insertShared(ctx context.Context, in *restaq.Insertion) (done bool, result insertResult, err error) {
	plain, err := s.plainInsert(ctx, in)
	if err != nil || plain == nil {
		return false, result, err
	}
	c := &call{kind: arrivals, in: plain, size: 200 + len(in.Event.Payload)}
	if err := s.writes.do(ctx, c); err != nil || !c.committed {
		return false, result, err
	}
	result = c.out.(insertResult)
	for i := range result.executions {
		if plain.Executions[i].Begin {
			s.begun.put(plain.ids[i], &result.executions[i])
		}
	}
	return true, result, nil
}
