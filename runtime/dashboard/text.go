package dashboard

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	restaq "github.com/restaq/restaq/runtime"
)

// functions are what the templates can call.
var functions = template.FuncMap{
	"asset":   versioned,
	"plain":   plain,
	"line":    func(text string) string { return firstLine(text, 160) },
	"word":    word,
	"stamp":   stamp,
	"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
	"ago":     ago,
	"took":    took,
	"query":   func(encoded string) template.URL { return template.URL(encoded) }, // of url.Values.Encode
	"count":   grouped[int],
	"count64": grouped[int64],
	"short":   short,
	"plural":  plural,
	"brief":   newBrief,
}

// brief is an execution in a short list on a page.
type brief struct {
	Root string
	E    *restaq.Execution
}

func newBrief(root string, e restaq.Execution) brief { return brief{root, &e} }

// word is what the page calls an execution's status: failed ones are dead or
// retrying.
func word(e restaq.Execution) string {
	switch {
	case e.Dead():
		return "dead"
	case e.Retrying():
		return "retrying"
	}
	return string(e.Status)
}

// plain shows foreign text letter by letter: control characters, and those that
// turn the direction of text or cannot be seen, are shown by their numbers. Line
// feeds and tabs stay. html/template does the rest.
func plain(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\r':
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r) // bytes that are no UTF-8 come as U+FFFD
		}
	}
	return b.String()
}

// hidden reports whether a character would not be seen as what it is.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

// firstLine is the first line of foreign text, at most n characters of it.
func firstLine(text string, n int) string {
	text, _, _ = strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	return cut(text, n)
}

// cut is foreign text, at most n characters of it.
func cut(text string, n int) string {
	if len(text) > 4*n { // no need to look at a megabyte
		text = text[:4*n] + "…"
	}
	runes := []rune(plain(text))
	if len(runes) > n {
		runes = append(runes[:n-1], '…')
	}
	return string(runes)
}

// short is a handler's name without its package.
func short(handler string) string {
	if _, rest, ok := strings.Cut(handler, "."); ok {
		return rest
	}
	return handler
}

// stamp is a time for people, in UTC.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// ago says how long before or after now a time is, roughly.
func ago(t time.Time) string {
	d := time.Since(t)
	if d < 0 {
		return "in " + rough(-d)
	}
	if d < time.Second {
		return "just now"
	}
	return rough(d) + " ago"
}

func rough(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + " days"
}

// took is a duration in two or three digits.
func took(d time.Duration) string {
	unit := func(of time.Duration, name string) string {
		v := float64(d) / float64(of)
		precision := 0
		if v < 10 {
			precision = 1
		}
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', precision, 64), ".0") + " " + name
	}
	switch {
	case d < time.Microsecond:
		return "0 µs"
	case d < time.Millisecond:
		return unit(time.Microsecond, "µs")
	case d < time.Second:
		return unit(time.Millisecond, "ms")
	case d < 2*time.Minute:
		return unit(time.Second, "s")
	case d < 2*time.Hour:
		return unit(time.Minute, "min")
	case d < 48*time.Hour:
		return unit(time.Hour, "h")
	}
	return unit(24*time.Hour, "days")
}

// grouped is a number with a comma before each three digits.
func grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// plural is "1 execution" or "2 executions".
func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		what += "e"
	}
	return grouped(n) + " " + what + "s"
}
