// Package graph says what handlers do, from their source, without running them:
// which steps they call, in which order, in which branches and loops, and where
// they end early. It is written to restaq.graph.json, which generated code
// embeds, and drawn as Mermaid, DOT and SVG.
//
// The files follow the work. build.go begins with a package; body.go, branch.go,
// loop.go, call.go and value.go read functions into a tree of nodes, which is
// the shape of the source less everything that decides nothing about steps.
// encode.go writes the tree as JSON. flow.go makes boxes and arrows of it for
// mermaid.go and dot.go; layout.go and svg.go make a picture of the tree itself.
// title.go has the words of all drawings.
package graph

import (
	"maps"
	"slices"
)

// Version is the version of the format, which each handler's graph carries, for
// stores keep them singly. It is raised when a reader of the version before
// would misread a graph.
const Version = 1

// Graph is what the handlers of a package do.
type Graph struct {
	// Package is the import path; it is not in the package's own file.
	Package string
	// Handlers are the package's handlers by their stable names.
	Handlers map[string]*Handler
}

// Handler is what one handler does.
type Handler struct {
	// Version is that of the format: [Version].
	Version int `json:"version"`
	// Events are the event types, in the order of the marker.
	Events []string `json:"events"`
	// Order, Attempts, Backoff and Timeout are the handler's options as in its
	// marker; zero if they are not given.
	Order    string `json:"order,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Backoff  string `json:"backoff,omitempty"`
	Timeout  string `json:"timeout,omitempty"`
	// Steps are the marked steps that the handler can call, by name.
	Steps map[string]Step `json:"steps,omitempty"`
	// Flow is the body.
	Flow []*Node `json:"flow"`
}

// Step is what a marker says of a step. Options that it does not give are zero.
type Step struct {
	// Func is the step's function: Billing.sendReceipt, or with its package's
	// import path in front if that is another one.
	Func     string `json:"func"`
	Key      string `json:"key,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Backoff  string `json:"backoff,omitempty"`
	Timeout  string `json:"timeout,omitempty"`
	Pure     bool   `json:"pure,omitempty"`
	// Tx is the type of the transaction that the step takes.
	Tx string `json:"tx,omitempty"`
}

// Kind is what a node is.
type Kind string

// The kinds of nodes. In lists, nodes run one after the other.
const (
	// StepKind is a call of a step. Name is its name; a name that restaq.Do
	// computes is "", and Text has the expression. Fails says that a failure
	// ends the function around it, which returns the error.
	StepKind Kind = "step"
	// IfKind takes the first of Cases whose condition holds.
	IfKind Kind = "if"
	// SwitchKind takes a case of a switch or type switch over Text.
	SwitchKind Kind = "switch"
	// SelectKind takes whichever case can go on.
	SelectKind Kind = "select"
	// LoopKind runs Body as Text says. Endless says that only what is in Body
	// ends it.
	LoopKind Kind = "loop"
	// CallKind runs Body, which is that of the function Name of the package, or
	// a function literal. Many says that it is handed to Name, which may call
	// it any number of times; Fails is as for a step.
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
	Kind    Kind    `json:"kind"`
	Name    string  `json:"name,omitempty"`
	Text    string  `json:"text,omitempty"`
	Fails   bool    `json:"fails,omitempty"`
	Many    bool    `json:"many,omitempty"`
	Endless bool    `json:"endless,omitempty"`
	Cases   []*Case `json:"cases,omitempty"`
	Body    []*Node `json:"body,omitempty"`
}

// Case is one way through an if, switch or select. If all others can be passed
// by, the last has neither When nor Body.
type Case struct {
	// When is the condition; "" for else and default.
	When string `json:"when,omitempty"`
	// Falls says that the case goes on in the next one.
	Falls bool `json:"falls,omitempty"`
	// Body is what runs.
	Body []*Node `json:"body,omitempty"`
}

// Steps returns how often nodes mention each step.
func Steps(nodes []*Node) map[string]int {
	found := map[string]int{}
	each(nodes, func(n *Node) {
		if n.Kind == StepKind {
			found[n.Name]++
		}
	})
	return found
}

// each calls f for each of nodes and of those within.
func each(nodes []*Node, f func(*Node)) {
	for _, n := range nodes {
		f(n)
		for _, c := range n.Cases {
			each(c.Body, f)
		}
		each(n.Body, f)
	}
}

// Names returns the names of the handlers, sorted.
func (g *Graph) Names() []string { return slices.Sorted(maps.Keys(g.Handlers)) }
