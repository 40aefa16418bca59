package dashboard

import (
	"strconv"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/graph"
)

// flowRow is a line of what the handler does, with how far it has come.
type flowRow struct {
	graph.Row
	Indent string // class
	State  string // of a step: completed, failed, running, waiting, passed; "" for what is no step
	Note   string
}

// maxIndent is the deepest indentation that there is a class for.
const maxIndent = 8

// flow makes rows of the handler's graph, if it is known.
func (b *executionBody) flow(infos []restaq.HandlerInfo) {
	info, _ := infoOf(infos, b.Handler)
	if info.Graph == nil {
		return
	}
	h, err := graph.Parse(info.Graph)
	if err != nil {
		return // a newer generator wrote it: the attempts tell what happened
	}
	states := b.stepStates()
	for _, row := range h.Rows() {
		f := flowRow{Row: row, Indent: "indent-" + strconv.Itoa(min(row.Depth, maxIndent))}
		if row.Kind == graph.StepKind {
			s := states[row.Step]
			f.State = s.word
			if f.State == "" {
				f.State = "waiting"
				if b.Final() && !b.Dead() {
					f.State = "passed"
				}
			}
			if s.calls > 1 {
				f.Note = "×" + grouped(s.calls)
			}
		}
		b.Flow = append(b.Flow, f)
	}
}

// stepState is how far a step has come, over all its keys.
type stepState struct {
	word  string
	calls int // in the last attempt
}

// stepStates returns the states of steps by name, since the last restart.
func (b *executionBody) stepStates() map[string]stepState {
	states := make(map[string]stepState)
	for i := range b.History.Tries {
		a := &b.History.Tries[i]
		if a.Kind == restaq.Restarted.String() {
			clear(states)
		}
		calls := make(map[string]stepState)
		for j := range a.Steps {
			step := &a.Steps[j]
			s := calls[stepName(step.Name)]
			s.calls++
			switch {
			case step.Status == restaq.StepFailed || step.Status == restaq.StepPermanent:
				s.word = "failed"
			case s.word == "":
				s.word = "completed"
			}
			calls[stepName(step.Name)] = s
		}
		for name, s := range calls {
			states[name] = s
		}
	}
	if b.Status == restaq.Running && b.Step != "" {
		s := states[stepName(b.Step)]
		s.word = "running"
		states[stepName(b.Step)] = s
	}
	return states
}
