package graph

import "slices"

// Row is a line of the outline of a handler.
type Row struct {
	// Depth is how far the row is indented: 0 for the handler's own body.
	Depth int
	// Kind is that of the node; [CaseKind] for the head of a case.
	Kind Kind
	// Text is the row in words: a step's name, "if order.Paid", "return".
	Text string
	// Step is the name of a step; "" for other rows, and for steps whose name is
	// computed.
	Step string
	// Maybe says that the row can be passed by although the handler completes:
	// it stands in a branch or a loop, or behind an early return.
	Maybe bool
	// Often says that the row can happen more than once.
	Often bool
}

// CaseKind is the kind of rows that stand for a case of a branch.
const CaseKind Kind = "case"

// Rows returns the handler as an outline:
//
//	if push.Deleted
//	  return
//	for _, commit := range push.Commits
//	  link-issues
//	deploy
//
// Cases without anything in them have no row, except that a condition stands
// before what its opposite leads to.
func (h *Handler) Rows() []Row {
	o := outline{}
	o.list(h.Flow, place{})
	return o.rows
}

type outline struct {
	rows []Row
}

// place is where nodes stand: what their rows begin with.
type place struct {
	Row
	// apart says that a failure ends the function around, and not the handler,
	// which does not get the error.
	apart bool
}

// ways are where a list of nodes can be left for, other than by its end: the
// function ("return"), the innermost loop or switch ("break", "continue"), or a
// label ("name:").
type ways []string

// less returns the ways that are none of those, which lead just behind.
func (w ways) less(here ...string) ways {
	return slices.DeleteFunc(w, func(way string) bool { return slices.Contains(here, way) })
}

// list adds the rows of nodes, which begin from at, and returns how they can be
// left: what stands behind is passed by then.
func (o *outline) list(nodes []Node, at place) (left ways) {
	for _, n := range nodes {
		out := o.node(n, at)
		left = append(left, out...)
		at.Maybe = at.Maybe || len(out) > 0
	}
	return left
}

func (o *outline) add(at place, kind Kind, text string) {
	at.Kind, at.Text = kind, text
	o.rows = append(o.rows, at.Row)
}

func (o *outline) node(n Node, at place) ways {
	within := at
	within.Depth++
	switch n.Kind {
	case StepKind:
		at.Step = n.Name
		o.add(at, n.Kind, n.Name+n.Text)
		return failure(n, at)
	case IfKind, SwitchKind, SelectKind:
		left := o.cases(n, at)
		if n.Kind == IfKind {
			return left
		}
		return left.less("break", n.Name+":")
	case LoopKind:
		o.add(at, n.Kind, named(n.Name, ":", spaced("for", n.Text)))
		within.Maybe, within.Often = within.Maybe || !n.Endless, true
		return o.list(n.Body, within).less("break", "continue", n.Name+":")
	case CallKind:
		o.add(at, n.Kind, callText(n))
		if n.Many {
			within.Maybe, within.Often = true, true
		}
		within.apart = at.apart || !n.Fails
		o.list(n.Body, within) // what leaves a function leads behind its call
		return failure(n, at)
	case GoKind:
		within.apart = true
		o.add(at, n.Kind, spaced("concurrently", named("by", "", n.Name)))
		o.list(n.Body, within)
	case DeferKind:
		o.add(at, n.Kind, "at the end")
		within.apart = true
		o.list(n.Body, within)
	case ReturnKind:
		o.add(at, n.Kind, spaced(string(n.Kind), n.Text))
		if !n.Fails || at.apart {
			return ways{"return"}
		}
	case GotoKind:
		o.add(at, n.Kind, spaced(string(n.Kind), n.Name))
		return ways{"goto"} // who knows what it passes by
	case BreakKind, ContinueKind:
		o.add(at, n.Kind, spaced(string(n.Kind), n.Name))
		if n.Name != "" {
			return ways{n.Name + ":"}
		}
		return ways{string(n.Kind)}
	case LabelKind:
		at.Often = true
		o.add(at, n.Kind, n.Name+":")
	case PanicKind:
		o.add(at, n.Kind, n.Text)
	default:
		o.add(at, n.Kind, spaced(spaced(string(n.Kind), n.Name), n.Text))
	}
	return nil
}

// failure is how a call leaves the function around it if it fails, unless that
// ends the handler.
func failure(n Node, at place) ways {
	if n.Fails && at.apart {
		return ways{"return"}
	}
	return nil
}

// cases adds the rows of an if, switch or select.
func (o *outline) cases(n Node, at place) (left ways) {
	within := at
	if n.Kind != IfKind {
		o.add(at, n.Kind, named(n.Name, ":", spaced(string(n.Kind), n.Text)))
		at.Depth++
	}
	within.Depth, within.Maybe = at.Depth+1, true
	at.Maybe = true
	word := "if"
	for i, c := range n.Cases {
		last := i == len(n.Cases)-1
		if last && c.When == "" && len(c.Body) == 0 {
			break
		}
		text := spaced("case", c.When)
		switch {
		case c.When == "" && n.Kind == IfKind:
			text = "else"
		case c.When == "":
			text = "default"
		case n.Kind == IfKind:
			text = spaced(word, c.When)
		}
		word = "else if"
		o.add(at, CaseKind, text)
		left = append(left, o.list(c.Body, within)...)
	}
	return left
}

func callText(n Node) string {
	text := n.Name
	switch {
	case n.Many && n.Name == "":
		text = "a function value, called any number of times"
	case n.Many:
		text = "called by " + n.Name + ", any number of times"
	case n.Name == "":
		text = "func"
	}
	return named(text, ":", n.Text)
}

// spaced joins two words by a space, if the second is there.
func spaced(a, b string) string {
	if b == "" {
		return a
	}
	return a + " " + b
}

// named puts a name and a mark before a text, if both are there.
func named(name, mark, text string) string {
	switch {
	case name == "":
		return text
	case text == "" && mark == "":
		return ""
	case text == "":
		return name
	}
	return name + mark + " " + text
}
