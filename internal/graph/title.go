package graph

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What drawings say in words.

// branchTitle is what stands in a decision. YesNo says that its two cases are
// told apart by that.
func branchTitle(n *Node) (title string, yesNo bool) {
	switch {
	case n.Kind == IfKind && len(n.Cases) == 2 && n.Cases[1].When == "":
		return n.Cases[0].When, true
	case n.Kind == SelectKind:
		return "select", false
	case n.Text != "":
		return n.Text, false
	}
	return string(n.Kind), false
}

// caseTitle is what stands at the way into a case.
func caseTitle(c *Case) string {
	if c.When == "" {
		return "else"
	}
	return c.When
}

// loopTitle is what stands at a loop.
func loopTitle(n *Node) string {
	title := strings.TrimSpace("for " + n.Text)
	if n.Name != "" {
		title = n.Name + ": " + title
	}
	return title
}

// callTitle is what stands at a function's body.
func callTitle(n *Node) string {
	name := n.Name
	switch {
	case n.Many && name == "":
		return "a function value, called any number of times"
	case n.Many:
		return "called by " + name + ", any number of times"
	case name == "":
		return "func"
	}
	return name
}

// goTitle is what stands at what runs concurrently.
func goTitle(n *Node) string {
	if n.Name == "" {
		return "concurrently"
	}
	return "concurrently, by " + n.Name
}

// optionText are the options of a handler or step, as its marker has them. Over
// is the expression of the option named word.
func optionText(over, word string, attempts int, backoff, timeout string) []string {
	var options []string
	if over != "" {
		options = append(options, word+"="+over)
	}
	if attempts != 0 {
		options = append(options, fmt.Sprintf("attempts=%d", attempts))
	}
	if backoff != "" {
		options = append(options, "backoff="+backoff)
	}
	if timeout != "" {
		options = append(options, "timeout="+timeout)
	}
	return options
}

// returnTitle is what stands at an early return, and whether it is one of an
// error.
func returnTitle(n *Node) (title string, fails bool) {
	switch {
	case n.Fails:
		return "fails: " + n.Text, true
	case n.Text != "":
		return "returns " + n.Text, false
	}
	return "return", false
}

// packed puts options into lines of some 40 characters.
func packed(options []string) []string {
	var lines []string
	for _, option := range options {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last]+option) < longestLine {
			lines[last] += " · " + option
		} else {
			lines = append(lines, option)
		}
	}
	return lines
}
