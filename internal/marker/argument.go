package marker

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/restaq/restaq/internal/naming"
)

// maxName bounds names, and maxType event types, in bytes.
const (
	maxName = 200
	maxType = 1024
)

var (
	stepName    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	handlerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	optionWord  = regexp.MustCompile(`^([A-Za-z_-]+)=`)
)

// forms are the options' values, for messages.
var forms = map[string]string{
	"name": "NAME", "key": "EXPR", "order": "EXPR", "attempts": "N", "backoff": "MIN..MAX", "timeout": "DURATION",
}

// reading holds a marker while its arguments are read.
type reading struct {
	text   string // the comment
	marker *Marker
	seen   map[string]bool // options
	errors []Error
}

func (p *reading) fail(pos token.Pos, reason, hint string) {
	p.errors = append(p.errors, Error{Verb: p.marker.Verb, Pos: pos, Reason: reason, Hint: hint})
}

// argument reads one argument; earlier are those before it. It reports whether
// it makes sense to read on.
func (p *reading) argument(arg ast.DirectiveArg, earlier []ast.DirectiveArg) bool {
	if m := optionWord.FindStringSubmatch(arg.Arg); m != nil {
		at := arg.Pos + token.Pos(len(m[0]))
		if strings.ContainsRune("\"`", rune(p.text[arg.Pos-p.marker.Pos])) {
			at++
		}
		return p.option(m[1], Word{arg.Arg[len(m[0]):], at}, arg.Pos)
	}
	verb, word := p.marker.Verb, arg.Arg
	switch {
	case strings.HasPrefix(word, "//"):
		p.fail(arg.Pos, "a marker ends with its line", "a remark stands on a line of its own")
		return false
	case word == "pure" && verb == Step:
		if p.repeated("pure", arg.Pos) {
			return true
		}
		p.marker.Pure = true
	case slices.Contains(options[verb], word):
		hint := ""
		if verb == Step {
			hint = "a step of that name is written name=" + word
		}
		p.fail(arg.Pos, fmt.Sprintf("%s needs a value: %s=%s, without spaces around the \"=\"", word, word, forms[word]), hint)
		return false
	case afterExpr(earlier) && !isName(word, stepName):
		last := earlier[len(earlier)-1]
		p.fail(last.Pos, "an argument that holds spaces must be quoted", "write it as "+p.quoted(last))
		return false
	case verb == Step || verb == Convert:
		p.name(Word{word, arg.Pos})
	case verb == Was:
		p.old(Word{word, arg.Pos})
	default:
		p.eventType(Word{word, arg.Pos})
	}
	return true
}

// afterExpr reports whether the last argument is an expression, which may have
// been cut off at a space.
func afterExpr(earlier []ast.DirectiveArg) bool {
	if len(earlier) == 0 {
		return false
	}
	last := earlier[len(earlier)-1].Arg
	return strings.HasPrefix(last, "key=") || strings.HasPrefix(last, "order=")
}

// quoted is an expression that was cut off at a space, and what follows it, as
// it should have been written. Quotes that begin behind the "=" and end with the
// marker were meant for the whole.
func (p *reading) quoted(cut ast.DirectiveArg) string {
	text := strings.TrimSpace(p.text[cut.Pos-p.marker.Pos:])
	option, value, _ := strings.Cut(text, "=")
	if inner := strings.Trim(value, `"`); len(value) == len(inner)+2 && !strings.Contains(inner, `"`) {
		text = option + "=" + inner
	}
	if strings.Contains(text, `"`) && !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return `"` + text + `"`
}

// repeated reports whether an option has been given before, and that as an
// error.
func (p *reading) repeated(option string, pos token.Pos) bool {
	if p.seen[option] {
		p.fail(pos, fmt.Sprintf("%s is given twice", option), "")
		return true
	}
	p.seen[option] = true
	return false
}

// option reads WORD=value.
func (p *reading) option(word string, value Word, pos token.Pos) bool {
	m := p.marker
	if !slices.Contains(options[m.Verb], word) || word == "pure" {
		p.fail(pos, fmt.Sprintf("unknown option %s=", word), optionHint(m.Verb, word))
		return true
	}
	if word != "name" && p.repeated(word, pos) { // a second name has a message of its own
		return true
	}
	if value.Text == "" {
		p.fail(pos, fmt.Sprintf("%s= has no value: %s=%s, without spaces around the \"=\"", word, word, forms[word]), "")
		return false
	}
	switch word {
	case "name":
		p.name(value)
	case "attempts":
		m.Attempts = p.count(value)
	case "timeout":
		m.Timeout = p.duration("timeout", value)
	case "backoff":
		p.backoff(value)
	case "key":
		m.Key = value
	case "order":
		m.Order = value
	}
	return true
}

func optionHint(verb, word string) string {
	switch {
	case word == "pure" && verb == Step:
		return "pure stands alone"
	case len(options[verb]) == 0:
		return "//restaq:" + verb + " has no options"
	}
	for _, other := range []string{On, Step} {
		if other != verb && slices.Contains(options[other], word) {
			return fmt.Sprintf("%s belongs to //restaq:%s", word, other)
		}
	}
	if near := Nearest(strings.ToLower(word), options[verb]); near != "" {
		return "did you mean " + near + "?"
	}
	return "the options are " + strings.Join(options[verb], ", ")
}

// name reads a step's or handler's name.
func (p *reading) name(w Word) {
	verb, pattern, letters := p.marker.Verb, stepName, "a to z"
	if verb == On {
		pattern, letters = handlerName, "A to Z and a to z"
	}
	switch {
	case p.seen["name"]:
		p.fail(w.Pos, fmt.Sprintf("second name %q", w.Text), "")
		return
	case !isName(w.Text, pattern):
		p.fail(w.Pos, fmt.Sprintf("%q is no name: a name has the letters %s, digits, \".\", \"_\" and \"-\", and begins with a letter or digit", w.Text, letters), nameHint(verb, w.Text))
	case len(w.Text) > maxName:
		p.fail(w.Pos, fmt.Sprintf("the name has %d bytes, at most %d are allowed", len(w.Text), maxName), "")
	}
	p.seen["name"] = true
	p.marker.Name = w
}

// old reads a name that a step or handler had before. Which of the two it is,
// the marker does not say.
func (p *reading) old(w Word) {
	switch {
	case !isName(w.Text, handlerName):
		p.fail(w.Pos, fmt.Sprintf("%q is no name: a name has letters, digits, \".\", \"_\" and \"-\", and begins with a letter or digit", w.Text), "")
	case len(w.Text) > maxName:
		p.fail(w.Pos, fmt.Sprintf("the name has %d bytes, at most %d are allowed", len(w.Text), maxName), "")
	case slices.ContainsFunc(p.marker.Old, func(o Word) bool { return o.Text == w.Text }):
		p.fail(w.Pos, fmt.Sprintf("name %s is given twice", w.Text), "")
	default:
		p.marker.Old = append(p.marker.Old, w)
	}
}

// IsStepName reports whether a step can have the name.
func IsStepName(s string) bool { return len(s) <= maxName && isName(s, stepName) }

func isName(s string, pattern *regexp.Regexp) bool { return pattern.MatchString(s) }

// nameHint says what was meant by a word that is no name.
func nameHint(verb, word string) string {
	head, value, colon := strings.Cut(word, ":")
	if colon && slices.Contains(options[verb], head) {
		return fmt.Sprintf("write %s=%s", head, value)
	}
	if unquoted, err := strconv.Unquote(word); err == nil {
		word = unquoted
	}
	if len(word) > maxName || strings.IndexFunc(word, unicode.IsLetter) < 0 {
		return ""
	}
	return "write " + naming.Kebab(word)
}

// count reads a number of attempts.
func (p *reading) count(w Word) int {
	n, err := strconv.Atoi(w.Text)
	if err != nil || n < 1 || n > 1_000_000 || strings.HasPrefix(w.Text, "+") {
		p.fail(w.Pos, fmt.Sprintf("attempts=%s: want a number from 1 to 1000000", w.Text), "")
		return 0
	}
	return n
}

// duration reads a duration above zero.
func (p *reading) duration(option string, w Word) time.Duration {
	d, err := time.ParseDuration(w.Text)
	switch {
	case err != nil:
		hint := ""
		if _, err := strconv.Atoi(w.Text); err == nil {
			hint = fmt.Sprintf("write the unit: %s=%ss", option, w.Text)
		}
		p.fail(w.Pos, fmt.Sprintf("%s=%s: want a duration such as 10s or 1m30s", option, w.Text), hint)
		return 0
	case d <= 0:
		p.fail(w.Pos, fmt.Sprintf("%s=%s: must be above zero", option, w.Text), "")
		return 0
	}
	return d
}

// backoff reads MIN..MAX.
func (p *reading) backoff(w Word) {
	low, high, ok := strings.Cut(w.Text, "..")
	if !ok || low == "" || high == "" {
		hint := ""
		if _, err := time.ParseDuration(w.Text); err == nil {
			hint = fmt.Sprintf("write backoff=%s..%s for a wait that does not grow", w.Text, w.Text)
		}
		p.fail(w.Pos, fmt.Sprintf("backoff=%s: want MIN..MAX, such as 1s..10m", w.Text), hint)
		return
	}
	m := p.marker
	m.BackoffMin = p.duration("backoff", Word{low, w.Pos})
	m.BackoffMax = p.duration("backoff", Word{high, w.Pos + token.Pos(len(low)+2)})
	if m.BackoffMin > 0 && m.BackoffMax > 0 && m.BackoffMin > m.BackoffMax {
		p.fail(w.Pos, fmt.Sprintf("backoff=%s: the minimum is above the maximum", w.Text), fmt.Sprintf("write backoff=%s..%s", high, low))
	}
}

// eventType reads one event type.
func (p *reading) eventType(w Word) {
	m := p.marker
	if reason, hint := typeFault(m.Verb, w.Text); reason != "" {
		p.fail(w.Pos, reason, hint)
		return
	}
	if slices.ContainsFunc(m.Types, func(t Word) bool { return t.Text == w.Text }) {
		p.fail(w.Pos, fmt.Sprintf("event type %s is given twice", w.Text), "")
		return
	}
	m.Types = append(m.Types, w)
}

// typeFault says what is wrong with an event type, "" if nothing is.
func typeFault(verb, s string) (reason, hint string) {
	segments := strings.Split(s, ".")
	switch {
	case s == "pure":
		return "pure belongs to //restaq:step", ""
	case strings.HasSuffix(s, ","):
		return fmt.Sprintf("event type %q holds a comma", s), "event types are separated by spaces"
	case strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(",;\"'`", r)
	}):
		return fmt.Sprintf("event type %q holds a character that no event type has", s), "event types are separated by spaces"
	case len(s) > maxType:
		return fmt.Sprintf("the event type has %d bytes, at most %d are allowed", len(s), maxType), ""
	case s == "*" && verb == On:
		return "", ""
	case strings.Contains(s, "*") && verb == Event:
		return fmt.Sprintf("event type %q: a struct stands for one event type, so \"*\" cannot stand in it", s), ""
	case slices.Contains(segments, ""):
		return fmt.Sprintf("event type %q has an empty segment", s), ""
	case len(segments) == 1:
		return fmt.Sprintf("event type %q has no provider: want PROVIDER.TYPE, such as stripe.charge.succeeded", s), ""
	case strings.Contains(strings.Join(segments[:len(segments)-1], "."), "*"), strings.Contains(segments[len(segments)-1], "*") && segments[len(segments)-1] != "*":
		return fmt.Sprintf("event type %q: \"*\" may stand only as the whole last segment", s), ""
	}
	return "", ""
}

// finish reports what is missing.
func (p *reading) finish() {
	m := p.marker
	switch {
	case m.Verb == On && len(m.Types) == 0 && len(p.errors) == 0:
		p.fail(m.Pos, "names no event type", "write //restaq:on PROVIDER.TYPE, such as //restaq:on stripe.charge.succeeded")
	case m.Verb == Event && len(m.Types) == 0 && len(p.errors) == 0:
		p.fail(m.Pos, "names no event type", "write //restaq:event PROVIDER.TYPE, such as //restaq:event acme.order.shipped")
	case m.Verb == Was && len(m.Old) == 0 && len(p.errors) == 0:
		p.fail(m.Pos, "names no name", "write //restaq:was OLD, with the name that the step or handler had before")
	case m.Verb == Convert && m.Name.Text == "" && len(p.errors) == 0:
		p.fail(m.Pos, "names no step", "write //restaq:convert STEP, with the name of the step whose records it converts")
	case m.Verb == Event && len(m.Types) > 1:
		p.fail(m.Types[1].Pos, "a struct stands for one event type", "")
	}
}
