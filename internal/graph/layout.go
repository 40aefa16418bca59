package graph

// A picture of a handler follows the structure of its source: what runs one
// after the other stands on one line from top to bottom, cases stand side by
// side, and loops and functions are frames around what is in them. So the line
// that a handler takes when nothing is special is straight, nothing crosses, and
// the same source gives the same picture.

// Distances, in pixels.
const (
	gap     = 26 // between two blocks, for the arrow
	aside   = 28 // between two cases
	padding = 16 // within a frame
	margin  = 16 // around the picture
	corner  = 8  // of lines and frames
)

// block is a part of a picture. Its axis is the line that comes in at the top
// and, unless the block ends the path, goes out at the bottom.
type block struct {
	left, right int // how far it reaches on both sides of the axis
	height      int
	ends        bool
	draw        func(p *pen, x, y int) // x is the axis, y the top
}

// picture returns the block of a handler.
func picture(name string, h *Handler) block {
	d := &drawing{handler: h}
	blocks := []block{label("start", append([]string{name}, startLines(h)...)...)}
	for _, n := range h.Flow {
		blocks = append(blocks, d.block(n))
	}
	if last := blocks[len(blocks)-1]; !last.ends {
		blocks = append(blocks, label("end", "completed"))
	}
	return sequence(blocks)
}

// drawing makes blocks of the nodes of one handler.
type drawing struct{ handler *Handler }

func (d *drawing) list(nodes []*Node) block {
	var blocks []block
	for _, n := range nodes {
		blocks = append(blocks, d.block(n))
	}
	return sequence(blocks)
}

func (d *drawing) block(n *Node) block {
	switch n.Kind {
	case StepKind:
		class := "step"
		if !n.Fails {
			class = "step goeson"
		}
		return label(class, append([]string{n.Name + n.Text}, stepLines(d.handler.Steps[n.Name])...)...)
	case IfKind, SwitchKind, SelectKind:
		return d.branches(n)
	case LoopKind:
		return framed("loop", "↻ "+loopTitle(n), d.list(n.Body), n.Endless && !leaves(n, BreakKind))
	case CallKind:
		if n.Text != "" {
			return label("mark", n.Name, n.Text)
		}
		class := "call"
		if n.Many {
			class = "loop"
		}
		return framed(class, callTitle(n), d.list(n.Body), false)
	case GoKind:
		return framed("aside", "⇉ "+goTitle(n), d.list(n.Body), false)
	case DeferKind:
		return framed("aside", "deferred to the end", d.list(n.Body), false)
	case AgainKind:
		return label("mark", "again: "+n.Name)
	case LabelKind:
		return label("mark", n.Name+":")
	}
	return exit(n)
}

// exit is the block of a node that ends a path.
func exit(n *Node) block {
	class, title := "exit", string(n.Kind)
	switch n.Kind {
	case ReturnKind:
		fails := false
		if title, fails = returnTitle(n); fails {
			class = "fail"
		}
	case PanicKind:
		class, title = "fail", n.Text
	default:
		if n.Name != "" {
			title += " " + n.Name
		}
	}
	b := label(class, title)
	b.ends = true
	return b
}

// isExit reports whether a case only ends its path.
func isExit(nodes []*Node) bool {
	if len(nodes) != 1 {
		return false
	}
	switch nodes[0].Kind {
	case ReturnKind, PanicKind, BreakKind, ContinueKind, GotoKind:
		return true
	}
	return false
}

// sequence puts blocks below each other, with arrows between.
func sequence(blocks []block) block {
	s := block{draw: func(p *pen, x, y int) {
		for i, b := range blocks {
			b.draw(p, x, y)
			y += b.height
			if i+1 < len(blocks) {
				if !b.ends {
					p.arrow(x, y, y+gap)
				}
				y += gap
			}
		}
	}}
	for i, b := range blocks {
		s.left, s.right = max(s.left, b.left), max(s.right, b.right)
		s.height += b.height
		if i > 0 {
			s.height += gap
		}
		s.ends = b.ends
	}
	return s
}

// framed puts a frame around a block, with a title in its upper edge.
func framed(class, title string, inner block, ends bool) block {
	head := label(class+" head", title)
	half := head.height / 2
	b := block{
		left:   max(head.left, inner.left) + padding,
		right:  max(head.right, inner.right) + padding,
		height: head.height + gap + inner.height + padding,
		ends:   ends,
	}
	b.draw = func(p *pen, x, y int) {
		p.frame(class, x-b.left, y+half, b.left+b.right, b.height-half)
		head.draw(p, x, y)
		p.arrow(x, y+head.height, y+head.height+gap)
		inner.draw(p, x, y+head.height+gap)
	}
	return b
}

// branches is the block of an if, switch or select.
func (d *drawing) branches(n *Node) block {
	title, yesNo := branchTitle(n)
	head := label("decision", title)
	if yesNo && isExit(n.Cases[0].Body) && len(n.Cases[1].Body) == 0 {
		return guard(head, "yes", exit(n.Cases[0].Body[0]))
	}
	if yesNo && isExit(n.Cases[1].Body) && len(n.Cases[0].Body) == 0 {
		return guard(head, "no", exit(n.Cases[1].Body[0]))
	}
	columns := make([]column, len(n.Cases))
	straight := 0 // the first that goes on: it stands on the axis
	falls := false
	for i, c := range n.Cases {
		when := caseTitle(c)
		if yesNo {
			when = []string{"yes", "no"}[i]
		}
		columns[i] = column{when: wrap(when), block: d.list(c.Body)}
		if c.Falls {
			fall := label("exit", "fallthrough →")
			fall.ends = true
			if len(c.Body) == 0 {
				columns[i].block = fall
			} else {
				columns[i].block = sequence([]block{d.list(c.Body), fall})
			}
			falls = true
		}
	}
	for straight < len(columns) && columns[straight].block.ends {
		straight++
	}
	if straight > 0 && straight < len(columns) && !falls {
		first := columns[straight]
		copy(columns[1:], columns[:straight])
		columns[0] = first
	}
	b := abreast(head, columns)
	if n.Kind != IfKind && leaves(n, BreakKind) {
		b.ends = false
	}
	return b
}

// guard is a decision with an exit beside it.
func guard(head block, when string, out block) block {
	line := textWidth(when, small) + 28
	b := block{left: head.left, right: head.right + line + out.left + out.right, height: max(head.height, out.height)}
	b.draw = func(p *pen, x, y int) {
		top := y + (b.height-head.height)/2
		p.line(x, y, x, top, false)
		head.draw(p, x, top)
		p.line(x, top+head.height, x, y+b.height, false)
		middle := y + b.height/2
		p.sideways(x+head.right, x+head.right+line, middle)
		p.text("when", x+head.right+9, middle-5, when)
		out.draw(p, x+head.right+line+out.left, y+(b.height-out.height)/2)
	}
	return b
}

// column is a case of a branch.
type column struct {
	when []string
	block
	x int // of its axis, from that of the branch
}

// abreast puts columns side by side below a decision. The first one stands on
// the axis; all that do not end meet there again.
func abreast(head block, columns []column) block {
	const split = 14 // from the decision to the line that leads to the columns
	b := block{left: head.left, right: head.right, height: head.height, ends: true}
	words, tallest, aloft := 0, 0, false
	for i := range columns {
		c := &columns[i]
		words = max(words, len(c.when)*lineHeight)
		c.right = max(c.right, textsWidth(c.when, small)+10)
		if i > 0 {
			before := columns[i-1]
			c.x = before.x + before.right + aside + c.left
			aloft = aloft || !c.ends
		}
		tallest = max(tallest, c.height)
		b.left, b.right = max(b.left, c.left-c.x), max(b.right, c.x+c.right)
		b.ends = b.ends && c.ends
	}
	top := head.height + split + words + gap - 8
	b.height = top + tallest
	if aloft {
		b.height += gap
	}
	b.draw = func(p *pen, x, y int) {
		head.draw(p, x, y)
		for i, c := range columns {
			down := y + top
			if i == 0 {
				p.line(x, y+head.height, x, down, c.height > 0)
			} else {
				p.bend(x, y+head.height, x+c.x, y+head.height+split, down, c.height > 0)
			}
			for n, line := range c.when {
				p.text("when", x+c.x+7, y+head.height+split+(n+1)*lineHeight, line)
			}
			c.draw(p, x+c.x, y+top)
			if c.ends {
				continue
			}
			if i == 0 {
				p.line(x, y+top+c.height, x, y+b.height, false)
			} else {
				p.back(x+c.x, y+top+c.height, x, y+b.height)
			}
		}
	}
	return b
}
