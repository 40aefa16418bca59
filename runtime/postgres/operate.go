package postgres

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

// SeeCommits has fn told how many calls each commit holds.
func (s *Store) SeeCommits(fn func(writes int)) { s.writes.seen = fn }

// addCountsSQL adds counts in the order of their keys, so that processes whose
// minute ends at once wait for each other one way round. The rows of one
// statement have distinct keys.
const addCountsSQL = `
INSERT INTO restaq.count AS c (minute, kind, name, result, bucket, n)
SELECT a.minute, a.kind, a.name, a.result, a.bucket, a.n
FROM json_to_recordset($1::text::json) AS a (minute timestamptz, kind text, name text, result text, bucket smallint, n bigint)
WHERE a.minute >= now() - $2::bigint * interval '1 microsecond'
ORDER BY a.minute, a.kind COLLATE "C", a.name COLLATE "C", a.result COLLATE "C", a.bucket
ON CONFLICT (minute, kind, name, result, bucket) DO UPDATE SET n = c.n + excluded.n`

// dropCountsSQL deletes old counts, unless somebody else is at it.
const dropCountsSQL = `
DELETE FROM restaq.count WHERE (minute, kind, name, result, bucket) IN (
	SELECT minute, kind, name, result, bucket FROM restaq.count
	WHERE minute < now() - $1::bigint * interval '1 microsecond'
	LIMIT 10000 FOR UPDATE SKIP LOCKED)`

// AddCounts adds to the counts of their minutes.
func (s *Store) AddCounts(ctx context.Context, counts []restaq.Count, keep time.Duration) error {
	data, err := json.Marshal(sumCounts(counts))
	if err == nil {
		err = s.statement(ctx, func(q querier) error {
			_, err := column[string](ctx, q, s.q(addCountsSQL), string(data), keep.Microseconds())
			return err
		})
	}
	if err == nil {
		err = s.statement(ctx, func(q querier) error {
			_, err := column[string](ctx, q, s.q(dropCountsSQL), keep.Microseconds())
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("add counts: %w", err)
	}
	return nil
}

// sumCounts returns counts with one for a key.
func sumCounts(counts []restaq.Count) []restaq.Count {
	sums := make(map[restaq.Count]int64, len(counts))
	for _, c := range counts {
		n := c.N
		c.Minute, c.N = c.Minute.UTC().Truncate(time.Minute), 0
		sums[c] += n
	}
	all := make([]restaq.Count, 0, len(sums))
	for c, n := range sums {
		c.N = n
		all = append(all, c)
	}
	return all
}

// countsSQL has PostgreSQL add up. Its text order is that of bytes, as
// the columns say.
const countsSQL = `
SELECT date_bin($3::bigint * interval '1 microsecond', minute, 'epoch'::timestamptz), kind, name, result, bucket, sum(n)::bigint
FROM restaq.count
WHERE minute >= $1::timestamptz AND minute < $2::timestamptz
GROUP BY 1, 2, 3, 4, 5`

// Counts returns counts by spans of step.
func (s *Store) Counts(ctx context.Context, since, until time.Time, step time.Duration) ([]restaq.Count, error) {
	var all []restaq.Count
	err := s.statement(ctx, func(q querier) error {
		rows, err := q.Query(ctx, s.q(countsSQL), since, until, step.Microseconds())
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c restaq.Count, err error) {
			err = row.Scan(utc{&c.Minute}, &c.Kind, &c.Name, &c.Result, &c.Bucket, &c.N)
			return c, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	slices.SortFunc(all, func(a, b restaq.Count) int {
		return cmp.Or(a.Minute.Compare(b.Minute), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Result, b.Result), cmp.Compare(a.Bucket, b.Bucket))
	})
	return all, nil
}

// auditSQL appends entries in their order, all at the transaction's time.
const auditSQL = `
INSERT INTO restaq.audit (person, action, execution, detail)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])`

// AppendAudit appends entries.
func (s *Store) AppendAudit(ctx context.Context, entries []restaq.AuditEntry) error {
	var persons, actions, executions, details []string
	for _, e := range entries {
		persons, actions = append(persons, e.Person), append(actions, e.Action)
		executions, details = append(executions, e.Execution), append(details, e.Detail)
	}
	err := s.statement(ctx, func(q querier) error {
		_, err := column[string](ctx, q, s.q(auditSQL), persons, actions, executions, details)
		return err
	})
	if err != nil {
		return fmt.Errorf("append audit: %w", err)
	}
	return nil
}

// Audit returns a page of entries, newest first.
func (s *Store) Audit(ctx context.Context, f restaq.AuditFilter) (restaq.AuditPage, error) {
	page, err := s.auditPage(ctx, f)
	if err != nil {
		return restaq.AuditPage{}, fmt.Errorf("read audit: %w", err)
	}
	return page, nil
}

func (s *Store) auditPage(ctx context.Context, f restaq.AuditFilter) (page restaq.AuditPage, err error) {
	if f.Limit <= 0 {
		f.Limit = defaultLimit
	}
	f.Limit = min(f.Limit, maxLimit)
	var l listQuery
	l.write(`SELECT id, at, person, action, execution, detail FROM restaq.audit WHERE true`)
	for _, term := range []struct{ column, value string }{{`person`, f.Person}, {`action`, f.Action}} {
		if term.value != "" {
			l.write(` AND ` + term.column + ` = ` + l.arg(term.value) + `::text`)
		}
	}
	if f.Execution != "" {
		l.write(` AND execution <> '' AND execution = ` + l.arg(f.Execution) + `::text`)
	}
	l.since(&restaq.Filter{Since: f.Since, Until: f.Until}, `at`)
	if f.Cursor != "" {
		id, err := parsePosition(f.Cursor)
		if err != nil {
			return page, err
		}
		l.write(` AND id < ` + l.arg(id) + `::bigint`)
	}
	l.write(` ORDER BY id DESC LIMIT ` + l.arg(int64(f.Limit)+1) + `::bigint`)
	var ids []int64
	err = s.statement(ctx, func(q querier) error {
		ids, page.Entries = nil, nil
		rows, err := q.Query(ctx, s.q(l.sql.String()), l.args...)
		if err != nil {
			return err
		}
		var id int64
		var e restaq.AuditEntry
		_, err = pgx.ForEachRow(rows, []any{&id, utc{&e.At}, &e.Person, &e.Action, &e.Execution, &e.Detail}, func() error {
			ids, page.Entries = append(ids, id), append(page.Entries, e)
			return nil
		})
		return err
	})
	if err != nil {
		return restaq.AuditPage{}, err
	}
	if len(ids) > f.Limit {
		page.Entries, page.Next = page.Entries[:f.Limit], position(ids[f.Limit-1])
	}
	return page, nil
}

// position is a cursor that names the last row of a page.
func position(id int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(id, 10)))
}

func parsePosition(cursor string) (int64, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, restaq.ErrCursor
	}
	id, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, restaq.ErrCursor
	}
	return id, nil
}
