package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// each calls fn for each row and closes rows.
func each(rows rows, fn func() error) error {
	defer rows.Close()
	for rows.Next() {
		if err := fn(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanOne scans the first row into targets; sql.ErrNoRows if there is none.
func scanOne(query queryFunc, targets []any, text string, args ...any) error {
	rows, err := query(text, args...)
	if err != nil {
		return err
	}
	found := false
	err = each(rows, func() error {
		if found {
			return nil
		}
		found = true
		return rows.Scan(targets...)
	})
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return err
}

// moment scans a time column; NULL is the zero time.
type moment struct{ t *time.Time }

// Scan sets the time.
func (m moment) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*m.t = time.Time{}
	case int64:
		*m.t = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("time column holds a %T", src)
	}
	return nil
}

// micros is a time's column; the zero time is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// blob scans a column of bytes. NULL is nil, and an empty value is not. The
// driver makes a new slice for each value, so it is not copied once more.
type blob struct{ b *[]byte }

// Scan sets the bytes.
func (b blob) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*b.b = nil
	case []byte:
		*b.b = v
		if v == nil { // the driver's empty value; its NULL is no []byte
			*b.b = []byte{}
		}
	default:
		return fmt.Errorf("bytes column holds a %T", src)
	}
	return nil
}

// header scans a header column; NULL is no header.
type header struct{ h *http.Header }

// Scan sets the header.
func (h header) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*h.h = nil
		return nil
	case []byte:
		return json.Unmarshal(v, h.h)
	default:
		return fmt.Errorf("header column holds a %T", src)
	}
}

// encodeHeader is a header's column; an empty header is NULL.
func encodeHeader(h http.Header) ([]byte, error) {
	if len(h) == 0 {
		return nil, nil
	}
	return json.Marshal(h)
}

// execution is a row of restaq_execution.
type execution struct {
	restaq.Execution // its Event is filled in from restaq_event

	seq       int64
	event     int64
	late      bool // added after the event's delivery; not read
	orderKey  string
	token     int64
	kind      restaq.AttemptKind
	wish      restaq.AttemptKind
	owner     string
	startedAt time.Time
	due       time.Time // zero if finished
}

// executionColumns are read into columns(), of restaq_execution as x and
// restaq_event as e.
const executionColumns = `x.seq, x.event, x.created_at, x.due_at, x.finished_at, x.started_at, x.token, x.attempts,
	x.kind, x.wish, x.status, x.id, x.handler, x.order_key, x.replay_of, x.owner, x.step, x.error, x.stopped_by,
	e.received_at, e.source, e.id, e.provider, e.type`

func (e *execution) columns() []any {
	return []any{
		&e.seq, &e.event, moment{&e.CreatedAt}, moment{&e.due}, moment{&e.FinishedAt}, moment{&e.startedAt}, &e.token, &e.Attempts,
		&e.kind, &e.wish, &e.Status, &e.ID, &e.Handler, &e.orderKey, &e.ReplayOf, &e.owner, &e.Step, &e.Error, (*string)(&e.StoppedBy),
		moment{&e.Event.ReceivedAt}, &e.Event.Source, &e.Event.ID, &e.Event.Provider, &e.Event.Type,
	}
}

// out is the execution as callers see it.
func (e *execution) out() restaq.Execution {
	x := e.Execution
	x.RetryAt = time.Time{}
	if x.Status == restaq.Failed {
		x.RetryAt = e.due
	}
	if !x.Dead() {
		x.StoppedBy = ""
	}
	return x
}

// load reads an execution; sql.ErrNoRows if there is none.
func load(query queryFunc, id string) (*execution, error) {
	e := &execution{}
	return e, scanOne(query, e.columns(), `SELECT `+executionColumns+`
		FROM restaq_execution AS x JOIN restaq_event AS e ON e.seq = x.event
		WHERE x.id = ?`, id)
}

// stored is load for a write transaction: nobody changes the execution until
// the commit. What it returns may be the writer's memory.
func (t *tx) stored(id string) (*execution, error) {
	if t.user == nil {
		if e := t.w.running[id]; e != nil {
			return e, nil
		}
	}
	e, err := load(t.query, id)
	if err == nil {
		t.keep(e)
	}
	return e, err
}

// load is stored for those who change what they get, and then save it.
func (t *tx) load(id string) (*execution, error) {
	e, err := t.stored(id)
	if err != nil {
		return nil, err
	}
	own := *e
	return &own, nil
}

// save writes what can change of an execution that the same transaction read.
// One that has finished lets the next of its order key come to the fore.
func (t *tx) save(e *execution) error {
	_, err := t.exec(`UPDATE restaq_execution SET
			due_at = ?, finished_at = ?, started_at = ?, token = ?, attempts = ?,
			kind = ?, wish = ?, status = ?, owner = ?, step = ?, error = ?, stopped_by = ?, behind = 0
		WHERE seq = ?`,
		micros(e.due), micros(e.FinishedAt), micros(e.startedAt), e.token, e.Attempts,
		e.kind, e.wish, e.Status, e.owner, e.Step, e.Error, string(e.StoppedBy), e.seq)
	if err == nil && e.orderKey != "" && e.due.IsZero() {
		_, err = t.exec(`UPDATE restaq_execution SET behind = 0 WHERE behind = 1 AND seq = (
			SELECT min(seq) FROM restaq_execution INDEXED BY restaq_execution_order
			WHERE handler = ? AND order_key = ? AND order_key <> '' AND due_at IS NOT NULL)`, e.Handler, e.orderKey)
	}
	if err == nil {
		t.keep(e)
	}
	return err
}

// keep remembers how an execution is stored, e for good.
func (t *tx) keep(e *execution) {
	if t.user == nil {
		t.w.keep(e)
	}
}

// setPending, setFinished, setRetry and begin move e to a status with the
// times that belong to it. The caller saves it.
func (e *execution) setPending(now time.Time) {
	if e.due.IsZero() || e.due.After(now) || e.Status == restaq.Running {
		e.due = now
	}
	e.Status, e.FinishedAt, e.owner = restaq.Pending, time.Time{}, ""
}

func (e *execution) setFinished(status restaq.Status, now time.Time) {
	e.Status, e.FinishedAt, e.due, e.owner = status, now, time.Time{}, ""
}

func (e *execution) setRetry(at time.Time) {
	e.Status, e.FinishedAt, e.due, e.owner = restaq.Failed, time.Time{}, at, ""
}

func (e *execution) begin(now time.Time, owner string, lease time.Duration) {
	e.Status, e.FinishedAt, e.owner = restaq.Running, time.Time{}, owner
	e.Attempts++
	e.token++
	e.kind, e.wish = e.wish, restaq.Automatic
	e.startedAt, e.due = now, now.Add(lease).Truncate(time.Microsecond)
	e.Step = ""
}
