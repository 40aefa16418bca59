package postgres

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// List returns a page of executions, or of unhandled events, newest first.
func (s *Store) List(ctx context.Context, f restaq.Filter) (restaq.Page, error) {
	if f.Limit <= 0 {
		f.Limit = defaultLimit
	}
	f.Limit = min(f.Limit, maxLimit)
	build := executionList
	if f.Unhandled {
		build = unhandledList
	}
	list, err := build(&f)
	if err != nil {
		return restaq.Page{}, fmt.Errorf("list executions: %w", err)
	}
	var found []restaq.Execution
	var keys []string // where each row stands, for a cursor
	err = s.statement(ctx, func(q querier) error {
		found, keys = nil, nil
		rows, err := q.Query(ctx, s.q(list.sql.String()), list.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var x restaq.Execution
			var key string
			targets := append(executionTargets(&x), stateTargets(&x)...)
			if err := rows.Scan(append(targets, &key)...); err != nil {
				return err
			}
			found, keys = append(found, x), append(keys, key)
		}
		return rows.Err()
	})
	if err != nil {
		return restaq.Page{}, fmt.Errorf("list executions: %w", err)
	}
	page := restaq.Page{Executions: found}
	if last := f.Limit - 1; len(found) > f.Limit {
		page.Executions, page.Next = found[:f.Limit], cursor(found[last].CreatedAt, keys[last])
	}
	return page, nil
}

// listQuery is a statement as it is being put together: only the conditions
// that restrict, so that the planner knows which they are.
type listQuery struct {
	sql  strings.Builder
	args []any
}

func (l *listQuery) write(text string) { l.sql.WriteString(text) }

// arg adds an argument and returns its placeholder.
func (l *listQuery) arg(value any) string {
	l.args = append(l.args, value)
	return "$" + strconv.Itoa(len(l.args))
}

// executionList lists executions. Those that are not completed are found by
// way of the small table of work, if the statuses allow it.
func executionList(f *restaq.Filter) (*listQuery, error) {
	var l listQuery
	l.write(`SELECT ` + executionColumns + `, ` + stateColumns + `, e.id::text`)
	l.executions(f, lastAttempt)
	if f.Cursor != "" {
		_, key, err := parseCursor(f.Cursor)
		if err != nil {
			return nil, err
		}
		id, ok := parseID(key)
		if !ok {
			return nil, restaq.ErrCursor
		}
		l.write(` AND e.id < ` + l.arg(id) + `::uuid`)
	}
	l.write(` ORDER BY e.id DESC LIMIT ` + l.arg(int64(f.Limit)+1) + `::bigint`)
	return &l, nil
}

// executions goes on with the tables and conditions of executions; more are
// tables that the columns before need.
func (l *listQuery) executions(f *restaq.Filter, more string) {
	l.write(`
FROM restaq.execution e
JOIN restaq.event ev ON ` + ofEvent)
	if f.Text != "" || f.StoppedBy != "" || len(f.Statuses) > 0 && !slices.Contains(f.Statuses, string(restaq.Completed)) {
		l.write(`
JOIN restaq.work w ON w.execution = e.id`)
	} else {
		l.write(`
LEFT JOIN restaq.work w ON w.execution = e.id`)
	}
	l.write(more + `
WHERE true`)
	if len(f.Statuses) > 0 {
		l.statuses(f.Statuses)
	}
	if f.StoppedBy != "" {
		l.write(` AND w.status = 'failed' AND w.due_at IS NULL AND w.stopped_by = ` + l.arg(string(f.StoppedBy)) + `::text`)
	}
	if f.Text != "" {
		l.write(` AND w.status = 'failed' AND strpos(w.error, ` + l.arg(f.Text) + `::text) > 0`)
	}
	l.term(`e.handler`, f.Handler)
	l.event(f)
	l.since(f, `e.created_at`)
	if !f.Since.IsZero() {
		l.write(` AND e.id >= ` + l.arg(idAt(f.Since.Add(-clockError))) + `::uuid`)
	}
	if !f.Until.IsZero() {
		l.write(` AND e.id <= ` + l.arg(idAt(f.Until.Add(clockError))) + `::uuid`)
	}
}

// statuses restricts to any of the words.
func (l *listQuery) statuses(words []string) {
	var plain []string
	conditions := []string{}
	for _, word := range words {
		switch word {
		case "dead":
			conditions = append(conditions, `w.status = 'failed' AND w.due_at IS NULL`)
		case "retrying":
			conditions = append(conditions, `w.status = 'failed' AND w.due_at IS NOT NULL`)
		case string(restaq.Completed):
			conditions = append(conditions, `w.execution IS NULL`)
		default:
			plain = append(plain, word)
		}
	}
	if len(plain) > 0 {
		conditions = append(conditions, `w.status = ANY (`+l.arg(plain)+`::text[])`)
	}
	l.write(` AND (` + strings.Join(conditions, ` OR `) + `)`)
}

// clockError is by how much the clocks of processes may differ from the
// database's before their executions are not found by the time of their creation.
const clockError = 24 * time.Hour

// idAt is the first id that a process makes at a time.
func idAt(at time.Time) (id pgtype.UUID) {
	binary.BigEndian.PutUint64(id.Bytes[:], uint64(max(at.UnixMilli(), 0))<<16)
	id.Valid = true
	return id
}

// term restricts a column to a term, unless that is empty.
func (l *listQuery) term(column, text string) {
	if text != "" {
		l.write(` AND ` + column + ` = (SELECT id FROM restaq.term WHERE text = ` + l.arg(text) + `::text)`)
	}
}

// event restricts by what the event ev is.
func (l *listQuery) event(f *restaq.Filter) {
	if prefix, ok := strings.CutSuffix(f.EventType, "*"); ok {
		p := l.arg(prefix)
		l.write(` AND ev.type = ANY (ARRAY (SELECT id FROM restaq.term WHERE starts_with(text, ` + p + `::text) AND text <> ` + p + `::text))`)
	} else {
		l.term(`ev.type`, f.EventType)
	}
	l.term(`ev.provider`, f.Provider)
	l.term(`ev.source`, f.Source)
	if f.EventID != "" {
		l.write(` AND ev.event_id = ` + l.arg(f.EventID) + `::text`)
	}
}

// since restricts a time. Stored times are whole microseconds, so a bound
// between two of them is as good as the later one.
func (l *listQuery) since(f *restaq.Filter, column string) {
	const up = time.Microsecond - 1
	if !f.Since.IsZero() {
		l.write(` AND ` + column + ` >= ` + l.arg(f.Since.Add(up).Truncate(time.Microsecond)) + `::timestamptz`)
	}
	if !f.Until.IsZero() {
		l.write(` AND ` + column + ` < ` + l.arg(f.Until.Add(up).Truncate(time.Microsecond)) + `::timestamptz`)
	}
}

// unhandledList lists events that never had an execution.
func unhandledList(f *restaq.Filter) (*listQuery, error) {
	var l listQuery
	l.write(`SELECT '', '', '', ev.received_at, ` + eventColumns + `,
	'', 0, NULL::timestamptz, NULL::timestamptz, '', '', '', ev.source::text || ' ' || ev.event_id`)
	l.unhandled(f)
	if f.Cursor != "" {
		at, key, err := parseCursor(f.Cursor)
		if err != nil {
			return nil, err
		}
		source, id, _ := strings.Cut(key, " ")
		term, err := strconv.ParseInt(source, 10, 32)
		if err != nil {
			return nil, restaq.ErrCursor
		}
		l.write(` AND (ev.received_at, ev.event_id, ev.source) < (` +
			l.arg(at) + `::timestamptz, ` + l.arg(id) + `::text, ` + l.arg(int32(term)) + `::integer)`)
	}
	l.write(` ORDER BY ev.received_at DESC, ev.event_id DESC, ev.source DESC LIMIT ` + l.arg(int64(f.Limit)+1) + `::bigint`)
	return &l, nil
}

// unhandled goes on with the table and conditions of events without executions.
func (l *listQuery) unhandled(f *restaq.Filter) {
	l.write(`
FROM restaq.event ev
WHERE ev.executions IS NULL`)
	l.event(f)
	l.since(f, `ev.received_at`)
}

// Count returns how many rows List would return over all pages, at most most.
func (s *Store) Count(ctx context.Context, f restaq.Filter, most int) (int, error) {
	var l listQuery
	l.write(`SELECT count(*) FROM (SELECT`)
	if f.Unhandled {
		l.unhandled(&f)
	} else {
		l.executions(&f, "")
	}
	l.write(` LIMIT ` + l.arg(int64(most)) + `::bigint) found`)
	var n int64
	err := s.statement(ctx, func(q querier) (err error) {
		n, err = one[int64](ctx, q, s.q(l.sql.String()), l.args...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count executions: %w", err)
	}
	return int(n), nil
}

// cursor names the last row of a page by its place in the order of the list,
// so that rows which come or go do not move it.
func cursor(at time.Time, key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(at.UnixMicro(), 10) + " " + key))
}

func parseCursor(text string) (at time.Time, key string, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return at, "", restaq.ErrCursor
	}
	micros, key, ok := strings.Cut(string(data), " ")
	n, err := strconv.ParseInt(micros, 10, 64)
	if !ok || err != nil {
		return at, "", restaq.ErrCursor
	}
	return time.UnixMicro(n).UTC(), key, nil
}
