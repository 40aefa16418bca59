package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// eventKey is what names an event.
type eventKey struct{ source, id string }

func compareKeys(a, b eventKey) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.source, b.source))
}

// lookupCall is what Lookup is asked for. source is a term.
type lookupCall struct {
	eventKey
	term int32
}

// newEventsSQL finds out that events are new, as most are, at the least cost.
const (
	newEventsSQL = `
SELECT r.n FROM (SELECT unnest($1::integer[]) AS n, unnest($2::integer[]) AS source, unnest($3::text[]) AS event_id) AS r
CROSS JOIN LATERAL (SELECT FROM restaq.event WHERE event_id = r.event_id AND source = r.source LIMIT 1) ev`

	newEventSQL = `SELECT $1::integer FROM restaq.event WHERE event_id = $3::text AND source = $2::integer`
)

// lookupColumns are events to be looked up, column by column.
func (b *batch) lookupColumns(calls []*call) []*array {
	numbers, sources, ids := b.column(pgtype.Int4OID), b.column(pgtype.Int4OID), b.column(pgtype.TextOID)
	for i, c := range calls {
		in := c.in.(*lookupCall)
		numbers.int4(int32(i))
		sources.int4(in.term)
		ids.text(in.id)
	}
	return []*array{numbers, sources, ids}
}

// sharedLookup commits the calls whose events are new. The others find theirs
// by a sharedReading.
func (s *Store) sharedLookup(b *batch, calls []*call) {
	for _, c := range calls {
		c.committed = true
	}
	read := func(row [][]byte) error {
		calls[readInt(row[0])].committed = false
		return nil
	}
	columns := b.lookupColumns(calls)
	if len(calls) == 1 {
		b.addOne(newEventSQL, read, columns...)
		return
	}
	b.add(newEventsSQL, read, columns...)
}

// readingSQL is lookupSQL for many events.
const readingSQL = `
SELECT r.n, ` + foundColumns + `
FROM (SELECT unnest($1::integer[]) AS n, unnest($2::integer[]) AS source, unnest($3::text[]) AS event_id) AS r
JOIN restaq.event ev ON ev.event_id = r.event_id AND ev.source = r.source` + foundTables + `
ORDER BY r.n, e.created_at, e.id`

// sharedReading reads events with their original executions.
func (s *Store) sharedReading(b *batch, calls []*call) {
	for _, c := range calls {
		c.committed, c.out = true, (*restaq.StoredEvent)(nil)
	}
	b.add(readingSQL, func(row [][]byte) error {
		c := calls[readInt(row[0])]
		x := readExecution(row[1:])
		c.out = joinFound(c.out.(*restaq.StoredEvent), &x)
		return nil
	}, b.lookupColumns(calls)...)
}

// These insert many events, none of which is twice among the arguments, with
// their executions, but neither keys nor replays nor dead executions. Nothing
// makes room for what is there already: if an event is, as somebody else has
// delivered it since it was looked up, all of it fails, and each call goes the
// careful way. Events are inserted in the order of their keys: two processes
// that insert the same ones wait for each other one way round.
const (
	eventsSQL = `
INSERT INTO restaq.event (source, event_id, provider, type, payload, header, executions, received_at)
SELECT source, event_id, provider, type, payload, header,
	CASE WHEN first <= last THEN ($9::uuid[])[first:last] END, now()
FROM (SELECT unnest($1::integer[]) AS source, unnest($2::text[]) AS event_id,
	unnest($3::integer[]) AS provider, unnest($4::integer[]) AS type, unnest($5::bytea[]) AS payload, unnest($6::bytea[]) AS header,
	unnest($7::integer[]) AS first, unnest($8::integer[]) AS last) AS n
RETURNING received_at`

	executionsSQL = `
INSERT INTO restaq.execution (id, handler, source, event_id, created_at)
SELECT unnest($1::uuid[]), unnest($2::integer[]), unnest($3::integer[]), unnest($4::text[]), now()`

	workSQL = `
INSERT INTO restaq.work (execution, handler, token, attempts, due_at, lease_until, started_at, owner, status)
SELECT id, handler, begun, begun,
	CASE begun WHEN 0 THEN now() END,
	clock_timestamp() + lease * interval '1 microsecond',
	CASE begun WHEN 1 THEN now() END,
	owner, CASE begun WHEN 1 THEN 'running' ELSE 'pending' END
FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::integer[]) AS handler, unnest($3::integer[]) AS begun,
	unnest($4::bigint[]) AS lease, unnest($5::uuid[]) AS owner) AS n`

	// One event with one execution in one statement. Where there are others in
	// the commit, those above cost the server less.
	oneInsertSQL = `
WITH ev AS (
	INSERT INTO restaq.event (source, event_id, provider, type, payload, header, executions, received_at)
	VALUES ($1::integer, $2::text, $3::integer, $4::integer, $5::bytea, $6::bytea, ARRAY[$7::uuid], now())
	RETURNING received_at
), made AS (
	INSERT INTO restaq.execution (id, handler, source, event_id, created_at)
	SELECT $7::uuid, $8::integer, $1::integer, $2::text, now() FROM ev
)
INSERT INTO restaq.work (execution, handler, token, attempts, due_at, lease_until, started_at, owner, status)
SELECT $7::uuid, $8::integer, $9::integer, $9::integer,
	CASE $9::integer WHEN 0 THEN now() END,
	clock_timestamp() + $10::bigint * interval '1 microsecond',
	CASE $9::integer WHEN 1 THEN now() END,
	$11::uuid, CASE $9::integer WHEN 1 THEN 'running' ELSE 'pending' END
FROM ev
RETURNING now()`
)

// insertCall is what Insert is asked for.
type insertCall struct {
	*restaq.Insertion
	key      eventKey
	ids      []pgtype.UUID // of the executions
	handlers []int32       // theirs
	terms    [3]int32      // of the event
}

// insertResult is what comes of it.
type insertResult struct {
	created    bool
	executions []restaq.Execution
}

// insertRows are events and executions column by column.
type insertRows struct {
	sources, events, providers, types, payloads, headers, firsts, lasts *array

	ids, handlers, sourcesOf, eventsOf, begun, leases, owners *array
}

func (b *batch) inserts() insertRows {
	return insertRows{
		sources: b.column(pgtype.Int4OID), events: b.column(pgtype.TextOID),
		providers: b.column(pgtype.Int4OID), types: b.column(pgtype.Int4OID),
		payloads: b.column(pgtype.ByteaOID), headers: b.column(pgtype.ByteaOID),
		firsts: b.column(pgtype.Int4OID), lasts: b.column(pgtype.Int4OID),
		ids: b.column(pgtype.UUIDOID), handlers: b.column(pgtype.Int4OID),
		sourcesOf: b.column(pgtype.Int4OID), eventsOf: b.column(pgtype.TextOID),
		begun: b.column(pgtype.Int4OID), leases: b.column(pgtype.Int8OID), owners: b.column(pgtype.UUIDOID),
	}
}

func (r *insertRows) add(in *insertCall) {
	e := in.Event
	r.sources.int4(in.terms[0])
	r.events.text(e.ID)
	r.providers.int4(in.terms[1])
	r.types.int4(in.terms[2])
	r.payloads.bytes(e.Payload)
	r.headers.bytes(encodeHeader(e.Header))
	r.firsts.int4(int32(r.ids.n) + 1)
	for i := range in.Executions {
		r.ids.uuid(in.ids[i])
		r.handlers.int4(in.handlers[i])
		r.sourcesOf.int4(in.terms[0])
		r.eventsOf.text(e.ID)
		if in.Executions[i].Begin {
			r.begun.int4(1)
			r.leases.int8(in.Lease.Microseconds())
			r.owners.uuid(ownerID(in.Owner))
		} else {
			r.begun.int4(0)
			r.leases.null()
			r.owners.null()
		}
	}
	r.lasts.int4(int32(r.ids.n))
}

// sharedInsert inserts new events with their executions.
func (s *Store) sharedInsert(b *batch, calls []*call) {
	slices.SortStableFunc(calls, func(x, y *call) int {
		return compareKeys(x.in.(*insertCall).key, y.in.(*insertCall).key)
	})
	rows := b.inserts()
	var winners []*call // the others are of the same events
	for i, c := range calls {
		in := c.in.(*insertCall)
		c.committed, c.out = true, insertResult{}
		if i == 0 || in.key != calls[i-1].in.(*insertCall).key {
			winners = append(winners, c)
			rows.add(in)
		}
	}
	if in := winners[0].in.(*insertCall); b.alone && len(in.ids) == 1 {
		b.addOne(oneInsertSQL, func(row [][]byte) error {
			winners[0].out = s.inserted(in, readTime(row[0]))
			return nil
		}, rows.sources, rows.events, rows.providers, rows.types, rows.payloads, rows.headers,
			rows.ids, rows.handlers, rows.begun, rows.leases, rows.owners)
		return
	}
	n := 0
	b.add(eventsSQL, func(row [][]byte) error {
		winners[n].out = s.inserted(winners[n].in.(*insertCall), readTime(row[0]))
		n++
		return nil
	}, rows.sources, rows.events, rows.providers, rows.types, rows.payloads, rows.headers, rows.firsts, rows.lasts, rows.ids)
	if rows.ids.n > 0 {
		b.add(executionsSQL, nil, rows.ids, rows.handlers, rows.sourcesOf, rows.eventsOf)
		b.add(workSQL, nil, rows.ids, rows.handlers, rows.begun, rows.leases, rows.owners)
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

// plainInsert returns an insertion as sharedInsert takes it, or nil if it is one
// for the careful way.
func (s *Store) plainInsert(ctx context.Context, in *restaq.Insertion) (*insertCall, error) {
	c := &insertCall{Insertion: in, key: eventKey{in.Event.Source, in.Event.ID}}
	n := len(in.Executions)
	c.ids, c.handlers = make([]pgtype.UUID, n), make([]int32, n)
	for i := range in.Executions {
		e := &in.Executions[i]
		id, ok := parseID(e.ID)
		if !ok || e.OrderKey != "" || e.ReplayOf != "" || e.Error != "" || slices.Contains(c.ids[:i], id) {
			return nil, nil
		}
		handler, err := s.resolve(ctx, term{name: e.Handler})
		if err != nil {
			return nil, err
		}
		if slices.Contains(c.handlers[:i], handler) {
			return nil, nil
		}
		c.ids[i], c.handlers[i] = id, handler
	}
	var err error
	c.terms, err = s.eventTerms(ctx, in.Event)
	return c, err
}

// insertShared inserts a new event in a commit that others share. done is false
// if it has to be done the careful way.
func (s *Store) insertShared(ctx context.Context, in *restaq.Insertion) (done bool, result insertResult, err error) {
	plain, err := s.plainInsert(ctx, in)
	if err != nil || plain == nil {
		return false, result, err
	}
	c := newCall(arrivals, 200+len(in.Event.Payload))
	defer c.free()
	c.in = plain
	if err := s.writes.do(ctx, c); err != nil || !c.committed {
		return false, result, err
	}
	result = c.out.(insertResult)
	s.begun(result.executions)
	return true, result, nil
}

// begun remembers the executions that were begun by an insertion.
func (s *Store) begun(made []restaq.Execution) {
	for i := range made {
		x := &made[i]
		if id, ok := parseID(x.ID); ok && x.Status == restaq.Running {
			s.tails.put(newTail(x, id, 1, restaq.Automatic, x.CreatedAt))
		}
	}
}
