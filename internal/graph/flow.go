package graph

import (
	"slices"
	"strings"
)

// shape is what a box of a flow stands for.
type shape string

const (
	startBox    shape = "start"
	stepBox     shape = "step"
	goesOnBox   shape = "goeson" // a step whose failure the function goes on from
	decisionBox shape = "decision"
	loopBox     shape = "loop"
	markBox     shape = "mark" // labels, and calls of a function under way
	endBox      shape = "end"
	failBox     shape = "fail" // an end that is an error
)

// box is a box of a flow. Lines are its text, the first one being the most
// important.
type box struct {
	shape shape
	lines []string
}

// arrow leads from one box to another, by their numbers.
type arrow struct {
	from, to int
	text     string
	dashed   bool // what it leads to runs concurrently, or later
}

// flow is a handler's graph as boxes and arrows, of which the first box is the
// start.
type flow struct {
	name   string
	boxes  []box
	arrows []arrow
}

// tail is an arrow that leads nowhere yet.
type tail struct {
	from   int
	text   string
	dashed bool
}

// flowOf makes boxes and arrows of a handler's tree.
func flowOf(name string, h *Handler) *flow {
	l := &laying{flow: &flow{name: name}, handler: h}
	start := l.box(startBox, append([]string{name}, startLines(h)...)...)
	f := &function{handler: true}
	if tails := l.function(h.Flow, []tail{{from: start}}, f); len(tails) > 0 {
		l.join(tails, l.box(endBox, "completed"))
	}
	return l.flow
}

// defers reports whether a node defers something in the function around it.
func defers(n *Node) bool {
	switch n.Kind {
	case DeferKind:
		return true
	case IfKind, SwitchKind, SelectKind:
		return slices.ContainsFunc(n.Cases, func(c *Case) bool { return slices.ContainsFunc(c.Body, defers) })
	case LoopKind:
		return slices.ContainsFunc(n.Body, defers)
	}
	return false
}

// startLines are what is said of a handler below its name.
func startLines(h *Handler) []string {
	lines := slices.Clone(h.Events)
	return append(lines, packed(optionText(h.Order, "order", h.Attempts, h.Backoff, h.Timeout))...)
}

// stepLines are what is said of a step below its name.
func stepLines(s Step) []string {
	options := optionText(s.Key, "key", s.Attempts, s.Backoff, s.Timeout)
	if s.Pure {
		options = append(options, "pure")
	}
	if s.Tx != "" {
		options = append(options, "in "+s.Tx)
	}
	return packed(options)
}

// laying lays out one flow.
type laying struct {
	*flow
	handler *Handler
}

// function is what is known of a function while its nodes are laid out.
type function struct {
	handler bool    // it is the handler itself
	fails   *[]tail // where errors lead; nil: to the end of the handler
	late    *[]tail // where they lead first, if something is deferred
	frames  []*frame
	nested  int    // branches and loops around what is laid out
	loops   int    // the loops among them
	early   []tail // returns, before what is deferred anywhere
	returns []tail // behind what was deferred
	defers  []deferral
	labels  map[string]int
	gotos   map[string][]tail // to labels that are yet to come
}

// deferral is what a function deferred: once, unless that is maybe or often.
type deferral struct {
	body         []*Node
	maybe, often bool
}

// frame is a loop, switch or select.
type frame struct {
	name   string
	loop   bool
	breaks []tail
	again  []tail // continues
}

func (l *laying) box(s shape, lines ...string) int {
	l.boxes = append(l.boxes, box{s, lines})
	return len(l.boxes) - 1
}

// join lets tails lead to a box.
func (l *laying) join(tails []tail, to int) {
	for _, t := range tails {
		l.arrows = append(l.arrows, arrow{t.from, to, t.text, t.dashed})
	}
}

// next adds a box that tails lead to, and returns the tail of it.
func (l *laying) next(tails []tail, s shape, lines ...string) []tail {
	n := l.box(s, lines...)
	l.join(tails, n)
	return []tail{{from: n}}
}

// list lays out nodes that run one after the other. What no tail leads to cannot
// be reached, and is left out.
func (l *laying) list(nodes []*Node, tails []tail, f *function) []tail {
	for _, n := range nodes {
		if len(tails) > 0 || n.Kind == LabelKind {
			tails = l.node(n, tails, f)
		}
	}
	return tails
}

func (l *laying) node(n *Node, tails []tail, f *function) []tail {
	switch n.Kind {
	case StepKind:
		s := stepBox
		if !n.Fails {
			s = goesOnBox
		}
		tails = l.next(tails, s, append([]string{n.Name + n.Text}, stepLines(l.handler.Steps[n.Name])...)...)
		if to := f.failure(); n.Fails && to != nil {
			*to = append(*to, tail{from: tails[0].from, text: "fails"})
		}
	case IfKind, SwitchKind, SelectKind:
		return l.branches(n, tails, f)
	case LoopKind:
		return l.loop(n, loopTitle(n), tails, f)
	case CallKind:
		return l.call(n, tails, f)
	case AgainKind:
		return l.next(tails, markBox, "again: "+n.Name)
	case GoKind:
		var aside []tail
		for _, t := range tails {
			aside = append(aside, tail{t.from, strings.TrimSpace(t.text + " concurrently"), true})
		}
		l.body(&Node{Body: n.Body}, aside, f)
	case DeferKind:
		// A goto may lead past it, or back to a label before it.
		f.defers = append(f.defers, deferral{n.Body, f.nested > 0 || len(f.gotos) > 0, f.loops > 0 || len(f.labels) > 0})
	case ReturnKind:
		l.returned(n, tails, f)
		return nil
	case PanicKind:
		l.next(tails, failBox, n.Text)
		return nil
	case BreakKind, ContinueKind:
		for _, frame := range slices.Backward(f.frames) {
			if n.Name != "" && frame.name != n.Name || n.Kind == ContinueKind && !frame.loop {
				continue
			}
			if n.Kind == BreakKind {
				frame.breaks = append(frame.breaks, tails...)
			} else {
				frame.again = append(frame.again, tails...)
			}
			break
		}
		return nil
	case GotoKind:
		if to, ok := f.labels[n.Name]; ok {
			l.join(tails, to)
		} else {
			if f.gotos == nil {
				f.gotos = map[string][]tail{}
			}
			f.gotos[n.Name] = append(f.gotos[n.Name], tails...)
		}
		return nil
	case LabelKind:
		tails = l.next(append(tails, f.gotos[n.Name]...), markBox, n.Name)
		f.labels[n.Name] = tails[0].from
	}
	return tails
}

// returned lays out an early return. One of a helper goes back to the caller;
// one without an error goes to the end.
func (l *laying) returned(n *Node, tails []tail, f *function) {
	title, fails := returnTitle(n)
	to := f.failure()
	switch {
	case fails && to == nil:
		l.next(tails, failBox, title)
	case fails && f.handler:
		*to = append(*to, l.next(tails, markBox, title)...)
	case fails:
		*to = append(*to, tails...)
	case f.late != nil && (f.loops > 0 || len(f.labels) > 0):
		f.early = append(f.early, tails...) // what is deferred below may have been before
	case f.handler && n.Text != "":
		l.next(l.deferred(tails, f), endBox, title)
	default:
		f.returns = append(f.returns, l.deferred(tails, f)...)
	}
}

// call lays out the body of a function.
func (l *laying) call(n *Node, tails []tail, f *function) []tail {
	switch {
	case n.Text != "":
		return l.next(tails, markBox, n.Name, n.Text)
	case n.Many:
		return l.loop(n, callTitle(n), tails, f)
	}
	return l.body(n, tails, f)
}

// body lays out the body of a function and what it defers.
func (l *laying) body(n *Node, tails []tail, f *function) []tail {
	inner := &function{}
	if inner.fails = &inner.returns; n.Fails {
		inner.fails = f.failure()
	}
	return l.function(n.Body, tails, inner)
}

// function lays out the body of a function and returns what leads out of it.
func (l *laying) function(nodes []*Node, tails []tail, f *function) []tail {
	f.labels = map[string]int{}
	var late []tail
	if slices.ContainsFunc(nodes, defers) {
		f.late = &late
	}
	tails = l.deferred(l.list(nodes, tails, f), f)
	for i := range f.defers {
		f.defers[i].maybe = true // for those that end before
	}
	f.returns = append(f.returns, l.deferred(f.early, f)...)
	if len(late) > 0 {
		if late = l.deferred(late, f); f.fails != nil {
			*f.fails = append(*f.fails, late...)
		} else {
			l.next(late, failBox, "failed")
		}
	}
	return append(tails, f.returns...)
}

// failure is where a failure in a function leads; nil: to the end of the
// handler, without an arrow.
func (f *function) failure() *[]tail {
	if f.late != nil {
		return f.late
	}
	return f.fails
}

// deferred lays out what a function deferred, at its end. What it deferred in a
// loop runs in turns.
func (l *laying) deferred(tails []tail, f *function) []tail {
	for i := len(f.defers) - 1; i >= 0 && len(tails) > 0; i-- {
		d := f.defers[i]
		later := slices.Clone(tails)
		for i := range later {
			later[i].text, later[i].dashed = "deferred", true
		}
		if d.often {
			turns := &Node{Kind: LoopKind}
			for ; i >= 0 && f.defers[i].often; i-- {
				call := &Node{Kind: CallKind, Body: f.defers[i].body}
				turns.Body = append(turns.Body, &Node{Kind: IfKind, Cases: []*Case{{When: "it was deferred", Body: []*Node{call}}, {}}})
			}
			i++
			tails = l.loop(turns, "for what was deferred", later, f)
			continue
		}
		out := l.body(&Node{Body: d.body}, later, f)
		if d.maybe {
			out = append(out, tails...)
		}
		tails = out
	}
	return tails
}

// branches lays out an if, switch or select.
func (l *laying) branches(n *Node, tails []tail, f *function) []tail {
	title, yesNo := branchTitle(n)
	from := l.next(tails, decisionBox, title)[0].from
	frame := &frame{name: n.Name}
	if n.Kind != IfKind {
		f.frames = append(f.frames, frame)
	}
	f.nested++
	var ends, falls []tail
	for i, c := range n.Cases {
		when := caseTitle(c)
		if yesNo {
			when = []string{"yes", "no"}[i]
		}
		out := l.list(c.Body, append([]tail{{from: from, text: when}}, falls...), f)
		falls = nil
		if c.Falls {
			falls = out
		} else {
			ends = append(ends, out...)
		}
	}
	f.nested--
	if n.Kind != IfKind {
		f.frames = f.frames[:len(f.frames)-1]
	}
	return append(ends, frame.breaks...)
}

// loop lays out a loop.
func (l *laying) loop(n *Node, title string, tails []tail, f *function) []tail {
	head := l.next(tails, loopBox, title)[0].from
	frame := &frame{name: n.Name, loop: true}
	in := []tail{{from: head, text: "each"}}
	if n.Endless {
		in[0].text = ""
	}
	var out []tail
	if n.Kind == CallKind { // a function that is handed on
		out = l.body(&Node{Body: n.Body}, in, f)
	} else {
		f.frames = append(f.frames, frame)
		f.nested, f.loops = f.nested+1, f.loops+1
		out = l.list(n.Body, in, f)
		f.nested, f.loops = f.nested-1, f.loops-1
		f.frames = f.frames[:len(f.frames)-1]
	}
	l.join(append(out, frame.again...), head)
	if n.Endless {
		return frame.breaks
	}
	return append([]tail{{from: head, text: "then"}}, frame.breaks...)
}
