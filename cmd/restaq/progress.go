package main

import (
	"bufio"
	"fmt"
	"strings"
	"time"
)

// ask asks a question on the terminal, to which anything but yes is no.
func (o *output) ask(question string) bool {
	fmt.Fprintf(o.stderr, "restaq: %s [y/N] ", question)
	answer, _ := bufio.NewReader(o.stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	}
	return false
}

// progress shows how far something has come: on a terminal as a bar that is
// drawn again, elsewhere as a line each few seconds.
type progress struct {
	*output
	verb  string
	total int
	open  bool // there are more than total

	last  time.Time // when a line was printed
	drawn bool
}

const (
	barWidth  = 30
	lineEvery = 5 * time.Second
)

// at shows that n of the total are done.
func (p *progress) at(n int) {
	if p.draws {
		p.drawn = true
		full := barWidth
		if p.total > n {
			full = barWidth * n / p.total
		}
		fmt.Fprintf(p.stderr, "\rrestaq: %s %s%s %s\x1b[K", p.verb, strings.Repeat("█", full), strings.Repeat("░", barWidth-full), p.of(n))
		return
	}
	if p.last.IsZero() {
		p.last = time.Now()
	}
	if time.Since(p.last) >= lineEvery {
		p.last = time.Now()
		p.note("%s: %s", p.verb, p.of(n))
	}
}

// of writes how many of the total n are.
func (p *progress) of(n int) string {
	if p.open {
		return fmt.Sprintf("%d of more than %d", n, p.total-1)
	}
	return fmt.Sprintf("%d of %d", n, max(n, p.total))
}

// end goes on to a line of its own.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprintln(p.stderr)
	}
}
