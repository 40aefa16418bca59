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
	f := &function{labels: map[string]int{}}
	tails := l.list(h.Flow, []tail{{from: start}}, f)
	tails = l.deferred(append(tails, f.returns...), f)
	if len(tails) > 0 {
		l.join(tails, l.box(endBox, "completed"))
	}
	return l.flow
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
	fails   bool // its caller returns its error
	outer   *function
	frames  []*frame
	returns []tail
	defers  [][]*Node
	labels  map[string]int
	gotos   map[string][]tail // to labels that are yet to come
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
		return l.next(tails, s, append([]string{n.Name + n.Text}, stepLines(l.handler.Steps[n.Name])...)...)
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
		f.defers = append(f.defers, n.Body)
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
	switch {
	case fails && (f.outer == nil || f.fails):
		l.next(l.deferred(slices.Clone(tails), f), failBox, title)
	case f.outer == nil && n.Text != "":
		l.next(l.deferred(slices.Clone(tails), f), endBox, title)
	default:
		f.returns = append(f.returns, tails...)
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
	inner := &function{outer: f, fails: n.Fails && (f.outer == nil || f.fails), labels: map[string]int{}}
	tails = l.list(n.Body, tails, inner)
	return l.deferred(append(tails, inner.returns...), inner)
}

// deferred lays out what a function deferred, at its end.
func (l *laying) deferred(tails []tail, f *function) []tail {
	for _, body := range slices.Backward(f.defers) {
		for i := range tails {
			tails[i].text, tails[i].dashed = "deferred", true
		}
		if len(tails) > 0 {
			tails = l.body(&Node{Body: body}, tails, f)
		}
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
		out = l.list(n.Body, in, f)
		f.frames = f.frames[:len(f.frames)-1]
	}
	l.join(append(out, frame.again...), head)
	if n.Endless {
		return frame.breaks
	}
	return append([]tail{{from: head, text: "then"}}, frame.breaks...)
}
