// Package graph reads what restaqgen found out about handlers from their source:
// which steps they call, in which order, in which branches and loops, and where
// they end early. Tools can so show steps that have not happened yet.
//
// Generated code hands the graph of each handler to the runtime, which keeps it
// in the store: it is the Graph of [restaq.HandlerDetail]. [Parse] reads it,
// [Handler.Rows] lays it out as an outline, and [Handler.StepOf] tells which step
// a record belongs to. What is in it stands in docs/graph.md.
//
// [restaq.HandlerDetail]: https://pkg.go.dev/github.com/restaq/restaq/runtime#HandlerDetail
package graph

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Version is the newest version of the format that Parse reads.
const Version = 1

// Handler is what one handler does.
type Handler struct {
	// Version is that of the format.
	Version int `json:"version"`
	// Events are the event types, in the order of the marker.
	Events []string `json:"events"`
	// Order, Attempts, Backoff and Timeout are the handler's options as in its
	// marker; zero if they are not given.
	Order    string `json:"order,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Backoff  string `json:"backoff,omitempty"` // as 1s..10m
	Timeout  string `json:"timeout,omitempty"` // as 1m30s
	// Steps are the marked steps that the handler can call, by name. Steps made
	// by restaq.Do are not among them.
	Steps map[string]Step `json:"steps,omitempty"`
	// Flow is the body.
	Flow []Node `json:"flow"`
}

// Step is what a step's marker says. Options that it does not give are zero.
type Step struct {
	// Func is the step's function: Billing.sendReceipt, or with its package's
	// import path in front if that is not the handler's.
	Func     string `json:"func"`
	Key      string `json:"key,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Backoff  string `json:"backoff,omitempty"`
	Timeout  string `json:"timeout,omitempty"`
	Pure     bool   `json:"pure,omitempty"`
	// Tx is the type of the transaction that the step takes: pgx.Tx, *sql.Tx.
	Tx string `json:"tx,omitempty"`
}

// Kind is what a node is.
type Kind string

// The kinds of nodes. In lists, nodes run one after the other. A reader should
// show a kind that it does not know by its name and text.
const (
	// StepKind is a call of a step. Name is its name; a name that is computed
	// is "", and Text has the expression. Fails says that a failure ends the
	// function around it, which returns the error.
	StepKind Kind = "step"
	// IfKind takes the first of Cases whose condition holds.
	IfKind Kind = "if"
	// SwitchKind takes a case of a switch or type switch over Text.
	SwitchKind Kind = "switch"
	// SelectKind takes whichever case can go on.
	SelectKind Kind = "select"
	// LoopKind runs Body as Text says, which is what stands behind the word
	// for. Endless says that only what is in Body ends it.
	LoopKind Kind = "loop"
	// CallKind runs Body, which is that of the function Name of the package, or
	// a function literal. Many says that it is handed to Name, which may call
	// it any number of times; Fails is as for a step. Text stands for a Body
	// that is not there.
	CallKind Kind = "call"
	// AgainKind calls Name, a function that is under way: recursion.
	AgainKind Kind = "again"
	// GoKind runs Body concurrently with what follows. Name is what starts it,
	// "" for a go statement.
	GoKind Kind = "go"
	// DeferKind runs Body when the function around it ends.
	DeferKind Kind = "defer"
	// ReturnKind ends the function around it early. Text is the error that is
	// returned, "" for nil or none; Fails says that it certainly is one.
	ReturnKind Kind = "return"
	// PanicKind ends the handler, or the process, by Text.
	PanicKind Kind = "panic"
	// BreakKind and ContinueKind leave and continue the innermost loop (switch,
	// select), or the one whose Name is theirs.
	BreakKind    Kind = "break"
	ContinueKind Kind = "continue"
	// GotoKind goes on at the LabelKind of the same Name.
	GotoKind  Kind = "goto"
	LabelKind Kind = "label"
)

// Node is a part of a function's body. Its kind says what the fields mean.
type Node struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name,omitempty"`
	Text    string `json:"text,omitempty"`
	Fails   bool   `json:"fails,omitempty"`
	Many    bool   `json:"many,omitempty"`
	Endless bool   `json:"endless,omitempty"`
	Cases   []Case `json:"cases,omitempty"`
	Body    []Node `json:"body,omitempty"`
}

// Case is one way through an if, switch or select. If all others can be passed
// by, the last has neither When nor Body.
type Case struct {
	// When is the condition; "" for else and default.
	When string `json:"when,omitempty"`
	// Falls says that the case goes on in the next one.
	Falls bool `json:"falls,omitempty"`
	// Body is what runs.
	Body []Node `json:"body,omitempty"`
}

// Parse reads the graph of one handler. A graph of a newer format is an error,
// for it could be misread.
func Parse(data []byte) (*Handler, error) {
	var h Handler
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("read graph: %w", err)
	}
	if h.Version < 1 || h.Version > Version {
		return nil, fmt.Errorf("read graph: format %d is not known, only those up to %d: a newer restaqgen wrote it", h.Version, Version)
	}
	return &h, nil
}

// StepOf returns the name of the step that a record belongs to, which is the
// record's name less its key: send-receipt for send-receipt[cus_123]. It reports
// whether the graph has a step of that name.
func (h *Handler) StepOf(record string) (string, bool) {
	names := map[string]bool{}
	for _, r := range h.Rows() {
		names[r.Step] = true
	}
	name, _, keyed := strings.Cut(record, "[")
	if record != "" && names[record] {
		return record, true
	}
	return name, keyed && name != "" && names[name]
}
