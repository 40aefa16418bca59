package events

import (
	"regexp"
	"strings"

	"github.com/restaq/restaq/internal/schema"
)

// filter is a list of patterns of event types, without the provider. An empty one
// admits all.
type filter []pattern

type pattern struct {
	text  string
	match *regexp.Regexp
}

// newFilter reads patterns, in which * stands for any text and ? for any
// character. A pattern may begin with the provider.
func newFilter(provider string, patterns []string) filter {
	var f filter
	for _, text := range patterns {
		expr := regexp.QuoteMeta(strings.TrimPrefix(text, provider+"."))
		expr = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(expr)
		f = append(f, pattern{text, regexp.MustCompile("^" + expr + "$")})
	}
	return f
}

func (f filter) admits(eventType string) bool {
	for _, p := range f {
		if p.match.MatchString(eventType) {
			return true
		}
	}
	return len(f) == 0
}

// reportUnused reports the patterns that admit none of the event types.
func (f filter) reportUnused(types map[string]schema.Position, problems *schema.Problems) {
patterns:
	for _, p := range f {
		for t := range types {
			if p.match.MatchString(t) {
				continue patterns
			}
		}
		problems.Errorf(schema.Position{File: "restaqgen"}, "-only %q matches none of the %d event types", p.text, len(types))
	}
}
