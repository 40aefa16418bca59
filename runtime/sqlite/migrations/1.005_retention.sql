-- Events that may be forgotten: those that never had an execution, and those
-- whose last one was pruned.
CREATE INDEX restaq_event_spent ON restaq_event (provider, received_at)
	WHERE unhandled = 1 OR payload IS NULL AND header IS NULL;

-- What a prune of cancelled executions alone looks through: there are few.
CREATE INDEX restaq_execution_cancelled ON restaq_execution (created_at) WHERE status = 'cancelled';

-- Who does what one process at a time does, and until when it is theirs.
CREATE TABLE restaq_turn (
	name  TEXT PRIMARY KEY,
	owner TEXT NOT NULL,
	until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
