-- What happened stands in event, execution, attempt and step: rows that are
-- inserted and never updated (an event's payload goes when its executions are
-- pruned). What is still to do stands in work, a small table beside them.
-- An execution without a row in work is completed.
--
-- There are no foreign keys. Each would be checked by a query per row, and a
-- lock on the parent; the statements that write children lock their row of
-- work anyway, and only a prune deletes parents, after it has locked them.
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
-- names of handlers and of steps' functions, fingerprints of shapes. 0 is none.
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

-- seq is the order of arrival. unhandled marks an event that never had an
-- execution. header is JSON; bytea, as json would refuse some of it.
CREATE TABLE restaq.event (
	seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	received_at timestamptz NOT NULL,
	unhandled   boolean NOT NULL,
	source      text COLLATE "C" NOT NULL,
	event_id    text COLLATE "C" NOT NULL,
	provider    text COLLATE "C" NOT NULL,
	type        text COLLATE "C" NOT NULL,
	payload     bytea,
	header      bytea
);

-- The one index that decides every race of deliveries.
CREATE UNIQUE INDEX event_id ON restaq.event (event_id, source);

CREATE INDEX event_unhandled ON restaq.event (received_at, seq) WHERE unhandled;

CREATE TABLE restaq.execution (
	id         uuid PRIMARY KEY,
	event      bigint NOT NULL,
	created_at timestamptz NOT NULL,
	handler    integer NOT NULL, -- a term
	replay_of  uuid,
	order_key  text COLLATE "C" NOT NULL
);

CREATE INDEX execution_event ON restaq.execution (event);

CREATE INDEX execution_created ON restaq.execution (created_at, id);

-- Ended attempts. token is the fencing token of the process that ended its own
-- attempt, 0 if somebody else did. earlier is the error of the last failed
-- attempt before one that completed: where the execution's error stays when
-- its row of work goes.
CREATE TABLE restaq.attempt (
	execution  uuid NOT NULL,
	number     integer NOT NULL,
	kind       smallint NOT NULL,
	token      bigint NOT NULL,
	started_at timestamptz NOT NULL,
	ended_at   timestamptz NOT NULL,
	outcome    text COLLATE "C" NOT NULL,
	error      text COLLATE "C" NOT NULL DEFAULT '',
	step       text COLLATE "C" NOT NULL DEFAULT '',
	earlier    text COLLATE "C" NOT NULL DEFAULT '',
	detail     bytea,
	PRIMARY KEY (execution, number)
);

-- func and shape are terms. status: 0 completed, 1 failed, 2 permanent,
-- 3 skipped.
CREATE TABLE restaq.step (
	execution  uuid NOT NULL,
	started_at timestamptz NOT NULL,
	ended_at   timestamptz NOT NULL,
	attempt    integer NOT NULL,
	seq        integer NOT NULL,
	func       integer NOT NULL,
	shape      integer NOT NULL,
	status     smallint NOT NULL,
	name       text COLLATE "C" NOT NULL,
	error      text COLLATE "C" NOT NULL,
	output     bytea,
	inputs     bytea,
	detail     bytea,
	PRIMARY KEY (execution, attempt, seq)
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
--   event       the order of arrival, for order keys
--
-- A renewal changes lease_until and step. No index and no predicate names
-- either, and pages are kept half empty, so renewals are HOT updates.
CREATE TABLE restaq.work (
	execution   uuid PRIMARY KEY,
	event       bigint NOT NULL,
	token       bigint NOT NULL,
	attempts    integer NOT NULL,
	kind        smallint NOT NULL DEFAULT 0,
	wish        smallint NOT NULL DEFAULT 0,
	due_at      timestamptz,
	finished_at timestamptz,
	lease_until timestamptz,
	started_at  timestamptz,
	owner       uuid,
	handler     integer NOT NULL, -- a term
	order_key   text COLLATE "C" NOT NULL,
	status      text COLLATE "C" NOT NULL,
	error       text COLLATE "C" NOT NULL DEFAULT '',
	step        text COLLATE "C" NOT NULL DEFAULT ''
) WITH (
	fillfactor = 50,
	autovacuum_vacuum_scale_factor = 0.05,
	autovacuum_vacuum_threshold = 1000,
	autovacuum_analyze_scale_factor = 0.1,
	autovacuum_analyze_threshold = 1000
);

-- What a claim looks through: due ones first, running ones (due_at is null)
-- at the end of their handler's range.
CREATE INDEX work_unfinished ON restaq.work (handler, due_at) WHERE finished_at IS NULL;

-- Who comes before whom under one order key. Its hash, as keys may be long.
CREATE INDEX work_order ON restaq.work (hashtextextended(order_key, 0), event, execution)
	WHERE order_key <> '' AND finished_at IS NULL;

-- What a prune looks through.
CREATE INDEX work_finished ON restaq.work (finished_at) WHERE finished_at IS NOT NULL;
