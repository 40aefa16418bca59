-- The tables share their file with the user's own, hence the prefix.
--
-- Times are microseconds since 1970. Texts are compared by their bytes.
-- There are no foreign keys: only a prune deletes parents, and it deletes the
-- children first, in one transaction.

CREATE TABLE restaq_meta (
	key   TEXT PRIMARY KEY,
	value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- events is a JSON array.
CREATE TABLE restaq_handler (
	name   TEXT PRIMARY KEY,
	events TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- seq is the order of arrival. The executions that
-- the delivery made have the numbers from first on; late says that others were
-- added. unhandled marks an event that never had an execution. header is JSON.
-- payload comes last, so that reading the other columns does not touch the
-- pages it overflows to.
CREATE TABLE restaq_event (
	seq         INTEGER PRIMARY KEY,
	received_at INTEGER NOT NULL,
	unhandled   INTEGER NOT NULL,
	first       INTEGER NOT NULL,
	executions  INTEGER NOT NULL,
	late        INTEGER NOT NULL,
	source      TEXT NOT NULL,
	id          TEXT NOT NULL,
	provider    TEXT NOT NULL,
	type        TEXT NOT NULL,
	header      BLOB,
	payload     BLOB
) STRICT;

-- The one index that decides every race of deliveries.
CREATE UNIQUE INDEX restaq_event_id ON restaq_event (id, source);

CREATE INDEX restaq_event_unhandled ON restaq_event (received_at) WHERE unhandled = 1;

-- due_at is set while the execution is unfinished, and says when it may be
-- claimed: since when it is pending, when it is retried, or, while it runs,
-- when its lease ends. A failed one without due_at is dead.
--
-- seq is the order of creation; the number of a pruned execution may be given
-- again. behind marks one that need not be looked at by a claim: an earlier one
-- of its order key is unfinished. kind, started_at and owner are those of the
-- attempt under way; wish is the kind of the next. token is the fencing token and grows with every claim.
CREATE TABLE restaq_execution (
	seq         INTEGER PRIMARY KEY,
	event       INTEGER NOT NULL,
	late        INTEGER NOT NULL,
	created_at  INTEGER NOT NULL,
	due_at      INTEGER,
	finished_at INTEGER,
	started_at  INTEGER,
	token       INTEGER NOT NULL,
	attempts    INTEGER NOT NULL,
	kind        INTEGER NOT NULL,
	wish        INTEGER NOT NULL,
	status      TEXT NOT NULL,
	id          TEXT NOT NULL,
	handler     TEXT NOT NULL,
	order_key   TEXT NOT NULL,
	behind      INTEGER NOT NULL DEFAULT 0,
	replay_of   TEXT NOT NULL,
	owner       TEXT NOT NULL,
	step        TEXT NOT NULL,
	error       TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX restaq_execution_id ON restaq_execution (id);

-- Those that were added after their event's delivery: replays, and those of
-- handlers that came later. The others are found by the event's own columns.
CREATE INDEX restaq_execution_late ON restaq_execution (event) WHERE late = 1;

CREATE INDEX restaq_execution_created ON restaq_execution (created_at);

CREATE INDEX restaq_execution_failed ON restaq_execution (created_at) WHERE status = 'failed';

-- What a claim looks through. It holds unfinished work alone.
CREATE INDEX restaq_execution_due ON restaq_execution (handler, due_at) WHERE due_at IS NOT NULL AND behind = 0;

-- Who comes before whom under one order key: seq, as writers take turns. Who
-- has the key. Who died, and so keeps it if the program says so.
CREATE INDEX restaq_execution_order ON restaq_execution (handler, order_key, seq)
	WHERE due_at IS NOT NULL AND order_key <> '';

CREATE INDEX restaq_execution_order_running ON restaq_execution (handler, order_key)
	WHERE status = 'running' AND order_key <> '';

CREATE INDEX restaq_execution_order_dead ON restaq_execution (handler, order_key, seq)
	WHERE due_at IS NULL AND status = 'failed' AND order_key <> '';

-- Who has leases, and which byte of which file its process keeps locked for as
-- long as it lives.
CREATE TABLE restaq_owner (
	owner TEXT PRIMARY KEY,
	file  TEXT NOT NULL,
	byte  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Ended attempts; execution is the seq. token is that of the process that
-- ended its own attempt, 0 if somebody else did.
CREATE TABLE restaq_attempt (
	execution  INTEGER NOT NULL,
	number     INTEGER NOT NULL,
	kind       INTEGER NOT NULL,
	token      INTEGER NOT NULL,
	started_at INTEGER NOT NULL,
	ended_at   INTEGER NOT NULL,
	outcome    TEXT NOT NULL,
	step       TEXT NOT NULL,
	error      TEXT NOT NULL,
	detail     BLOB,
	PRIMARY KEY (execution, number)
) STRICT, WITHOUT ROWID;

-- Rows are inserted and never updated.
CREATE TABLE restaq_step (
	execution  INTEGER NOT NULL,
	attempt    INTEGER NOT NULL,
	seq        INTEGER NOT NULL,
	started_at INTEGER NOT NULL,
	ended_at   INTEGER NOT NULL,
	status     TEXT NOT NULL,
	name       TEXT NOT NULL,
	func       TEXT NOT NULL,
	shape      TEXT NOT NULL,
	error      TEXT NOT NULL,
	inputs     BLOB,
	detail     BLOB,
	output     BLOB,
	PRIMARY KEY (execution, attempt, seq)
) STRICT, WITHOUT ROWID;
