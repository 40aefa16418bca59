package postgres

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// executionColumns are what never changes of an execution e of an event ev.
const executionColumns = `
	e.id::text, (SELECT text FROM restaq.term WHERE id = e.handler), coalesce(e.replay_of::text, ''), e.created_at,
	ev.source, ev.provider, ev.event_id, ev.type, ev.received_at`

// stateColumns are where an execution stands: from its row of work w, or, if
// it has none and so is completed, from its last attempt a.
const stateColumns = `
	coalesce(w.status, 'completed'), coalesce(w.attempts, a.number, 0),
	CASE WHEN w.execution IS NULL THEN a.ended_at ELSE w.finished_at END,
	CASE WHEN w.status = 'failed' THEN w.due_at END,
	coalesce(CASE WHEN w.execution IS NULL THEN a.earlier ELSE w.error END, ''),
	coalesce(CASE WHEN w.execution IS NULL THEN a.step ELSE w.step END, '')`

// stateTables are joined to an execution e for stateColumns.
const stateTables = `
	LEFT JOIN restaq.work w ON w.execution = e.id` + lastAttempt

// lastAttempt is the last attempt of an execution e without a row of work.
const lastAttempt = `
	LEFT JOIN LATERAL (
		SELECT number, token, ended_at, earlier, step FROM restaq.attempt
		WHERE execution = e.id AND w.execution IS NULL
		ORDER BY number DESC LIMIT 1
	) a ON true`

// executionTargets are where executionColumns go.
func executionTargets(x *restaq.Execution) []any {
	return []any{
		&x.ID, &x.Handler, &x.ReplayOf, utc{&x.CreatedAt},
		&x.Event.Source, &x.Event.Provider, &x.Event.ID, &x.Event.Type, utc{&x.Event.ReceivedAt},
	}
}

// stateTargets are where stateColumns go.
func stateTargets(x *restaq.Execution) []any {
	return []any{&x.Status, &x.Attempts, utc{&x.FinishedAt}, utc{&x.RetryAt}, &x.Error, &x.Step}
}

// utc scans a time as UTC, and null as the zero time.
type utc struct{ t *time.Time }

// ScanTimestamptz makes utc a target for pgx.
func (u utc) ScanTimestamptz(v pgtype.Timestamptz) error {
	*u.t = time.Time{}
	if v.Valid {
		*u.t = v.Time.UTC()
	}
	return nil
}

// header scans and stores a header as JSON; an empty one is null.
type header struct{ h *http.Header }

// ScanBytes makes header a target for pgx.
func (h header) ScanBytes(data []byte) error {
	*h.h = nil
	if data == nil {
		return nil
	}
	return json.Unmarshal(data, h.h)
}

func encodeHeader(h http.Header) []byte {
	if len(h) == 0 {
		return nil
	}
	data, err := json.Marshal(h)
	if err != nil {
		panic(fmt.Sprintf("restaq: encode header: %v", err)) // a map of strings
	}
	return data
}

// parseID reads an execution's id. Text that is no UUID names no execution.
func parseID(id string) (u pgtype.UUID, ok bool) {
	return u, u.Scan(id) == nil
}

// ownerID is how the owner of a lease is stored. A runtime's is a UUID.
func ownerID(owner string) pgtype.UUID {
	id, ok := parseID(owner)
	if !ok {
		sum := sha256.Sum256([]byte(owner))
		id = pgtype.UUID{Bytes: [16]byte(sum[:16]), Valid: true}
	}
	return id
}

func notFound(id string) error { return fmt.Errorf("execution %s: %w", id, restaq.ErrNotFound) }

// stepStatuses are the statuses of steps by their codes.
var stepStatuses = []restaq.StepStatus{restaq.StepCompleted, restaq.StepFailed, restaq.StepPermanent, restaq.StepSkipped}

func statusCode(s restaq.StepStatus) int16 { return int16(slices.Index(stepStatuses, s)) }

// stepStatus scans a step's status from its code.
type stepStatus struct{ s *restaq.StepStatus }

// ScanInt64 makes stepStatus a target for pgx.
func (t stepStatus) ScanInt64(v pgtype.Int8) error {
	if !v.Valid || v.Int64 < 0 || v.Int64 >= int64(len(stepStatuses)) {
		return fmt.Errorf("status %d of a step is not known", v.Int64)
	}
	*t.s = stepStatuses[v.Int64]
	return nil
}
