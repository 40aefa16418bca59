-- Events that may be forgotten: those that never had an execution, and those
-- whose last one was pruned. A delivery that is handled writes nothing here.
CREATE INDEX event_spent ON restaq.event (provider, received_at)
	WHERE executions IS NULL OR executions = '{}';

-- Who does what one process at a time does, and until when it is theirs.
CREATE TABLE restaq.turn (
	name  text COLLATE "C" PRIMARY KEY,
	owner text COLLATE "C" NOT NULL,
	until timestamptz NOT NULL
);
