package postgres

import (
	"bytes"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// entryRows are steps to be appended to logs, column by column.
type entryRows struct {
	executions, tokens, positions, funcs, seqs, started, ended, outcomes, names, errs, outputs, inputs, details *array

	n     int
	plain bool // no row has anything in seqs, outcomes, errs and details
}

// entries returns rows to be appended.
func (b *batch) entries() entryRows {
	return entryRows{
		executions: b.column(pgtype.UUIDOID), tokens: b.column(pgtype.Int4OID), positions: b.column(pgtype.Int4OID),
		funcs: b.column(pgtype.Int4OID), seqs: b.column(pgtype.Int4OID),
		started: b.column(pgtype.TimestamptzOID), ended: b.column(pgtype.TimestamptzOID), outcomes: b.column(pgtype.Int2OID),
		names: b.column(pgtype.TextOID), errs: b.column(pgtype.TextOID),
		outputs: b.column(pgtype.ByteaOID), inputs: b.column(pgtype.ByteaOID), details: b.column(pgtype.ByteaOID),
		plain: true,
	}
}

// add adds a step at a position. fn is the term of its function and shape.
func (r *entryRows) add(id pgtype.UUID, token, position int32, step *restaq.StepRow, fn int32) {
	r.n++
	r.executions.uuid(id)
	r.tokens.int4(token)
	r.positions.int4(position)
	r.funcs.int4(fn)
	if int32(step.Seq) == position {
		r.seqs.null()
	} else {
		r.seqs.int4(int32(step.Seq))
	}
	r.started.time(step.StartedAt)
	r.ended.time(step.EndedAt)
	outcome := statusCode(step.Status)
	r.outcomes.int2(outcome)
	r.names.text(step.Name)
	r.errs.textOrNull(step.Error)
	r.outputs.bytes(step.Output)
	r.inputs.bytes(step.Inputs)
	r.details.bytes(step.Detail)
	r.plain = r.plain && int32(step.Seq) == position && outcome == 0 && step.Error == "" && step.Detail == nil
}

// addNew adds those of an attempt's steps that its log has not, from position
// next on, which it moves on.
func (r *entryRows) addNew(id pgtype.UUID, token int32, next *int32, written *seqs, steps []restaq.StepRow, terms []int32) {
	for i := range steps {
		if step := &steps[i]; !written.has(step.Seq) {
			r.add(id, token, *next, step, terms[i])
			written.add(step.Seq)
			*next++
		}
	}
}

// all are all columns in the order of entryColumns.
func (r *entryRows) all() []*array {
	return []*array{
		r.executions, r.tokens, r.positions, r.funcs, r.seqs, r.started, r.ended, r.outcomes, r.names, r.errs, r.outputs, r.inputs, r.details,
	}
}

const entryColumns = `execution, token, position, func, seq, started_at, ended_at, outcome, name, error, output, inputs, detail`

// entriesSQL is the rows of entryRows as a table r.
const entriesSQL = `(SELECT unnest($1::uuid[]) AS execution, unnest($2::integer[]) AS token, unnest($3::integer[]) AS position,
		unnest($4::integer[]) AS func, unnest($5::integer[]) AS seq,
		unnest($6::timestamptz[]) AS started_at, unnest($7::timestamptz[]) AS ended_at, unnest($8::smallint[]) AS outcome,
		unnest($9::text[]) AS name, unnest($10::text[]) AS error,
		unnest($11::bytea[]) AS output, unnest($12::bytea[]) AS inputs, unnest($13::bytea[]) AS detail) AS r`

// These append steps to the logs of attempts that this process runs, without a
// look at anything else. They are safe by their positions: the log of an attempt
// that was taken over, cancelled or finished ends with an entry at the first
// position that its owner did not fill, so an owner that has lost its lease, or
// a statement of it that comes late, finds its position taken. The statement
// then fails, and all its callers go the careful way. Whoever ends the log at
// that moment waits for this write, and if it commits, does not.
//
// Most steps are plain ones, which need fewer columns; one row needs no arrays.
const (
	oneEntrySQL = `
INSERT INTO restaq.entry (` + entryColumns + `)
VALUES ($1::uuid, $2::integer, $3::integer, $4::integer, $5::integer, $6::timestamptz, $7::timestamptz, $8::smallint,
	$9::text, $10::text, $11::bytea, $12::bytea, $13::bytea)`

	plainEntriesSQL = `
INSERT INTO restaq.entry (execution, token, position, func, started_at, ended_at, outcome, name, output, inputs)
SELECT unnest($1::uuid[]), unnest($2::integer[]), unnest($3::integer[]), unnest($4::integer[]),
	unnest($5::timestamptz[]), unnest($6::timestamptz[]), 0, unnest($7::text[]), unnest($8::bytea[]), unnest($9::bytea[])`

	allEntriesSQL = `
INSERT INTO restaq.entry (` + entryColumns + `)
SELECT r.* FROM ` + entriesSQL
)

// append adds the statement that appends rows, if there are any.
func (b *batch) append(r *entryRows) {
	switch {
	case r.n == 0:
	case r.n == 1:
		b.addOne(oneEntrySQL, nil, r.all()...)
	case r.plain:
		b.add(plainEntriesSQL, nil, r.executions, r.tokens, r.positions, r.funcs, r.started, r.ended, r.names, r.outputs, r.inputs)
	default:
		b.add(allEntriesSQL, nil, r.all()...)
	}
}

// appendSQL goes on from a common table held (execution, token), the rows of
// work that the statement has locked and whose tokens it has tested, and
// appends steps to their logs.
const appendSQL = `
rows AS (` + appendRowsSQL + `
)`

const appendRowsSQL = `
	INSERT INTO restaq.entry (` + entryColumns + `)
	SELECT r.* FROM held h JOIN ` + entriesSQL + ` ON r.execution = h.execution AND r.token = h.token`

// logSQL reads where the log of an attempt ends, and what stands in it.
const logSQL = `
SELECT position, coalesce(seq, position), kind IS NOT NULL FROM restaq.entry
WHERE execution = $1::uuid AND token = $2::bigint`

// readLog returns where the next entry of a log goes, and the calls that it has.
func (s *Store) readLog(ctx context.Context, q querier, id pgtype.UUID, token int64) (next int32, written seqs, err error) {
	rows, err := q.Query(ctx, s.q(logSQL), id, token)
	if err != nil {
		return 0, nil, err
	}
	var position, seq int32
	var end bool
	_, err = pgx.ForEachRow(rows, []any{&position, &seq, &end}, func() error {
		next = max(next, position)
		if !end {
			written.add(int(seq))
		}
		return nil
	})
	return next + 1, written, err
}

// stepTerms are the ids of the functions of steps.
func (s *Store) stepTerms(ctx context.Context, steps []restaq.StepRow) ([]int32, error) {
	if len(steps) == 0 {
		return nil, nil
	}
	ids := make([]int32, len(steps))
	for i := range steps {
		var err error
		if ids[i], err = s.resolve(ctx, stepTerm(&steps[i])); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// stepSize is about how many bytes steps carry.
func stepSize(steps []restaq.StepRow) (n int) {
	for i := range steps {
		n += 100 + len(steps[i].Output) + len(steps[i].Error) + len(steps[i].Detail)
	}
	return n
}

func compareIDs(a, b pgtype.UUID) int { return bytes.Compare(a.Bytes[:], b.Bytes[:]) }
