package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	restaq "github.com/restaq/restaq/runtime"
)

// The rules of what the command prints:
//
//   - Results, and nothing else, go to standard output: text for people, one
//     line a thing; with --json, JSON for programs.
//   - Everything else goes to standard error, each line with "restaq: " in
//     front: errors, notes, and where the next page of a list begins.
//   - Colours are for a terminal only, and for none if NO_COLOR is set or TERM
//     is "dumb". They add nothing that the words do not say.
//   - On a terminal, tables fit its width (COLUMNS says otherwise): what does not
//     fit is cut off and ends in "…". Anywhere else nothing is cut.
//   - Progress is a line that is drawn again on a terminal, and a line each few
//     seconds elsewhere. Questions are asked on a terminal only.
//   - What others wrote (errors, event ids) is shown without control
//     characters: it cannot drive the terminal.
//   - Times are UTC, in RFC 3339, to the second; in JSON to the microsecond.

// output prints by the rules above.
type output struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	color          bool // of stdout
	width          int  // of stdout, if it is a terminal; else 0
	asks           bool // stdin and stderr are terminals
	draws          bool // stderr is a terminal that can go back to a line's beginning
}

func newOutput(stdin, stdout, stderr *os.File, getenv func(string) string) *output {
	terminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	o := &output{
		stdin: stdin, stdout: stdout, stderr: stderr,
		asks:  terminal(stdin) && terminal(stderr),
		draws: terminal(stderr) && getenv("TERM") != "dumb",
	}
	if terminal(stdout) {
		o.color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
		var err error
		if o.width, err = strconv.Atoi(getenv("COLUMNS")); err != nil || o.width < 1 {
			o.width, _, _ = term.GetSize(int(stdout.Fd()))
		}
	}
	return o
}

// print prints a line of a result.
func (o *output) print(line string) { fmt.Fprintln(o.stdout, line) }

// json prints a result as one line of JSON.
func (o *output) json(v any) error {
	enc := json.NewEncoder(o.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// note prints what is no result.
func (o *output) note(format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		if line != "" {
			fmt.Fprintf(o.stderr, "restaq: %s\n", clean(line))
		}
	}
}

// report prints an error, unless that has been done.
func (o *output) report(err error) {
	if !errors.Is(err, errReported) {
		o.note("%v", err)
	}
}

// The colours of statuses, as SGR parameters.
var colours = map[string]string{
	"running":   "36", // cyan
	"completed": "32", // green
	"retrying":  "33", // yellow
	"failed":    "31", // red
	"dead":      "31",
	"cancelled": "90", // grey
}

// paint gives text the colour of a status.
func (o *output) paint(status, text string) string {
	c := colours[status]
	if !o.color || c == "" {
		return text
	}
	return "\x1b[" + c + "m" + text + "\x1b[0m"
}

// word is what a list calls an execution's status: failed ones are dead or
// retrying.
func word(e *restaq.Execution) string {
	switch {
	case e.Dead():
		return "dead"
	case e.Retrying():
		return "retrying"
	}
	return string(e.Status)
}

// stamp writes a time; a zero one is "".
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// clean makes foreign text fit to print on one line.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// firstLine is the first line of foreign text, at most n runes of it.
func firstLine(text string, n int) string {
	text, _, _ = strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	return cut(clean(strings.TrimRight(text, "\r")), n)
}

// cut returns at most n runes of text; what is cut off shows as "…".
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// table is rows in columns, a page at a time: the header comes with the first,
// and columns never get narrower. The column painted, if there is one, is
// painted by its status; the flexible ones are cut where a terminal is narrow.
type table struct {
	header   []string
	painted  int
	flexible []int
	widths   []int // nil before the first page
}

// narrowest is what is left of a flexible column.
const narrowest = 8

// fit returns the widths of columns in so many characters; 0 is no bound.
func (t *table) fit(width int) []int {
	widths := slices.Clone(t.widths)
	over := -2 - width // no gap after the last column
	for _, w := range widths {
		over += w + 2
	}
	if width == 0 {
		over = 0
	}
	for ; over > 0; over-- {
		widest := -1
		for _, i := range t.flexible {
			if widths[i] > narrowest && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// page prints rows.
func (o *output) page(t *table, rows [][]string) {
	if t.widths == nil {
		t.widths = make([]int, len(t.header))
		rows = append([][]string{t.header}, rows...)
	}
	for _, row := range rows {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	widths := t.fit(o.width)
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = cut(cell, widths[i])
			text := cell
			if i == t.painted {
				text = o.paint(cell, cell)
			}
			line.WriteString(text + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		o.print(strings.TrimRight(line.String(), " "))
	}
}
