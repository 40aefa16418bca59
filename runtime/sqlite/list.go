package sqlite

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

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
	list := executions
	if f.Unhandled {
		list = unhandled
	}
	var page restaq.Page
	err := s.reader.readOnce(ctx, func(query queryFunc) (err error) {
		page, err = list(query, f)
		return err
	})
	if err != nil {
		return restaq.Page{}, fmt.Errorf("list executions: %w", err)
	}
	return page, nil
}

// executions finds a page of executions. It asks for one row more than the
// page has, to know whether there is a next one.
func executions(query queryFunc, f restaq.Filter) (restaq.Page, error) {
	w := executionWhere(f)
	if f.Cursor != "" {
		at, id, err := parseCursor(f.Cursor)
		if err != nil {
			return restaq.Page{}, err
		}
		w.add(`(x.created_at, x.id) < (?, ?)`, at, id)
	}
	rows, err := query(`SELECT `+executionColumns+executionTables+w.String()+`
		ORDER BY x.created_at DESC, x.id DESC LIMIT ?`, append(w.args, f.Limit+1)...)
	if err != nil {
		return restaq.Page{}, err
	}
	return pageOf(rows, f.Limit, func() (restaq.Execution, string, error) {
		var e execution
		err := rows.Scan(e.columns()...)
		return e.out(), cursor(e.CreatedAt, e.ID), err
	})
}

const executionTables = `
		FROM restaq_execution AS x JOIN restaq_event AS e ON e.seq = x.event`

// executionWhere says which executions f finds.
func executionWhere(f restaq.Filter) (w where) {
	w.status(f.Statuses)
	if f.StoppedBy != "" {
		w.add(`x.status = 'failed' AND x.due_at IS NULL AND x.stopped_by = ?`, string(f.StoppedBy))
	}
	if f.Handler != "" {
		w.add(`x.handler = ?`, f.Handler)
	}
	w.event(f)
	if f.EventID != "" {
		// Says again what event says, in the words that lead from an
		// event to its executions, which are few.
		w.add(`x.seq IN (
			SELECT x.seq FROM restaq_event AS e JOIN restaq_execution AS x ON `+delivered+` WHERE e.id = ?
			UNION ALL
			SELECT y.seq FROM restaq_event AS f JOIN restaq_execution AS y ON y.event = f.seq AND y.late = 1 WHERE f.id = ?)`,
			f.EventID, f.EventID)
	}
	w.times(`x.created_at`, f)
	if f.Text != "" {
		w.add(`x.status = 'failed' AND instr(x.error, ?) > 0`, f.Text)
	}
	return w
}

// unhandled finds a page of events that never had an execution.
func unhandled(query queryFunc, f restaq.Filter) (restaq.Page, error) {
	w := unhandledWhere(f)
	if f.Cursor != "" {
		at, text, err := parseCursor(f.Cursor)
		if err != nil {
			return restaq.Page{}, err
		}
		seq, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return restaq.Page{}, restaq.ErrCursor
		}
		w.add(`(e.received_at, e.seq) < (?, ?)`, at, seq)
	}
	rows, err := query(`SELECT e.seq, e.received_at, e.source, e.id, e.provider, e.type
		FROM restaq_event AS e`+w.String()+`
		ORDER BY e.received_at DESC, e.seq DESC LIMIT ?`, append(w.args, f.Limit+1)...)
	if err != nil {
		return restaq.Page{}, err
	}
	return pageOf(rows, f.Limit, func() (restaq.Execution, string, error) {
		var seq int64
		var ref restaq.EventRef
		err := rows.Scan(&seq, moment{&ref.ReceivedAt}, &ref.Source, &ref.ID, &ref.Provider, &ref.Type)
		return restaq.Execution{Event: ref, CreatedAt: ref.ReceivedAt}, cursor(ref.ReceivedAt, strconv.FormatInt(seq, 10)), err
	})
}

// unhandledWhere says which events f finds.
func unhandledWhere(f restaq.Filter) where {
	w := where{terms: []string{`e.unhandled = 1`}}
	w.event(f)
	w.times(`e.received_at`, f)
	return w
}

// Count returns how many rows List would return over all pages, at most most.
func (s *Store) Count(ctx context.Context, f restaq.Filter, most int) (n int, err error) {
	from, w := executionTables, executionWhere(f)
	if f.Unhandled {
		from, w = `
		FROM restaq_event AS e`, unhandledWhere(f)
	}
	err = s.reader.readOnce(ctx, func(query queryFunc) error {
		return scanOne(query, []any{&n}, `SELECT count(*) FROM (SELECT 1`+from+w.String()+` LIMIT ?)`, append(w.args, most)...)
	})
	if err != nil {
		return 0, fmt.Errorf("count executions: %w", err)
	}
	return n, nil
}

// pageOf reads up to limit rows; scan returns a row and the cursor behind it.
func pageOf(rows rows, limit int, scan func() (restaq.Execution, string, error)) (restaq.Page, error) {
	var page restaq.Page
	last, more := "", false
	err := each(rows, func() error {
		if len(page.Executions) == limit {
			more = true
			return nil
		}
		row, at, err := scan()
		page.Executions, last = append(page.Executions, row), at
		return err
	})
	if more {
		page.Next = last
	}
	return page, err
}

// where collects the terms of a WHERE clause. Values go by argument, never
// into the text.
type where struct {
	terms []string
	args  []any
}

// String is the clause, "" without terms.
func (w *where) String() string {
	if len(w.terms) == 0 {
		return ""
	}
	return "\n\t\tWHERE " + strings.Join(w.terms, " AND ")
}

func (w *where) add(term string, args ...any) {
	w.terms = append(w.terms, term)
	w.args = append(w.args, args...)
}

// status adds the filter words. "dead" and "retrying" name the status in the
// words of the index of failed executions, which is small.
func (w *where) status(words []string) {
	if len(words) == 0 {
		return
	}
	failed := true
	var any []string
	for _, word := range words {
		switch word {
		case "dead":
			any = append(any, `x.due_at IS NULL`)
		case "retrying":
			any = append(any, `x.due_at IS NOT NULL`)
		case string(restaq.Failed):
			any = append(any, `1`)
		default:
			failed = false
		}
	}
	if failed {
		w.add(`x.status = 'failed' AND (` + strings.Join(any, " OR ") + `)`)
		return
	}
	any = nil
	for _, word := range words {
		switch word {
		case "dead":
			any = append(any, `(x.status = 'failed' AND x.due_at IS NULL)`)
		case "retrying":
			any = append(any, `(x.status = 'failed' AND x.due_at IS NOT NULL)`)
		default:
			any = append(any, `x.status = ?`)
			w.args = append(w.args, word)
		}
	}
	w.terms = append(w.terms, `(`+strings.Join(any, " OR ")+`)`)
}

func (w *where) event(f restaq.Filter) {
	for _, term := range []struct{ term, value string }{
		{`e.provider = ?`, f.Provider}, {`e.source = ?`, f.Source}, {`e.id = ?`, f.EventID},
	} {
		if term.value != "" {
			w.add(term.term, term.value)
		}
	}
	if prefix, ok := strings.CutSuffix(f.EventType, "*"); ok {
		// Compared by bytes: LIKE would know letters without case.
		w.add(`(length(CAST(e.type AS BLOB)) > ? AND substr(CAST(e.type AS BLOB), 1, ?) = ?)`, len(prefix), len(prefix), []byte(prefix))
	} else if f.EventType != "" {
		w.add(`e.type = ?`, f.EventType)
	}
}

// times adds since and until, each the first microsecond that is not before.
func (w *where) times(column string, f restaq.Filter) {
	ceil := func(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }
	if !f.Since.IsZero() {
		w.add(column+` >= ?`, ceil(f.Since))
	}
	if !f.Until.IsZero() {
		w.add(column+` < ?`, ceil(f.Until))
	}
}

// cursor names the last row of a page, so that rows which come or go do not
// move it.
func cursor(at time.Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(at.UnixMicro(), 10) + " " + id))
}

func parseCursor(cursor string) (at int64, id string, err error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, "", restaq.ErrCursor
	}
	first, id, ok := strings.Cut(string(text), " ")
	at, err = strconv.ParseInt(first, 10, 64)
	if !ok || err != nil {
		return 0, "", restaq.ErrCursor
	}
	return at, id, nil
}
