package restaq

import "time"

// Status is where an execution stands.
type Status string

// An execution moves between these states:
//
//	           claim               outcome
//	pending ──────────▶ running ──────────▶ completed
//	   ▲                 │  │                   │
//	   │ interrupted,    │  │ error             │ Restart
//	   │ released        │  │                   │
//	   └─────────────────┘  ▼                   │
//	   ▲                 failed ◀───────────────┘ (by way of pending)
//	   │  Retry, Restart    │
//	   └────────────────────┘   due again: claimed from failed
//
// Cancel leads from every state but completed and cancelled to cancelled,
// which is final. Failed with a retry time waits for its next attempt; failed
// without one is dead: it ran out of attempts or its error was permanent, and
// it waits for a person.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Sleeping  Status = "sleeping" // reserved: waits for a time or an event
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Execution is one handler's work on one event.
type Execution struct {
	// ID is a UUIDv7.
	ID string `json:"id"`

	// Handler is the handler's stable name, such as
	// "billing.Billing.ChargeSucceeded".
	Handler string `json:"handler"`

	// Event is the event that the execution works on.
	Event EventRef `json:"event"`

	// ReplayOf is the id of the execution that this one replays, or "".
	ReplayOf string `json:"replayOf,omitempty"`

	// Status is where it stands.
	Status Status `json:"status"`

	// Attempts is the number of attempts begun so far.
	Attempts int `json:"attempts"`

	// CreatedAt is when the execution was stored, by the store's clock.
	CreatedAt time.Time `json:"createdAt"`

	// FinishedAt is when it completed, was cancelled or died; zero otherwise.
	FinishedAt time.Time `json:"finishedAt,omitzero"`

	// RetryAt is when a failed execution is due again; zero if it is not.
	RetryAt time.Time `json:"retryAt,omitzero"`

	// Error is the error of the last attempt that failed or was released, even
	// after a later success; "" if there was none.
	Error string `json:"error,omitempty"`

	// Step is the record name of the step whose failure ended the last attempt
	// or, while running, of the step that was under way when the store last
	// heard of it. It may be "".
	Step string `json:"step,omitempty"`

	// StoppedBy is why a dead execution is dead; "" if it is not.
	StoppedBy StopReason `json:"stoppedBy,omitempty"`
}

// StopReason says why an execution is dead.
type StopReason string

// The reasons for which executions are dead.
const (
	StoppedByAttempts     StopReason = "attempts"      // all attempts are used up
	StoppedByPermanent    StopReason = "permanent"     // an error that Permanent made
	StoppedBySchema       StopReason = "schema"        // a record that this build does not read: a ShapeError
	StoppedByKey          StopReason = "key"           // something that no process could open: a SealError
	StoppedByChangedInput StopReason = "changed-input" // inputs that differ from the record's, under Config.StrictInputs
)

// Dead reports whether the execution failed and waits for a person.
func (e *Execution) Dead() bool { return e.Status == Failed && e.RetryAt.IsZero() }

// Retrying reports whether the execution failed and waits for its next
// attempt.
func (e *Execution) Retrying() bool { return e.Status == Failed && !e.RetryAt.IsZero() }

// Final reports whether nothing more happens to the execution unless a person
// asks for it: it is completed, cancelled or dead.
func (e *Execution) Final() bool {
	return e.Status == Completed || e.Status == Cancelled || e.Dead()
}

// AttemptKind says why an attempt was begun.
type AttemptKind int8

// The kinds of attempts. Of two wishes for one next attempt the greater wins.
const (
	// Automatic is a first attempt or a retry that the engine scheduled.
	Automatic AttemptKind = 0
	// Retried was asked for by a person: a fresh budget of attempts, and the
	// permanent step failure that ended the execution no longer counts.
	Retried AttemptKind = 1
	// Restarted was asked for by a person: a fresh budget, and no step that
	// completed before it counts.
	Restarted AttemptKind = 2
)

// AttemptOutcome says how an attempt ended.
type AttemptOutcome string

// The outcomes of attempts.
const (
	AttemptCompleted   AttemptOutcome = "completed"
	AttemptFailed      AttemptOutcome = "failed"
	AttemptInterrupted AttemptOutcome = "interrupted" // cut off by shutdown
	AttemptLost        AttemptOutcome = "lost"        // its process crashed or lost its lease
	AttemptCancelled   AttemptOutcome = "cancelled"   // cancelled while it ran
	AttemptReleased    AttemptOutcome = "released"    // left to other builds, as this one may be too old for a record
)

// StepStatus says how one call of a step went.
type StepStatus string

// The states of a step's call.
const (
	StepCompleted StepStatus = "completed"
	StepFailed    StepStatus = "failed"
	StepPermanent StepStatus = "permanent" // failed by an error made with Permanent: an outcome
	StepSkipped   StepStatus = "skipped"   // a record of an earlier attempt was returned
)
