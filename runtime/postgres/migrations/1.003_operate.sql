-- How often something happened in a minute. n adds up over processes. Old rows
-- are deleted by who adds new ones.
CREATE TABLE restaq.count (
	minute timestamptz NOT NULL,
	kind   text COLLATE "C" NOT NULL,
	name   text COLLATE "C" NOT NULL,
	result text COLLATE "C" NOT NULL,
	bucket smallint NOT NULL,
	n      bigint NOT NULL,
	PRIMARY KEY (minute, kind, name, result, bucket)
);

-- What people asked for; rows are inserted and never updated.
CREATE TABLE restaq.audit (
	id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at        timestamptz NOT NULL DEFAULT now(),
	person    text COLLATE "C" NOT NULL,
	action    text COLLATE "C" NOT NULL,
	execution text COLLATE "C" NOT NULL,
	detail    text COLLATE "C" NOT NULL
);

CREATE INDEX audit_execution ON restaq.audit (execution, id) WHERE execution <> '';
