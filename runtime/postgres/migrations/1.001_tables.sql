-- What happened stands in event, execution and entry: rows that are inserted and
-- not updated (an event notes executions that are added to it, and loses its
-- payload when they are pruned). What is still to do stands in work, a small
-- table beside them. An execution without a row in work is completed.
--
-- There are no foreign keys. Each would be checked by a query per row, and a
-- lock on the parent; only a prune deletes parents, after it has locked them.
--
-- Text is compared by its bytes (COLLATE "C"): the same order as Go's, and no
-- index depends on the version of the system's locale data.

CREATE TABLE restaq.meta (
	key   text COLLATE "C" PRIMARY KEY,
	value bytea NOT NULL
);

CREATE TABLE restaq.handler (
	name   text COLLATE "C" PRIMARY KEY,
	events text[] NOT NULL
);

-- Texts of which there are few, and which would otherwise stand in every row:
-- names of handlers, sources, providers and types of events, and of each step's
-- function, a newline after which is the fingerprint of its output's shape. 0 is
-- none.
CREATE TABLE restaq.term (
	id   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	text text COLLATE "C" NOT NULL UNIQUE
);

INSERT INTO restaq.term (id, text) OVERRIDING SYSTEM VALUE VALUES (0, '');

-- term_id returns a text's id, and gives it one if it has none. Each statement
-- in it has a snapshot of its own, so whoever loses a race sees the winner's.
CREATE FUNCTION restaq.term_id(wanted text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
	found_id integer;
BEGIN
	LOOP
		SELECT id INTO found_id FROM restaq.term WHERE text = wanted;
		EXIT WHEN found_id IS NOT NULL;
		INSERT INTO restaq.term (text) VALUES (wanted) ON CONFLICT (text) DO NOTHING RETURNING id INTO found_id;
		EXIT WHEN found_id IS NOT NULL;
	END LOOP;
	RETURN found_id;
END
$$;

-- source, provider and type are terms. executions are all that were ever made of
-- the event, null if there never was one. header is JSON; bytea, as json would
-- refuse some of it.
--
-- The primary key decides every race of deliveries.
CREATE TABLE restaq.event (
	received_at timestamptz NOT NULL,
	source      integer NOT NULL,
	provider    integer NOT NULL,
	type        integer NOT NULL,
	event_id    text COLLATE "C" NOT NULL,
	executions  uuid[],
	payload     bytea,
	header      bytea,
	PRIMARY KEY (event_id, source)
);

CREATE INDEX event_unhandled ON restaq.event (received_at, event_id, source) WHERE executions IS NULL;

-- handler and source are terms; source and event_id name the event. order_key is
-- null for none, as is place, which is where the execution stands under it.
--
-- An id begins with the time at which it was made, by the clock of the process
-- that made it. So the primary key also lists executions by age, and finds those
-- of a time, if a day is added for clocks that are wrong.
CREATE TABLE restaq.execution (
	id         uuid PRIMARY KEY,
	created_at timestamptz NOT NULL,
	handler    integer NOT NULL,
	source     integer NOT NULL,
	event_id   text COLLATE "C" NOT NULL,
	replay_of  uuid,
	place      bigint,
	order_key  text COLLATE "C"
);

-- The logs of attempts: the steps of each and, last, its end. token is the
-- fencing token of its lease. Positions begin at 1 and leave none out, and an
-- entry follows only entries that are committed or commit with it. So the
-- primary key decides every race between an attempt's writes and whoever ends it
-- from outside: both want the same position.
--
--   outcome    of a step: 0 completed, 1 failed, 2 permanent, 3 skipped
--              of an attempt: 0 completed, 1 failed, 2 interrupted, 3 lost,
--              4 cancelled
--   name       the step's; of an end, of the step whose failure ended the attempt
--   error, detail: of either; null for none
--
-- Of a step alone:
--
--   seq        its place in the order of calls; null if that is its position
--   func       the term of its function and its output's shape
--
-- Of an end alone:
--
--   kind       why the attempt was begun; null marks a step
--   attempt    its number; null if it does not count
--   earlier    the error of the last failed attempt before one that completed:
--              where the execution's error stays when its row of work goes
CREATE TABLE restaq.entry (
	execution  uuid NOT NULL,
	started_at timestamptz NOT NULL,
	ended_at   timestamptz NOT NULL,
	token      integer NOT NULL,
	position   integer NOT NULL,
	func       integer,
	seq        integer,
	attempt    integer,
	outcome    smallint NOT NULL,
	kind       smallint,
	name       text COLLATE "C",
	error      text COLLATE "C",
	earlier    text COLLATE "C",
	output     bytea,
	inputs     bytea,
	detail     bytea,
	PRIMARY KEY (execution, token, position)
);

-- The state of every execution that is not completed.
--
--   status      pending, running, failed (with due_at: retrying; without:
--               dead) or cancelled
--   due_at      when it may be claimed; null while running and when finished
--   finished_at null unless dead or cancelled
--   token       the fencing token; grows with every claim
--   kind, wish  why the attempt under way was begun, and why the next will be
--   lease_until, owner, started_at: of the attempt under way
--   order_key   a hash of the order key, which may be long; keys that share it
--               stand in one line. null for none
--   place       under its order key; null without one
--   error, step null for none
--
-- While an execution is running, the log of its token has no end, and no other
-- log of it is without one.
--
-- A renewal changes lease_until and step. No index and no predicate names
-- either, and pages are kept half empty, so renewals are HOT updates.
CREATE TABLE restaq.work (
	execution   uuid PRIMARY KEY,
	token       integer NOT NULL,
	attempts    integer NOT NULL,
	kind        smallint NOT NULL DEFAULT 0,
	wish        smallint NOT NULL DEFAULT 0,
	handler     integer NOT NULL, -- a term
	due_at      timestamptz,
	finished_at timestamptz,
	lease_until timestamptz,
	started_at  timestamptz,
	order_key   bigint,
	place       bigint,
	owner       uuid,
	status      text COLLATE "C" NOT NULL,
	error       text COLLATE "C",
	step        text COLLATE "C"
) WITH (
	fillfactor = 50,
	autovacuum_vacuum_scale_factor = 0.05,
	autovacuum_vacuum_threshold = 1000,
	autovacuum_analyze_scale_factor = 0.1,
	autovacuum_analyze_threshold = 1000
);

-- What a claim looks through: due ones first, running ones (due_at is null)
-- at the end of their handler's range. Those with an order key stand apart: first
-- of each key the one that has it, the one that runs or else by place.
CREATE INDEX work_unfinished ON restaq.work (handler, due_at) WHERE finished_at IS NULL AND order_key IS NULL;

CREATE INDEX work_order ON restaq.work (handler, order_key, (status <> 'running'), place)
	WHERE order_key IS NOT NULL AND finished_at IS NULL;

-- Who died under an order key.
CREATE INDEX work_order_dead ON restaq.work (handler, order_key, place)
	WHERE order_key IS NOT NULL AND status = 'failed' AND finished_at IS NOT NULL;

CREATE SEQUENCE restaq.place;

-- lock_of is the number of an advisory lock, of one purpose of two, for an order
-- key. Other schemas of the database, and other users of such locks, have others.
CREATE FUNCTION restaq.lock_of(of_handler integer, of_key bigint, purpose bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
	SELECT hashint8extended(of_key, hashint8extended(of_handler, 2 * $table$restaq.work$table$::regclass::oid::bigint + purpose))
$$;

-- take_place returns the place of a new execution under an order key. Whoever
-- takes a later one of the same key waits until this transaction has ended, so
-- the order of places is that of the commits.
CREATE FUNCTION restaq.take_place(of_handler integer, of_key bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(restaq.lock_of(of_handler, of_key, 1));
	RETURN nextval($seq$restaq.place$seq$);
END
$$;

-- heads returns executions of a handler that have their order key and are due, or
-- whose lease ran out. It goes from key to key in the order of the index, from
-- one key on and then round to it, until it has as many as wanted. So what is
-- behind others costs nothing, and no key is always the last.
--
-- Whatever the statistics say, the index gives the next key at once.
CREATE FUNCTION restaq.heads(of_handler integer, from_key bigint, most bigint, dead_block boolean)
RETURNS SETOF restaq.work LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
	last_key bigint := from_key;
	round    boolean := false;
	w        restaq.work;
BEGIN
	WHILE most > 0 LOOP
		SELECT * INTO w FROM restaq.work o
		WHERE o.handler = of_handler AND o.order_key > last_key AND o.order_key IS NOT NULL AND o.finished_at IS NULL
		ORDER BY o.order_key, o.status <> 'running', o.place LIMIT 1;
		IF FOUND THEN
			last_key := w.order_key;
		END IF;
		IF round THEN
			EXIT WHEN NOT FOUND OR last_key > from_key;
		ELSIF NOT FOUND THEN
			last_key := -1;
			round := true;
			CONTINUE;
		END IF;
		CONTINUE WHEN coalesce(w.due_at, w.lease_until) > now();
		CONTINUE WHEN dead_block AND w.status <> 'running' AND EXISTS (
			SELECT FROM restaq.work o
			WHERE o.handler = of_handler AND o.order_key = w.order_key AND o.order_key IS NOT NULL
				AND o.status = 'failed' AND o.finished_at IS NOT NULL AND o.place < w.place);
		RETURN NEXT w;
		most := most - 1;
	END LOOP;
END
$$;

-- take_turn reports whether an execution may be claimed now as for its order key.
-- For the rest of the transaction nobody else gets true for the key; so the last
-- statement, which has a snapshot of its own, sees all claims of it. Nobody
-- waits: false may also mean that somebody else is claiming.
CREATE FUNCTION restaq.take_turn(w restaq.work, dead_block boolean) RETURNS boolean LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
	IF NOT pg_try_advisory_xact_lock(restaq.lock_of(w.handler, w.order_key, 2)) THEN
		RETURN false;
	END IF;
	RETURN w.execution = (
		SELECT o.execution FROM restaq.work o
		WHERE o.handler = w.handler AND o.order_key = w.order_key AND o.order_key IS NOT NULL AND o.finished_at IS NULL
		ORDER BY o.status <> 'running', o.place LIMIT 1)
		AND (NOT dead_block OR w.status = 'running' OR NOT EXISTS (
			SELECT FROM restaq.work o
			WHERE o.handler = w.handler AND o.order_key = w.order_key AND o.order_key IS NOT NULL
				AND o.status = 'failed' AND o.finished_at IS NOT NULL AND o.place < w.place));
END
$$;

-- What a prune looks through.
CREATE INDEX work_finished ON restaq.work (finished_at) WHERE finished_at IS NOT NULL;
