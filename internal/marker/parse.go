package marker

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Parse reads one comment, "//" or "/*" included, that begins at pos. It
// returns nil and no errors for a comment that is no marker, and a marker with
// what could be read of it beside the errors. The marker is nil if its verb is
// not known, and for a comment that silences a check.
func Parse(text string, pos token.Pos) (*Marker, []Error) {
	d, ok := ast.ParseDirective(pos, text)
	if !ok || d.Tool != "restaq" {
		if e := nearMiss(text, pos); e != nil {
			return nil, []Error{*e}
		}
		return nil, nil
	}
	if !slices.Contains(verbs, d.Name) {
		return nil, []Error{unknownVerb(d.Name, pos)}
	}
	if d.Name == Ignore {
		_, errs := silencer(d)
		return nil, errs
	}
	p := reading{text: text, marker: &Marker{Verb: d.Name, Pos: pos, End: pos + token.Pos(len(text))}, seen: map[string]bool{}}
	args, err := d.ParseArgs()
	if err != nil {
		hint := ""
		if m := cutExpr.FindStringSubmatch(d.Args); m != nil {
			hint = fmt.Sprintf("an argument that holds spaces is quoted whole: `%s=a + \" \" + b`", m[1])
		}
		p.fail(d.ArgsPos, "an argument's quotes are not closed, or text follows them without a space", hint)
		return p.marker, p.errors
	}
	for i, arg := range args {
		if !p.argument(arg, args[:i]) {
			break
		}
	}
	p.finish()
	return p.marker, p.errors
}

// cutExpr is an expression whose string was cut off at a space.
var cutExpr = regexp.MustCompile("(?:^|\\s)(key|order)=\\S*[\"`]")

func unknownVerb(verb string, pos token.Pos) Error {
	e := Error{Pos: pos, Reason: fmt.Sprintf("unknown marker //restaq:%s", verb), Hint: markers}
	if near := Nearest(strings.ToLower(verb), verbs); near != "" {
		e.Hint = "did you mean //restaq:" + near + "?"
	} else if i := strings.IndexFunc(verb, func(r rune) bool { return !unicode.IsLetter(r) }); i > 0 && slices.Contains(verbs, verb[:i]) {
		e.Hint = "did you mean //restaq:" + verb[:i] + " " + verb[i+1:] + "?"
	}
	return e
}

// Comments that look like a marker but are none to Go.
var (
	spacedMiss = regexp.MustCompile(`(?i)^///?([ \t]*)([@+!]?restaq)([ \t]*::?)([ \t]*)([a-z]+)`)
	bareMiss   = regexp.MustCompile(`(?i)^//[ \t]*[@+!]?restaq[ \t]*:[ \t]*$`)
	punctMiss  = regexp.MustCompile(`(?i)^//[@+!]?(restaq)[ \t]?[-._= ][ \t]?([a-z]+)\b`)
	blockMiss  = regexp.MustCompile(`(?i)^/\*+\s*[@+!]?(restaq)\s*:\s*([a-z]+)`)
)

// nearMiss returns the error for a comment that was meant as a marker. Prose
// that begins with "restaq: " is none.
func nearMiss(text string, pos token.Pos) *Error {
	if bareMiss.MatchString(text) {
		return &Error{Pos: pos, Reason: "the marker has no verb", Hint: markers}
	}
	known := verbs
	miss := func(reason, verb, rest string) *Error {
		rest = strings.TrimSpace(strings.TrimSuffix(rest, "*/"))
		if rest, _, _ = strings.Cut(rest, "\n"); rest != "" {
			rest = " " + strings.TrimSpace(rest)
		}
		return &Error{Pos: pos, Reason: reason, Hint: "write //restaq:" + verb + rest}
	}
	if m := spacedMiss.FindStringSubmatch(text); m != nil {
		rest, before, after := text[len(m[0]):], m[1], m[4]
		verb := strings.ToLower(m[5])
		if !slices.Contains(known, verb) {
			if verb = Nearest(verb, known); verb == "" || after != "" {
				return nil
			}
		}
		switch {
		case before != "" && after != "":
			return nil
		case before != "":
			return miss("a marker has no space behind the slashes", verb, rest)
		case strings.HasSuffix(m[3], "::"):
			return miss("a marker has one colon", verb, rest)
		case after != "" || m[3] != ":":
			return miss("a marker has no space around the colon", verb, rest)
		case strings.HasPrefix(text, "///"):
			return miss("a marker has two slashes", verb, rest)
		case strings.ContainsAny(m[2], "@+!"):
			return miss("a marker has nothing between the slashes and restaq", verb, rest)
		default:
			return miss("a marker is written in lower case", verb, rest)
		}
	}
	if m := punctMiss.FindStringSubmatch(text); m != nil && slices.Contains(known, strings.ToLower(m[2])) {
		return miss("a marker has a colon behind restaq", strings.ToLower(m[2]), text[len(m[0]):])
	}
	if m := blockMiss.FindStringSubmatch(text); m != nil && slices.Contains(known, strings.ToLower(m[2])) {
		return miss("a marker is a // comment", strings.ToLower(m[2]), text[len(m[0]):])
	}
	if d, ok := ast.ParseDirective(pos, text); ok && slices.Contains(known, d.Name) && Nearest(d.Tool, []string{"restaq"}) != "" {
		return miss("unknown marker //"+d.Tool+":"+d.Name, d.Name, " "+d.Args)
	}
	return nil
}
