package example

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// maker makes a value that several schemas allow at once.
type maker struct {
	*library
	values Values
	stack  []*schema // what references led to, from the root to here
	above  int       // how many of these belong to values that this one stands in
	depth  int
}

// roomy is how deep from the root members stand that need not be there.
const roomy = 5

var (
	errNothing   = errors.New("the schema allows nothing")
	errRecursive = errors.New("the schema requires itself")
)

// rules is what schemas ask for together, references and allOf resolved.
type rules struct {
	all    []*schema
	either [][]*schema // of each list one
}

// flatten adds what a schema asks for.
func (m *maker) flatten(r *rules, s *schema) error {
	if s.never {
		return errNothing
	}
	r.all = append(r.all, s)
	if s.Ref != "" {
		to, err := m.schema(s.place())
		if err != nil {
			return err
		}
		if slices.Contains(m.stack[:m.above], to) {
			return errRecursive
		}
		if slices.Contains(m.stack[m.above:], to) {
			return nil // it is asked for already
		}
		m.stack = append(m.stack, to)
		if err := m.flatten(r, to); err != nil {
			return err
		}
	}
	for _, part := range s.AllOf {
		if err := m.flatten(r, part); err != nil {
			return err
		}
	}
	for _, list := range [][]*schema{s.AnyOf, s.OneOf} {
		if len(list) > 0 {
			r.either = append(r.either, list)
		}
	}
	return nil
}

// make returns a value that all of the schemas allow; at is its path.
func (m *maker) make(list []*schema, at string) (any, error) {
	above := m.above
	m.above = len(m.stack)
	defer func() { m.above = above }()
	return m.resolve(list, at)
}

// resolve is make for schemas some of which may be resolved already.
func (m *maker) resolve(list []*schema, at string) (any, error) {
	stack := m.stack
	defer func() { m.stack = stack }()
	var r rules
	for _, s := range list {
		if err := m.flatten(&r, s); err != nil {
			return nil, err
		}
	}
	if len(r.either) > 0 {
		return m.choose(&r, at)
	}
	return m.value(r.all, at)
}

// choose tries the alternatives of the first choice that there is, in the order
// of the schema, null last, until one goes together with the rest.
func (m *maker) choose(r *rules, at string) (any, error) {
	rest := make([]*schema, 0, len(r.all)+1)
	for _, s := range r.all { // which are resolved
		own := *s
		own.Ref, own.AllOf, own.AnyOf, own.OneOf = "", nil, nil, nil
		rest = append(rest, &own)
	}
	for _, list := range r.either[1:] {
		rest = append(rest, &schema{AnyOf: list})
	}
	var null any
	nullable := false
	var last error
	for _, option := range r.either[0] {
		v, err := m.resolve(append(slices.Clip(rest), option), at)
		switch {
		case err != nil:
			last = err
		case v == nil:
			null, nullable = v, true
		default:
			return v, nil
		}
	}
	if nullable {
		return null, nil
	}
	return nil, last
}

// value returns a value that plain schemas allow.
func (m *maker) value(all []*schema, at string) (any, error) {
	if v, ok, err := m.listed(all, at); ok || err != nil {
		return v, err
	}
	var last error = errNothing
	for _, kind := range kinds(all) {
		v, err := m.ofKind(kind, all, at)
		if err == nil {
			return v, nil
		}
		last = err
	}
	return nil, last
}

// listed returns the value of const or enum, if there is one.
func (m *maker) listed(all []*schema, at string) (v any, ok bool, err error) {
	var options [][]json.RawMessage
	for _, s := range all {
		if s.Const != nil {
			options = append(options, []json.RawMessage{s.Const})
		}
		if s.Enum != nil {
			options = append(options, s.Enum)
		}
	}
	if len(options) == 0 {
		return nil, false, nil
	}
	wanted, _ := json.Marshal(m.values[at])
	var found json.RawMessage
	for _, option := range options[0] {
		everywhere := !slices.ContainsFunc(options[1:], func(other []json.RawMessage) bool {
			return !slices.ContainsFunc(other, func(o json.RawMessage) bool { return bytes.Equal(o, option) })
		})
		if everywhere && (found == nil || bytes.Equal(option, wanted)) {
			found = option
		}
	}
	if found == nil {
		return nil, false, errNothing
	}
	if string(found) == "null" {
		return nil, true, nil
	}
	return found, true, nil
}

// kinds returns the JSON types that all schemas allow, null last.
func kinds(all []*schema) []string {
	allowed := []string{"object", "array", "string", "integer", "number", "boolean", "null"}
	said := false
	for _, s := range all {
		if s.Type == nil {
			continue
		}
		said = true
		allowed = slices.DeleteFunc(allowed, func(kind string) bool {
			return !slices.Contains(s.Type, kind) && !(kind == "integer" && slices.Contains(s.Type, "number"))
		})
	}
	if !said && !slices.ContainsFunc(all, func(s *schema) bool { return s.Properties != nil || s.Required != nil }) {
		return []string{"string"}
	}
	return allowed
}

// ofKind returns a value of a JSON type.
func (m *maker) ofKind(kind string, all []*schema, at string) (any, error) {
	switch kind {
	case "object":
		return m.object(all, at)
	case "array":
		return m.array(all, at)
	case "string":
		return m.text(all, at)
	case "integer", "number":
		return m.number(all, at)
	case "boolean":
		wanted, _ := m.values[at].(bool)
		return wanted, nil
	}
	return nil, nil
}

// object is a JSON object, in the order of the schema.
type object []field

type field struct {
	name  string
	value any
}

// MarshalJSON keeps the order.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(f.name)
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func (m *maker) object(all []*schema, at string) (any, error) {
	m.depth++
	defer func() { m.depth-- }()
	var names []string
	properties := make(map[string][]*schema)
	required := make(map[string]bool)
	for _, s := range all {
		for _, p := range s.Properties {
			if properties[p.name] == nil {
				names = append(names, p.name)
			}
			properties[p.name] = append(properties[p.name], p.schema)
		}
	}
	for _, s := range all {
		for _, name := range s.Required {
			required[name] = true
			if properties[name] == nil {
				names = append(names, name)
				properties[name] = []*schema{}
			}
		}
		extra := s.AdditionalProperties
		if extra != nil && extra.never && s.Properties == nil {
			continue // it means the members that its alternatives have, though it does not say so
		}
		if extra != nil {
			for _, name := range names {
				if !slices.ContainsFunc(s.Properties, func(p member) bool { return p.name == name }) {
					properties[name] = append(properties[name], extra)
				}
			}
		}
	}
	o := object{}
	for _, name := range names {
		if !required[name] && m.depth > roomy {
			continue
		}
		v, err := m.make(properties[name], strings.TrimPrefix(at+"."+name, "."))
		switch {
		case err == nil:
			o = append(o, field{name, v})
		case required[name]:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return o, nil
}

func (m *maker) array(all []*schema, at string) (any, error) {
	m.depth++
	defer func() { m.depth-- }()
	least, most := 0, math.MaxInt
	var items []*schema
	for _, s := range all {
		least = max(least, s.MinItems)
		if s.MaxItems != nil {
			most = min(most, *s.MaxItems)
		}
		if s.Items != nil {
			items = append(items, s.Items)
		}
	}
	list := []any{}
	if least == 0 && (most == 0 || m.depth > roomy || len(items) == 0) {
		return list, nil
	}
	for range max(least, 1) {
		v, err := m.make(items, at+".0")
		if err != nil && least > 0 {
			return nil, err
		}
		if err == nil {
			list = append(list, v)
		}
	}
	return list, nil
}

// formats are texts of the formats that schemas name.
var formats = map[string]string{
	"date-time": "2026-01-31T09:30:00Z", "date": "2026-01-31", "time": "09:30:00Z",
	"uri": "https://example.com/", "uri-template": "https://example.com/{id}", "hostname": "example.com",
	"email": "ada@example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uuid": "0192f0c1-58b3-7d3a-9a44-6f1c2b0e7d11",
	"currency": "usd", "decimal": "10.00",
}

// text returns the value that is wanted, else one by the format, else the
// member's own name.
func (m *maker) text(all []*schema, at string) (any, error) {
	text, ok := m.values[at].(string)
	if !ok {
		text = strings.TrimSuffix(at, ".0")
		text = text[strings.LastIndexByte(text, '.')+1:]
		for _, s := range all {
			if s.Format != "" && formats[s.Format] != "" {
				text = formats[s.Format]
			}
		}
		for _, s := range all {
			if s.Pattern != "" {
				text = strings.ReplaceAll(strings.Trim(s.Pattern, "^$"), "[^/]+", "example")
			}
		}
	}
	for _, s := range all {
		if len(text) < s.MinLength {
			text += strings.Repeat("x", s.MinLength-len(text))
		}
		if s.MaxLength != nil && len(text) > *s.MaxLength {
			text = text[:*s.MaxLength]
		}
	}
	for _, s := range all {
		if s.Pattern == "" {
			continue
		}
		if pattern, err := regexp.Compile(s.Pattern); err != nil || !pattern.MatchString(text) {
			return nil, fmt.Errorf("no text is known that matches %s", s.Pattern)
		}
	}
	return text, nil
}

// exampleTime is the time of the format "unix-time": that of "date-time".
const exampleTime = 1769851800

func (m *maker) number(all []*schema, at string) (any, error) {
	n := 1.0
	switch wanted := m.values[at].(type) {
	case int:
		n = float64(wanted)
	case int64:
		n = float64(wanted)
	case float64:
		n = wanted
	default:
		for _, s := range all {
			if s.Format == "unix-time" {
				n = exampleTime
			}
		}
		if name := at[strings.LastIndexByte(at, '.')+1:]; name == "amount" || strings.HasPrefix(name, "amount_") && !strings.HasSuffix(name, "refunded") {
			n = 2999
		}
	}
	for _, s := range all {
		if s.Minimum != nil {
			n = math.Max(n, *s.Minimum)
		}
		if s.Maximum != nil {
			n = math.Min(n, *s.Maximum)
		}
	}
	if n != math.Trunc(n) {
		return n, nil
	}
	return int64(n), nil
}
