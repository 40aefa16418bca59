package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The limits of what a checker does.
const (
	maxDeviations = 100
	maxDepth      = 20_000 // of schemas applied inside each other, at one place or deeper
)

// checker looks for deviations.
type checker struct {
	table *Table
	found []Deviation
	depth int
	tried map[trial][]Deviation
}

// trial is a schema that was tried at a place. What it found is kept: with
// alternatives inside alternatives, the same would be tried ever so often.
type trial struct {
	node int
	at   string
}

// report notes a deviation.
func (c *checker) report(at, keyword, found, want string) {
	if len(c.found) < maxDeviations {
		c.found = append(c.found, Deviation{at, keyword, found, want})
	}
}

// try returns the deviations of a value from a schema without noting them.
func (c *checker) try(i int, v any, at string) []Deviation {
	key := trial{i, at}
	if found, ok := c.tried[key]; ok {
		return found
	}
	if c.tried == nil {
		c.tried = map[trial][]Deviation{}
	}
	sub := checker{table: c.table, depth: c.depth, tried: c.tried}
	sub.check(i, v, at)
	c.tried[key] = sub.found
	return sub.found
}

// check notes the deviations of a value from a schema.
func (c *checker) check(i int, v any, at string) {
	n := &c.table.nodes[i]
	if len(c.found) >= maxDeviations || v == nil && n.Null {
		return
	}
	if c.depth++; c.depth > maxDepth {
		c.report(at, "$ref", brief(v), fmt.Sprintf("less than %d levels", maxDepth))
		return
	}
	defer func() { c.depth-- }()
	if n.No {
		c.report(at, "false", brief(v), "nothing here")
		return
	}
	if !c.types(n, v, at) {
		return // all else would be about another type
	}
	c.values(n, v, at)
	switch v := v.(type) {
	case string:
		c.text(n, v, at)
	case json.Number:
		c.number(n, v.String(), at)
	case []any:
		c.array(n, v, at)
	case map[string]any:
		c.object(n, v, at)
	}
	c.combined(n, v, at)
	c.unevaluated(i, v, at)
}

// types checks type, and reports whether it fits.
func (c *checker) types(n *node, v any, at string) bool {
	if n.types == nil {
		return true
	}
	have := typeOf(v)
	if slices.Contains(n.types, have) || have == "integer" && slices.Contains(n.types, "number") {
		return true
	}
	types := n.types
	if n.Null {
		types = append(types[:len(types):len(types)], "null")
	}
	c.report(at, "type", brief(v), article(types))
	return false
}

// article returns types in words.
func article(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "null":
			words[i] = t
		case "integer", "array", "object":
			words[i] = "an " + t
		default:
			words[i] = "a " + t
		}
	}
	return strings.Join(words, " or ")
}

// values checks enum and const.
func (c *checker) values(n *node, v any, at string) {
	if n.enum == nil && n.constant == "" {
		return
	}
	text := canonical(v)
	if n.enum != nil && !slices.Contains(n.enum, text) {
		words := make([]string, len(n.Enum))
		for i, e := range n.Enum {
			words[i] = string(e)
		}
		if len(words) > 8 {
			words = append(words[:8:8], "…")
		}
		c.report(at, "enum", brief(v), "one of "+strings.Join(words, ", "))
	}
	if n.constant != "" && n.constant != text {
		c.report(at, "const", brief(v), string(n.Const))
	}
}

// count checks a number of things against a span.
func (c *checker) count(s *span, have int, at string, keywords [2]string, things string) {
	if s == nil {
		return
	}
	for side, limit := range s {
		if limit >= 0 && (side == 0 && have < limit || side == 1 && have > limit) {
			c.report(at, keywords[side], fmt.Sprintf("%d %s", have, things), fmt.Sprintf("%s %d", [2]string{"at least", "at most"}[side], limit))
		}
	}
}

func (c *checker) text(n *node, s, at string) {
	if n.Length != nil {
		c.count(n.Length, utf8.RuneCountInString(s), at, [2]string{"minLength", "maxLength"}, "characters")
	}
	if n.pattern != nil && !n.pattern.MatchString(s) {
		c.report(at, "pattern", brief(s), "a match of "+n.Pattern)
	}
}

func (c *checker) number(n *node, text, at string) {
	for _, b := range n.bounds {
		if !b.admits(compare(text, b.limit)) {
			sign := map[string]string{"minimum": "at least ", "maximum": "at most ", "exclusiveMinimum": "more than ", "exclusiveMaximum": "less than "}[b.keyword]
			c.report(at, b.keyword, text, sign+b.text)
		}
	}
	if n.Fit != "" && !fits(text, n.Fit) {
		c.report(at, "format", brief(json.Number(text)), "an integer that fits "+n.Fit)
	}
	if n.multiple != nil && n.multiple.Sign() > 0 {
		r := rational(text)
		if r == nil || !new(big.Rat).Quo(r, n.multiple).IsInt() {
			c.report(at, "multipleOf", text, "a multiple of "+n.Multiple.String())
		}
	}
}

func (c *checker) array(n *node, list []any, at string) {
	for i, item := range list {
		place := at + "/" + strconv.Itoa(i)
		switch {
		case i < len(n.Prefix):
			c.check(n.Prefix[i], item, place)
		case n.Items != nil:
			c.check(*n.Items, item, place)
		}
	}
	c.count(n.ItemCount, len(list), at, [2]string{"minItems", "maxItems"}, "items")
	if n.Unique {
		seen := map[string]int{}
		for i, item := range list {
			text := canonical(item)
			if first, twice := seen[text]; twice {
				c.report(at, "uniqueItems", fmt.Sprintf("%s at %d and %d", brief(item), first, i), "each item once")
				break
			}
			seen[text] = i
		}
	}
	if n.Contains != nil {
		fits := 0
		for i, item := range list {
			if len(c.try(*n.Contains, item, at+"/"+strconv.Itoa(i))) == 0 {
				fits++
			}
		}
		within := n.Found
		if within == nil {
			within = &span{1, -1}
		}
		c.count(within, fits, at, [2]string{"contains", "maxContains"}, "items of the kind asked for")
	}
}

func (c *checker) object(n *node, members map[string]any, at string) {
	for _, p := range n.props {
		if v, ok := members[p.name]; ok {
			c.check(p.node, v, at+"/"+escape(p.name))
		} else if p.required {
			c.missing(p.name, at)
		}
	}
	for _, name := range n.Required {
		if _, ok := members[name]; !ok {
			c.missing(name, at)
		}
	}
	c.count(n.Members, len(members), at, [2]string{"minProperties", "maxProperties"}, "members")
	if n.patterns != nil || n.Additional != nil || n.Names != nil || n.DepNames != nil || n.DepSchemas != nil {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			c.member(n, members, name, at)
		}
	}
}

func (c *checker) missing(name, at string) {
	c.report(at, "required", "no member "+strconv.Quote(name), "it to be there")
}

// member checks what a schema says of members without naming them.
func (c *checker) member(n *node, members map[string]any, name, at string) {
	place := at + "/" + escape(name)
	_, known := n.index[name]
	for _, p := range n.patterns {
		if p.re.MatchString(name) {
			known = true
			c.check(p.node, members[name], place)
		}
	}
	if !known && n.Additional != nil {
		c.check(*n.Additional, members[name], place)
	}
	if n.Names != nil {
		names := checker{table: c.table, depth: c.depth}
		names.check(*n.Names, name, place)
		for _, d := range names.found {
			c.report(place, "propertyNames", "the name "+d.Found, d.Want)
		}
	}
	for _, needed := range n.DepNames[name] {
		if _, ok := members[needed]; !ok {
			c.report(at, "dependentRequired", "no member "+strconv.Quote(needed), "it to be there, as "+strconv.Quote(name)+" is")
		}
	}
	if i, ok := n.DepSchemas[name]; ok {
		c.check(i, members, at)
	}
}

// escape returns a name as a token of a JSON pointer.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// combined checks schemas that apply to the same value.
func (c *checker) combined(n *node, v any, at string) {
	for _, i := range n.All {
		c.check(i, v, at)
	}
	if n.Any != nil {
		c.alternatives(n.Any, v, at, "anyOf")
	}
	if n.One != nil {
		c.alternatives(n.One, v, at, "oneOf")
	}
	if n.Not != nil && len(c.try(*n.Not, v, at)) == 0 {
		c.report(at, "not", brief(v), "something else")
	}
	if n.If == nil {
		return
	}
	if branch := n.Then; len(c.try(*n.If, v, at)) > 0 {
		if n.Else != nil {
			c.check(*n.Else, v, at)
		}
	} else if branch != nil {
		c.check(*branch, v, at)
	}
}

// alternatives checks anyOf and oneOf. If none fits, the one that is nearest says
// why: that of the right type with the fewest deviations.
func (c *checker) alternatives(list []int, v any, at, keyword string) {
	var fitting []string
	var nearest []Deviation
	for number, i := range list {
		found := c.try(i, v, at)
		if len(found) == 0 {
			fitting = append(fitting, strconv.Itoa(number+1))
			if keyword == "anyOf" {
				return
			}
			continue
		}
		if len(found) == 1 && found[0].Pointer == at && (found[0].Keyword == "type" || found[0].Keyword == "const" || found[0].Keyword == "enum") {
			continue // of another kind altogether
		}
		if nearest == nil || distance(found, at) < distance(nearest, at) {
			nearest = found
		}
	}
	switch {
	case len(fitting) == 1:
	case len(fitting) > 1:
		c.report(at, keyword, brief(v)+", which fits the alternatives "+strings.Join(fitting, " and "), "one of them alone")
	case nearest != nil:
		for _, d := range nearest {
			c.report(d.Pointer, d.Keyword, d.Found, d.Want)
		}
	default:
		c.report(at, keyword, brief(v), fmt.Sprintf("one of %d alternatives", len(list)))
	}
}

// distance weighs deviations: a member with another fixed value speaks for
// another alternative.
func distance(found []Deviation, at string) int {
	sum := len(found)
	for _, d := range found {
		if (d.Keyword == "const" || d.Keyword == "enum") && strings.Count(d.Pointer, "/") == strings.Count(at, "/")+1 {
			sum += maxDeviations
		}
	}
	return sum
}
