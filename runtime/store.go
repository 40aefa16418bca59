package restaq

import (
	"context"
	"encoding/json"
	"time"
)

// Store is where events, executions and their histories live. The packages
// memory, sqlite and postgres each provide one; storetest.Run is what every
// store must pass.
//
// A store is dumb and atomic: each method is one transaction and decides only
// what must be decided atomically. Every rule (which step counts, when to
// retry, what a failure means) belongs to the engine.
//
// All methods are safe for concurrent use by goroutines and, on stores that
// processes can share, by processes. Times that decide something (leases, due
// times) come from one clock, the store's; callers pass durations. A method
// that returns an error other than those it documents may have committed; all
// of them may be called again with the same arguments and then recognise their
// own work.
//
// Strings that reach a store are valid UTF-8 without NUL; byte slices hold
// anything, and nil and empty ones are told apart.
type Store interface {
	// Lookup returns the stored event with the executions that its delivery
	// made (not replays), or ErrNotFound. The payload and header are loaded
	// only if payload is set. This is the fast path of a delivery.
	Lookup(ctx context.Context, source, eventID string, payload bool) (*StoredEvent, error)

	// Insert stores an event and its executions, or executions of an event
	// that is stored already, and reports which executions this call created.
	// If in.Event is set and its (source, id) exists, nothing is written and
	// created is false: the caller lost a race and looks up again. If in.Event
	// is nil, an execution whose (event, handler) has one that is not a replay
	// is left out, as is one whose id is stored already, and created reports
	// whether any was made; ErrNotFound if there is no such event, and
	// ErrNoPayload if its payload is not kept.
	//
	// An execution with an order key takes its place behind all others of its
	// handler and key. Calls that store such executions wait for each other
	// until they commit, so that the order of places is that of the commits.
	Insert(ctx context.Context, in *Insertion) (created bool, executions []Execution, err error)

	// Claim takes up to c.Limit executions that are due (pending or failed
	// with a due time not in the future, or running with an expired lease) and
	// whose handler is among c.Handlers, and begins their next attempts. A
	// running one's old attempt is closed as lost, with neither error nor step.
	//
	// The handlers take turns, in the order of c.Handlers: one execution each,
	// then a second one each, and so on; a handler's own with the oldest due
	// time first, but of very many order keys a store need not look at all. So
	// much work of one handler does not keep another's waiting.
	//
	// Of a handler's executions with equal order keys one runs at a time,
	// whoever claims at the same instant. The key belongs to the one that
	// runs, even if its lease has expired, for then it is to be taken over;
	// else to the first in place that is pending, failed with a retry time or,
	// if c.DeadBlocks, dead. The others are passed over.
	//
	// With c.Recover, Claim begins nothing. It returns up to c.Limit executions
	// of these handlers that run under a lease of c.Owner which is not among
	// c.Held, each with the attempt and token that it has, and extends their
	// leases: what a Claim or Insert took whose answer was lost. One that
	// somebody is changing at that moment may be left out.
	Claim(ctx context.Context, c Claim) ([]Claimed, error)

	// Record appends p to the attempt that holds the lease. It returns
	// ErrLeaseLost, and writes nothing, if the lease's token is no longer the
	// execution's or the execution is not running. Rows that are there already
	// (same execution, attempt and Seq) are left alone and are no error.
	Record(ctx context.Context, lease Lease, p *Progress) error

	// Renew extends leases to d from now and appends each renewal's progress.
	// It returns the execution ids whose lease is gone; the others are renewed
	// all the same. A lease that has expired but that nobody has taken is
	// renewed.
	Renew(ctx context.Context, renewals []Renewal, d time.Duration) (lost []string, err error)

	// Finish appends o's steps, closes the attempt and moves the execution to
	// o.Status. It returns ErrLeaseLost, and writes nothing, where Record
	// would, unless this very attempt was finished before with the same
	// outcome, error and step: then it returns the execution as it is now (of
	// an uncounted attempt that can be told only until the next claim). If a
	// wish was noted while the attempt ran (see Change), the attempt is closed
	// as o says, and the execution becomes pending and due at once with the
	// wished kind instead.
	Finish(ctx context.Context, lease Lease, o *Outcome) (*Execution, error)

	// Change moves an execution from one of c.From to c.To and returns it as
	// it is afterwards; changed is false, and nothing is written, if its
	// status was not among c.From. ErrNotFound if there is no such execution.
	// With an empty From it is a plain read.
	//
	//   - To Pending: due at once; its next attempt's kind becomes the greater
	//     of c.Kind and the kind that it had waiting. FinishedAt is cleared.
	//   - To Running, from Running only: the wish c.Kind is noted for Finish.
	//   - To Cancelled: final. From Running, the attempt under way is closed
	//     with outcome AttemptCancelled, and its lease is void.
	Change(ctx context.Context, id string, c Change) (e *Execution, changed bool, err error)

	// History returns an execution with its event and all its rows, attempts
	// by number and steps by attempt and Seq, or ErrNotFound.
	History(ctx context.Context, id string) (*StoredExecution, error)
}

// The abilities below are optional, each an interface of its own; the stores
// of this module have all of them.
type (
	// A Lister finds executions. Page.Next is "" on the last page. Rows come
	// newest first: by creation and then id, or by id alone, which begins with
	// the time of its making. A cursor stays valid while rows are added or
	// removed.
	Lister interface {
		List(ctx context.Context, f Filter) (Page, error)
	}

	// A Pruner deletes finished executions with their histories.
	Pruner interface {
		Prune(ctx context.Context, p Prune) (Pruned, error)
	}

	// A Directory remembers which handlers exist, so that a process without
	// handlers (the restaq command) can make executions for them.
	Directory interface {
		// PutHandlers adds handlers or replaces those of the same name.
		PutHandlers(ctx context.Context, handlers []HandlerInfo) error
		// Handlers returns all handlers that were ever put, by name.
		Handlers(ctx context.Context) ([]HandlerInfo, error)
	}

	// A Keyed store has a secret of its own, the same for every process and
	// for ever, at least 16 random bytes, that keys input fingerprints. A
	// store without it has its inputs fingerprinted with an empty key.
	Keyed interface {
		FingerprintKey(ctx context.Context) ([]byte, error)
	}

	// Secrets keeps values by name, the same for every process. The name
	// "fingerprint" is that of the key that a Keyed store made, if it keeps one
	// there.
	Secrets interface {
		// Secret returns a value, nil if there is none.
		Secret(ctx context.Context, name string) ([]byte, error)
		// SwapSecret replaces old, or nothing if old is nil, by value, or
		// deletes it if value is nil, and reports whether it did: not if old is
		// not what is there. In doubt it is called again.
		SwapSecret(ctx context.Context, name string, old, value []byte) (bool, error)
	}

	// A Clocked store takes its time from a function of the process. New
	// hands it Config.Now.
	Clocked interface {
		SetClock(now func() time.Time)
	}
)

// StoredEvent is an event as a store returns it.
type StoredEvent struct {
	Event      Event
	Executions []Execution
}

// Insertion is what Insert stores in one transaction.
type Insertion struct {
	// Event is the new event, or nil to add executions to the event (Source,
	// EventID). ReceivedAt is ignored: the store's clock decides.
	Event *Event

	// Source and EventID name the stored event if Event is nil.
	Source, EventID string

	// Executions are made for the event.
	Executions []NewExecution

	// Owner and Lease (a duration) are those of the executions that are begun
	// in the same statement.
	Owner string
	Lease time.Duration

	// Notice, if not nil, is told by the commit of a new event that InsertTx
	// stores, if the store is a Notifier.
	Notice *Notice
}

// NewExecution is an execution to be stored.
type NewExecution struct {
	ID       string
	Handler  string
	OrderKey string // "" for none
	ReplayOf string // "" for the original; replays are exempt from one per handler

	// Begin starts its first attempt at once: status running, attempt 1, token
	// 1, leased to the insertion's owner.
	Begin bool

	// Error, if not "", stores the execution as dead with this error: its
	// order key could not be computed.
	Error string
}

// Lease is the right to run one attempt of an execution.
type Lease struct {
	Execution string
	Attempt   int   // from 1
	Token     int64 // fencing token; grows with every claim of the execution
}

// Claim asks for due executions.
type Claim struct {
	Owner    string        // of the leases: one process's runtime, unique for ever
	Lease    time.Duration // how long a lease lasts without renewal
	Handlers []string      // the handlers registered here, in the order of their turns
	Limit    int           // at most so many; > 0

	// DeadBlocks makes a dead execution keep its order key.
	DeadBlocks bool

	// Except are executions to pass over, a few hundred at most.
	Except []string

	// Recover asks for leases that the owner has and does not know of, which
	// are all but those in Held.
	Recover bool
	Held    []Lease
}

// Claimed is an execution whose next attempt has been begun.
type Claimed struct {
	Execution Execution
	Event     Event // with payload and header
	Lease     Lease
	Kind      AttemptKind
}

// Progress is what an attempt has to say since its last write.
type Progress struct {
	// Steps are new rows of the history.
	Steps []StepRow

	// Current is the record name of the step under way, or "".
	Current string
}

// Renewal extends one lease.
type Renewal struct {
	Lease    Lease
	Progress Progress
}

// Outcome is the end of an attempt.
type Outcome struct {
	// Status becomes the execution's: Completed, Failed, or Pending if the
	// attempt was interrupted or released, and is due again after RetryIn.
	Status Status

	// Attempt is the attempt's own outcome.
	Attempt AttemptOutcome

	// Retry says that a failed execution is due again after RetryIn, counted
	// from now by the store's clock. Without it a failed execution is dead.
	Retry   bool
	RetryIn time.Duration

	// StoppedBy is why a failed execution without Retry is dead.
	StoppedBy StopReason

	// Error is the attempt's error, and Step the record name of the step whose
	// failure ended the attempt; "" for none. The error of an attempt that failed
	// or was released becomes the execution's.
	Error string
	Step  string

	// Detail is the engine's own, kept with the attempt's row.
	Detail []byte

	// Steps are rows that were not written before.
	Steps []StepRow

	// Uncounted says that the attempt never ran: it leaves no row, the
	// execution's number of attempts goes back by one, and its kind waits for
	// the next attempt.
	Uncounted bool
}

// Change is a wish of a person.
type Change struct {
	From []Status
	To   Status
	Kind AttemptKind
}

// StepRow is one call of a step in one attempt. No store ever updates one.
type StepRow struct {
	Attempt int        // from 1
	Seq     int        // order of the calls in their attempt, from 1
	Name    string     // record name: the step's name, plus "[key]"
	Func    string     // the step's function, qualified by its package
	Status  StepStatus // how the call went
	Error   string     // of a failed call
	Output  []byte     // of a completed call, encoded; may be nil
	Inputs  []byte     // fingerprint of the inputs, algorithm id first; may be nil
	Shape   string     // fingerprint of the output's shape; may be ""
	Detail  []byte     // the engine's own; may be nil

	StartedAt time.Time // by the process's clock, UTC, to the microsecond
	EndedAt   time.Time

	sealed error // why it cannot be opened; the engine's own
}

// AttemptRow is one ended attempt. No store ever updates one.
type AttemptRow struct {
	Number    int
	Kind      AttemptKind
	Outcome   AttemptOutcome
	Error     string
	Step      string // record name of the step whose failure ended it
	Detail    []byte
	StartedAt time.Time // by the store's clock
	EndedAt   time.Time
}

// StoredExecution is an execution with its rows, as a store returns it.
type StoredExecution struct {
	Execution Execution
	Event     Event
	OrderKey  string
	Attempts  []AttemptRow // ended attempts, by number
	Steps     []StepRow    // by attempt, then Seq

	// Kind and StartedAt are those of the attempt under way, if the status is
	// Running: its number is Execution.Attempts.
	Kind      AttemptKind
	StartedAt time.Time

	sealed error // why a detail of an attempt cannot be opened; the engine's own
}

// Filter chooses executions. Zero fields do not restrict.
type Filter struct {
	// Statuses are execution statuses or the filter words "dead" and
	// "retrying"; any of them matches.
	Statuses []string

	// StoppedBy finds dead executions by the reason. With Statuses, both must
	// match.
	StoppedBy StopReason

	Handler   string    // exact name
	EventType string    // exact, or a pattern that ends in ".*"
	Provider  string    // exact
	Source    string    // exact
	EventID   string    // exact
	Since     time.Time // created at or after
	Until     time.Time // created before

	// Text is a part of the error, letter for letter; only failed executions
	// have one that counts here.
	Text string

	// Unhandled lists stored events that never had an execution instead. Their
	// rows have an Event and CreatedAt only; Statuses, StoppedBy and Handler are
	// not used.
	Unhandled bool

	// Cursor is the Next of the page before; "" begins.
	Cursor string

	// Limit is the page's size: 0 means 50, at most 1000.
	Limit int
}

// Page is a part of a list.
type Page struct {
	Executions []Execution `json:"executions"`
	Next       string      `json:"next,omitempty"` // "" if there are no more
}

// Prune says which finished executions to delete.
type Prune struct {
	// OlderThan is how long ago an execution must have finished, by the
	// store's clock; > 0.
	OlderThan time.Duration

	// Statuses are among "completed", "cancelled" and "dead"; empty means all.
	Statuses []string

	// Limit bounds the executions deleted by one call: 0 means 1000.
	Limit int
}

// Pruned counts what a call of Prune deleted.
type Pruned struct {
	// Executions is how many executions went, with their attempts and steps.
	Executions int

	// Payloads is how many events lost their payload (it becomes nil) and
	// header because no execution is left. Their ids are kept until a
	// Forgetter is asked to delete them: a redelivery stays a duplicate.
	Payloads int
}

// HandlerInfo is what a store remembers of a handler.
type HandlerInfo struct {
	Name   string   `json:"name"`
	Events []string `json:"events"`

	HandlerDetail
}

// HandlerDetail is what tools that have no handlers (the restaq command, the
// dashboard) want to know of one beside its name and event types. Stores keep it
// as one JSON value. It is the zero value for a handler that an older build put.
type HandlerDetail struct {
	// Steps are the steps that were registered with the handler, those of its
	// receiver, in order of registration. The handler may call others too.
	Steps []StepInfo `json:"steps,omitempty"`

	// Was are names that the handler had before.
	Was []string `json:"was,omitempty"`

	// Graph is the order of the handler's steps as the generator found it, as
	// JSON; nil if it is not known.
	Graph json.RawMessage `json:"graph,omitempty"`

	// Redact are the names of payload fields that are masked wherever the
	// handler's events are shown.
	Redact []string `json:"redact,omitempty"`
}

// StepInfo is what a store remembers of a step.
type StepInfo struct {
	Name string `json:"name"` // without a key
	Func string `json:"func"` // qualified by its package

	// Shape is the fingerprint of the output's shape, "" if there is none;
	// Reads, ReadBy and Earlier are those of other shapes, as in a Codec.
	Shape   string   `json:"shape,omitempty"`
	Reads   []string `json:"reads,omitempty"`
	ReadBy  []string `json:"readBy,omitempty"`
	Earlier []string `json:"earlier,omitempty"`

	// Converts are the shapes that it has converters for, and Was the names that
	// it had before.
	Converts []string `json:"converts,omitempty"`
	Was      []string `json:"was,omitempty"`
}
