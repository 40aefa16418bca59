package validate

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// evaluated is what schemas at one place have a say about: what is left is for
// unevaluatedProperties and unevaluatedItems.
type evaluated struct {
	names map[string]bool // of members
	items map[int]bool
	all   bool
}

// unevaluated checks the members or items that nothing else had a say about.
func (c *checker) unevaluated(i int, v any, at string) {
	n := &c.table.nodes[i]
	if n.OtherProps == nil && n.OtherItems == nil {
		return
	}
	e := evaluated{names: map[string]bool{}, items: map[int]bool{}}
	c.evaluate(i, v, at, &e, true)
	if e.all {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if n.OtherProps != nil {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if !e.names[name] {
					c.check(*n.OtherProps, v[name], at+"/"+escape(name))
				}
			}
		}
	case []any:
		if n.OtherItems != nil {
			for k, item := range v {
				if !e.items[k] {
					c.check(*n.OtherItems, item, at+"/"+strconv.Itoa(k))
				}
			}
		}
	}
}

// evaluate notes what a schema, and those that it applies to the same value, have
// a say about. The one that asks, top, is not asked itself.
func (c *checker) evaluate(i int, v any, at string, e *evaluated, top bool) {
	n := &c.table.nodes[i]
	switch v := v.(type) {
	case map[string]any:
		e.all = e.all || n.Additional != nil || n.OtherProps != nil && !top
		for name := range v {
			_, known := n.index[name]
			if known || slices.ContainsFunc(n.patterns, func(p pattern) bool { return p.re.MatchString(name) }) {
				e.names[name] = true
			}
			if on, ok := n.DepSchemas[name]; ok {
				c.evaluate(on, v, at, e, false)
			}
		}
	case []any:
		e.all = e.all || n.Items != nil || n.OtherItems != nil && !top
		for k, item := range v {
			if k < len(n.Prefix) || n.Contains != nil && len(c.try(*n.Contains, item, at+"/"+strconv.Itoa(k))) == 0 {
				e.items[k] = true
			}
		}
	case nil, bool, string, json.Number:
		return
	}
	for _, on := range n.All {
		c.evaluate(on, v, at, e, false)
	}
	for _, on := range slices.Concat(n.Any, n.One) {
		if len(c.try(on, v, at)) == 0 {
			c.evaluate(on, v, at, e, false)
		}
	}
	if n.If == nil {
		return
	}
	branch := n.Else
	if len(c.try(*n.If, v, at)) == 0 {
		c.evaluate(*n.If, v, at, e, false)
		branch = n.Then
	}
	if branch != nil {
		c.evaluate(*branch, v, at, e, false)
	}
}
