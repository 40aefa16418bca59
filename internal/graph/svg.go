package graph

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sizes of texts, in pixels.
const (
	large      = 13
	small      = 11
	lineHeight = 15
)

// longestLine is how many characters a line has before the text goes on below.
const longestLine = 40

// row is how wide a picture of several handlers becomes before it goes on below.
const row = 1400

// style is for light and dark pages.
const style = `
svg{--ink:#1f2328;--quiet:#59636e;--line:#818b98;--paper:#fff;--step:#ddf4ff;--step-edge:#54aeff;--choice:#fff8c5;--choice-edge:#d4a72c;--good:#dafbe1;--good-edge:#4ac26b;--bad:#ffebe9;--bad-edge:#ff8182;--loop:#8250df;--wash:rgba(130,80,223,.05)}
@media (prefers-color-scheme:dark){svg{--ink:#f0f6fc;--quiet:#9198a1;--line:#656c76;--paper:#151b23;--step:#0d2d52;--step-edge:#388bfd;--choice:#341a00;--choice-edge:#9e6a03;--good:#04260f;--good-edge:#2ea043;--bad:#3c0614;--bad-edge:#da3633;--loop:#ab7df8;--wash:rgba(171,125,248,.08)}}
text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace;fill:var(--quiet)}
.name{font-size:13px;font-weight:600;fill:var(--ink)}
.title{font-size:12px;fill:var(--ink)}
.line{fill:none;stroke:var(--line);stroke-width:1.5}
.tip{fill:var(--line)}
rect,polygon{stroke-width:1.25;fill:var(--paper);stroke:var(--line)}
.start,.end{fill:var(--good);stroke:var(--good-edge)}
.step{fill:var(--step);stroke:var(--step-edge)}
.goeson{stroke-dasharray:5 3}
.decision{fill:var(--choice);stroke:var(--choice-edge)}
.fail{fill:var(--bad);stroke:var(--bad-edge)}
.loop{stroke:var(--loop)}
.frame{fill:none}
.frame.loop{fill:var(--wash)}
.aside{stroke-dasharray:2 3}
.head.aside{stroke-dasharray:none}
`

// SVG returns a picture of the graphs, with a column for each handler. It needs
// nothing beside itself, and follows the reader's choice of a light or dark
// page.
func SVG(graphs []*Graph) []byte {
	p := &pen{}
	x, y, height, width := margin, margin, 0, 0
	var names []string
	for _, g := range graphs {
		for _, name := range g.Names() {
			b := picture(name, g.Handlers[name])
			if x > margin && x+b.left+b.right > row {
				x, y, height = margin, y+height+2*margin, 0
			}
			b.draw(p, x+b.left, y)
			x += b.left + b.right + 3*margin
			height, width = max(height, b.height), max(width, x-2*margin)
			names = append(names, name)
		}
	}
	width, height = max(width, 2*margin), y+height+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`, width, height)
	fmt.Fprintf(&b, "\n<title>%s</title>\n<style>%s</style>\n", escape(strings.Join(names, ", ")), style)
	b.WriteString(p.frames.String())
	b.WriteString(p.lines.String())
	b.WriteString(p.boxes.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// pen draws on three layers.
type pen struct{ frames, lines, boxes strings.Builder }

// label is a box with lines of text, the first one being the most important.
func label(class string, lines ...string) block {
	kind, _, _ := strings.Cut(class, " ")
	first, size, side := "title", 12, 14
	switch kind {
	case "step", "start":
		first, size = "name", large
	case "decision":
		side = 20
	}
	head := wrap(lines[0])
	width := textsWidth(head, size)
	var rest []string
	for _, line := range lines[1:] {
		rest = append(rest, wrap(line)...)
	}
	half := (max(width, textsWidth(rest, small))+1)/2 + side
	b := block{left: half, right: half, height: (len(head)+len(rest))*lineHeight + 13}
	b.draw = func(p *pen, x, y int) {
		p.shape(class, kind, x-half, y, 2*half, b.height)
		y += lineHeight + 2
		for _, line := range head {
			p.centred(first, x, y, line)
			y += lineHeight
		}
		for _, line := range rest {
			p.centred("", x, y, line)
			y += lineHeight
		}
	}
	return b
}

// shape draws a box of a kind.
func (p *pen) shape(class, kind string, x, y, width, height int) {
	if kind == "decision" {
		fmt.Fprintf(&p.boxes, `<polygon class="%s" points="%d,%d %d,%d %d,%d %d,%d %d,%d %d,%d"/>`+"\n", class,
			x, y+height/2, x+10, y, x+width-10, y, x+width, y+height/2, x+width-10, y+height, x+10, y+height)
		return
	}
	round := height / 2
	if kind == "step" || kind == "loop" || kind == "call" || kind == "aside" {
		round = 6
	}
	fmt.Fprintf(&p.boxes, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`+"\n", class, x, y, width, height, min(round, 18))
}

func (p *pen) frame(class string, x, y, width, height int) {
	fmt.Fprintf(&p.frames, `<rect class="frame %s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`+"\n", class, x, y, width, height, corner)
}

// centred writes a text around x; y is its base line.
func (p *pen) centred(class string, x, y int, text string) {
	attributes := ""
	if class != "" {
		attributes = ` class="` + class + `"`
	}
	fmt.Fprintf(&p.boxes, `<text%s x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", attributes, x, y, escape(text))
}

// text writes a text from x on.
func (p *pen) text(class string, x, y int, text string) {
	fmt.Fprintf(&p.boxes, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, y, escape(text))
}

// arrow draws an arrow down.
func (p *pen) arrow(x, from, to int) { p.line(x, from, x, to, true) }

// line draws a straight line down, with a tip if it ends at a box.
func (p *pen) line(x, y, toX, toY int, tip bool) {
	if y == toY {
		return
	}
	p.path(fmt.Sprintf("M%d %dV%d", x, y, end(toY, tip)))
	if tip {
		p.tip(toX, toY)
	}
}

// bend draws a line down to a height, sideways, and down again.
func (p *pen) bend(x, y, toX, at, toY int, tip bool) {
	p.path(fmt.Sprintf("M%d %dV%dH%dq%d 0 %[5]d %[5]dV%[6]d", x, y, at, toX-corner, corner, end(toY, tip)))
	if tip {
		p.tip(toX, toY)
	}
}

// back draws a line down and back to the left.
func (p *pen) back(x, y, toX, toY int) {
	at := toY
	p.path(fmt.Sprintf("M%d %dV%dq0 %d -%[4]d %[4]dH%[5]d", x, y, at-corner, corner, toX))
}

// sideways draws an arrow to the right.
func (p *pen) sideways(x, toX, y int) {
	p.path(fmt.Sprintf("M%d %dH%d", x, y, toX-6))
	fmt.Fprintf(&p.lines, `<path class="tip" d="M%d %dl-7 -4v8z"/>`+"\n", toX, y)
}

func (p *pen) path(d string) { fmt.Fprintf(&p.lines, `<path class="line" d="%s"/>`+"\n", d) }

func (p *pen) tip(x, y int) {
	fmt.Fprintf(&p.lines, `<path class="tip" d="M%d %dl-4 -7h8z"/>`+"\n", x, y)
}

// end is where the line of an arrow ends: within its tip.
func end(y int, tip bool) int {
	if tip {
		return y - 6
	}
	return y
}

// textWidth returns how wide a text is, in a font of one width for all letters,
// which are wider in some scripts.
func textWidth(s string, size int) int {
	cells := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0x1F000, r >= 0xFF00 && r < 0xFF61:
			cells += 2
		default:
			cells++
		}
	}
	return (cells*size*61 + 99) / 100
}

func textsWidth(lines []string, size int) int {
	width := 0
	for _, line := range lines {
		width = max(width, textWidth(line, size))
	}
	return width
}

// wrap breaks a text at spaces into lines of [longestLine] characters.
func wrap(s string) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(s, " ") {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line+word) >= longestLine:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// escape returns a text for use in XML. What XML cannot hold is replaced.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic("graph: a strings.Builder failed: " + err.Error())
	}
	return b.String()
}
