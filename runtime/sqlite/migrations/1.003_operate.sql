-- How often something happened, by minutes since 1970. n adds up over
-- processes. Old rows are deleted by who adds new ones.
CREATE TABLE restaq_count (
	minute INTEGER NOT NULL,
	kind   TEXT NOT NULL,
	name   TEXT NOT NULL,
	result TEXT NOT NULL,
	bucket INTEGER NOT NULL,
	n      INTEGER NOT NULL,
	PRIMARY KEY (minute, kind, name, result, bucket)
) STRICT, WITHOUT ROWID;

-- What people asked for; rows are inserted and never updated.
CREATE TABLE restaq_audit (
	seq       INTEGER PRIMARY KEY,
	at        INTEGER NOT NULL,
	person    TEXT NOT NULL,
	action    TEXT NOT NULL,
	execution TEXT NOT NULL,
	detail    TEXT NOT NULL
) STRICT;

CREATE INDEX restaq_audit_execution ON restaq_audit (execution) WHERE execution <> '';
