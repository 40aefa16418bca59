package templates

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// commentWidth is where comment lines are broken, in runes.
const commentWidth = 100

// comment returns the lines of a doc comment, each with its own slashes: the
// paragraphs of our own, then foreign text, made harmless.
//
// Foreign text is a schema's description. Whatever it holds stays inside the
// comment: it is split into words at any kind of space, control characters are
// dropped, and every line begins with "// " and is kept from being a directive, a
// marker, a heading, a list, a link target or a deprecation note for Go's tools.
func comment(doc []string, foreign string, deprecated bool) []string {
	var lines []string
	paragraph := func(words []string, foreign bool) {
		if len(words) == 0 {
			return
		}
		if len(lines) > 0 {
			lines = append(lines, "//")
		}
		for _, line := range wrap(words) {
			if foreign {
				line = harmless(line)
			}
			lines = append(lines, "// "+line)
		}
	}
	for _, p := range doc {
		paragraph(strings.Fields(strings.Map(printable, p)), false)
	}
	for _, p := range paragraphs(foreign) {
		paragraph(p, true)
	}
	if deprecated {
		paragraph([]string{"Deprecated:", "the", "schema", "marks", "it", "as", "deprecated."}, false)
	}
	return lines
}

// lineEnds turns every kind of line end into one.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// paragraphs splits foreign text into paragraphs of words.
func paragraphs(text string) [][]string {
	var out [][]string
	var words []string
	for line := range strings.SplitSeq(lineEnds.Replace(text)+"\n\n", "\n") {
		w := strings.Fields(strings.Map(printable, line))
		if len(w) == 0 && len(words) > 0 {
			out, words = append(out, words), nil
		}
		words = append(words, w...)
	}
	return out
}

// printable drops what has no place in source text: control and format
// characters, among them those that reverse the direction of text.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r):
		return -1
	}
	return r
}

// harmless changes the beginning of a line that Go's tools, or ours, would read
// as more than text.
func harmless(line string) string {
	lower := strings.ToLower(line)
	switch {
	case strings.HasPrefix(line, "Deprecated:"), strings.HasPrefix(lower, "restaq:"), strings.HasPrefix(lower, "nolint"), strings.HasPrefix(lower, "lint:"),
		strings.HasPrefix(lower, "go:"), strings.HasPrefix(line, "BUG("), strings.HasPrefix(lower, "todo("):
		return `"` + line + `"`
	case strings.ContainsRune("#-*+•/[=", []rune(line)[0]), listNumber(line):
		return "| " + line
	}
	return line
}

// listNumber reports whether gofmt would take the line for an item of a numbered
// list.
func listNumber(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	return rest != line && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")"))
}

// wrap breaks words into lines.
func wrap(words []string) []string {
	var lines []string
	line, width := "", 0
	for _, w := range words {
		n := utf8.RuneCountInString(w)
		if line != "" && width+1+n > commentWidth {
			lines, line, width = append(lines, line), "", 0
		}
		if line != "" {
			line, width = line+" ", width+1
		}
		line, width = line+w, width+n
	}
	return append(lines, line)
}
