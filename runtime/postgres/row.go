package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// executionColumns are what never changes of an execution e of an event ev.
const executionColumns = `
	e.id::text, (SELECT text FROM restaq.term WHERE id = e.handler), coalesce(e.replay_of::text, ''), e.created_at, ` + eventColumns

// eventColumns are what never changes of an event ev, less its payload.
const eventColumns = `
	(SELECT text FROM restaq.term WHERE id = ev.source), (SELECT text FROM restaq.term WHERE id = ev.provider),
	ev.event_id, (SELECT text FROM restaq.term WHERE id = ev.type), ev.received_at`

// ofEvent says that an execution e is of an event ev.
const ofEvent = `ev.event_id = e.event_id AND ev.source = e.source`

// stateColumns are where an execution stands: from its row of work w, or, if
// it has none and so is completed, from its last attempt a.
const stateColumns = `
	coalesce(w.status, 'completed'), coalesce(w.attempts, a.attempt, 0),
	CASE WHEN w.execution IS NULL THEN a.ended_at ELSE w.finished_at END,
	CASE WHEN w.status = 'failed' THEN w.due_at END,
	coalesce(CASE WHEN w.execution IS NULL THEN a.earlier ELSE w.error END, ''),
	coalesce(CASE WHEN w.execution IS NULL THEN a.step ELSE w.step END, ''),
	coalesce(CASE WHEN w.status = 'failed' AND w.due_at IS NULL THEN w.stopped_by END, '')`

// stateTables are joined to an execution e for stateColumns.
const stateTables = `
	LEFT JOIN restaq.work w ON w.execution = e.id` + lastAttempt

// lastAttempt is the end of the last attempt of an execution e without a row of
// work: the last of all its entries.
const lastAttempt = `
	LEFT JOIN LATERAL (
		SELECT attempt, token, ended_at, earlier, name AS step FROM restaq.entry
		WHERE execution = e.id AND w.execution IS NULL
		ORDER BY token DESC, position DESC LIMIT 1
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
	return []any{&x.Status, &x.Attempts, utc{&x.FinishedAt}, utc{&x.RetryAt}, &x.Error, &x.Step, &x.StoppedBy}
}

// readExecution reads executionColumns and stateColumns.
func readExecution(row [][]byte) restaq.Execution {
	return restaq.Execution{
		ID: string(row[0]), Handler: string(row[1]), ReplayOf: string(row[2]), CreatedAt: readTime(row[3]),
		Event: restaq.EventRef{
			Source: string(row[4]), Provider: string(row[5]), ID: string(row[6]), Type: string(row[7]), ReceivedAt: readTime(row[8]),
		},
		Status: restaq.Status(row[9]), Attempts: readInt(row[10]), FinishedAt: readTime(row[11]), RetryAt: readTime(row[12]),
		Error: string(row[13]), Step: string(row[14]), StoppedBy: restaq.StopReason(row[15]),
	}
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
// Each call of the store reads one or more, so the usual spelling takes no
// memory.
func parseID(id string) (u pgtype.UUID, ok bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return u, u.Scan(id) == nil
	}
	n := 0
	for _, digits := range [...]string{id[:8], id[9:13], id[14:18], id[19:23], id[24:]} {
		read, err := hex.Decode(u.Bytes[n:], []byte(digits))
		if err != nil {
			return pgtype.UUID{}, false
		}
		n += read
	}
	u.Valid = true
	return u, true
}

// parseLease reads the id of a lease's execution. A lease that no store ever
// gave is none.
func parseLease(l restaq.Lease) (id pgtype.UUID, ok bool) {
	id, ok = parseID(l.Execution)
	return id, ok && l.Token > 0 && l.Token <= math.MaxInt32
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

// attemptOutcomes are the outcomes of attempts by their codes.
var attemptOutcomes = []restaq.AttemptOutcome{
	restaq.AttemptCompleted, restaq.AttemptFailed, restaq.AttemptInterrupted, restaq.AttemptLost, restaq.AttemptCancelled,
	restaq.AttemptReleased,
}

// The codes that statements name.
const (
	failedCode    = "1"
	lostCode      = "3"
	cancelledCode = "4"
	releasedCode  = "5"
)

func outcomeCode(o restaq.AttemptOutcome) int16 { return int16(slices.Index(attemptOutcomes, o)) }

// codeOf returns what a code stands for.
func codeOf[T any](all []T, code int) (T, error) {
	if code < 0 || code >= len(all) {
		return *new(T), fmt.Errorf("outcome %d of an entry is not known", code)
	}
	return all[code], nil
}
