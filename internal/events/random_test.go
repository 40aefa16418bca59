package events_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A random is a source of schemas, and of values that they admit.
type random struct{ *rand.Rand }

// kind is a schema and what makes values of it.
type kind struct {
	text  string
	value func(depth int) any
	null  bool // null is a value of it
}

// maxNesting ends values of types that hold themselves.
const maxNesting = 4

// word returns a short name that says nothing.
func (r random) word() string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	b := make([]byte, 1+r.IntN(4))
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// names returns n different names, some of them hard to turn into Go.
func (r random) names(n int) []string {
	odd := []string{"user_id", "userId", "+1", "-1", "type", "3d", "_links", "größe", "名", "validate", "Extra", "a.b", "A", "a"}
	var list []string
	seen := map[string]bool{}
	for len(list) < n {
		name := r.word()
		if r.IntN(4) == 0 {
			name = odd[r.IntN(len(odd))]
		}
		// encoding/json takes members that differ in case for one another.
		if key := strings.ToLower(name); !seen[key] {
			seen[key] = true
			list = append(list, name)
		}
	}
	return list
}

// kind returns a schema. Defs are schemas that it may refer to.
func (r random) kind(defs []kind, depth int) kind {
	choices := 9
	if depth > 0 {
		choices = 17
	}
	switch r.IntN(choices) {
	case 0:
		low := r.IntN(3)
		return kind{text: fmt.Sprintf(`{"type":"string","minLength":%d}`, low), value: func(int) any { return strings.Repeat("é\"<\u2028", low) + r.word() }}
	case 1:
		return kind{text: `{"type":"integer","minimum":-5}`, value: func(int) any { return json.Number(strconv.FormatInt(int64(r.Uint64()>>1), 10)) }}
	case 2:
		return kind{text: `{"type":"number","exclusiveMaximum":1e30}`, value: func(int) any {
			return json.Number([]string{"1.50", "-0", "0.10", "1e10", "12345678901234567890.123456789", "-1E-7"}[r.IntN(6)])
		}}
	case 3:
		return kind{text: `{"type":"boolean"}`, value: func(int) any { return r.IntN(2) == 0 }}
	case 4:
		values := r.names(1 + r.IntN(4))
		text, _ := json.Marshal(values)
		return kind{text: `{"enum":` + string(text) + `}`, value: func(int) any { return values[r.IntN(len(values))] }}
	case 5:
		return kind{text: `{"type":"string","format":"date-time"}`, value: func(int) any { return "2024-02-0" + strconv.Itoa(1+r.IntN(9)) + "T00:00:00.0Z" }}
	case 6:
		return kind{text: `{"type":["integer","string"]}`, value: func(int) any {
			return []any{json.Number("12"), "12", json.Number("99999999999999999999"), ""}[r.IntN(4)]
		}}
	case 7:
		return kind{text: `{"oneOf":[{"type":"integer"},{"type":"string","format":"date-time"}]}`, value: func(int) any {
			return []any{json.Number("1700000000"), "2020-01-01T00:00:00Z"}[r.IntN(2)]
		}}
	case 8:
		return kind{text: `{}`, null: true, value: func(int) any {
			return []any{nil, true, json.Number("1.0"), "x", []any{nil, json.Number("1E2")}, map[string]any{"b": nil, "a": json.Number("1")}}[r.IntN(6)]
		}}
	case 9:
		return r.nullable(r.kind(defs, depth-1))
	case 10:
		return r.array(r.kind(defs, depth-1))
	case 11:
		elem := r.kind(defs, depth-1)
		return kind{text: `{"type":"object","additionalProperties":` + elem.text + `}`, value: func(d int) any { return r.members(elem, d) }}
	case 12:
		return r.union(defs, depth-1)
	case 13:
		object := r.object(defs, depth-1, `"id":{"type":"string"}`, true)
		return kind{text: `{"anyOf":[{"type":"string"},` + object.text + `]}`, value: func(d int) any {
			if d > maxNesting || r.IntN(2) == 0 {
				return "id_" + r.word()
			}
			return object.value(d + 1)
		}}
	case 14:
		return r.extended(defs, depth-1)
	case 15:
		if len(defs) > 0 {
			return defs[r.IntN(len(defs))]
		}
	}
	return r.object(defs, depth-1, "", false)
}

// nullable returns a schema that admits null as well.
func (r random) nullable(of kind) kind {
	return kind{text: `{"anyOf":[` + of.text + `,{"type":"null"}]}`, null: true, value: func(d int) any {
		if d > maxNesting || r.IntN(3) == 0 {
			return nil
		}
		return of.value(d)
	}}
}

func (r random) array(of kind) kind {
	return kind{text: `{"type":"array","items":` + of.text + `,"maxItems":3}`, value: func(d int) any {
		list := []any{}
		for d <= maxNesting && len(list) < 3 && r.IntN(3) > 0 {
			list = append(list, of.value(d+1))
		}
		return list
	}}
}

// members returns some members of one kind.
func (r random) members(of kind, d int) map[string]any {
	members := map[string]any{}
	for d <= maxNesting && len(members) < 3 && r.IntN(3) > 0 {
		members["m_"+r.word()] = of.value(d + 1)
	}
	return members
}

// object returns an object with some properties, the given one among them.
func (r random) object(defs []kind, depth int, given string, required bool) kind {
	type property struct {
		name     string
		of       kind
		required bool
	}
	var props []property
	var texts, needed []string
	if given != "" {
		texts = append(texts, given)
	}
	for _, name := range r.names(1 + r.IntN(5)) {
		if strings.HasPrefix(given, strconv.Quote(name)) {
			continue
		}
		p := property{name, r.kind(defs, depth), r.IntN(2) == 0}
		// A schema that must hold itself admits nothing.
		if strings.HasPrefix(p.of.text, `{"$ref"`) {
			p.required = false
		}
		props = append(props, p)
		texts = append(texts, strconv.Quote(name)+":"+p.of.text)
		if p.required {
			needed = append(needed, strconv.Quote(name))
		}
	}
	if required {
		name, _, _ := strings.Cut(given, ":")
		needed = append(needed, name)
	}
	text := `{"type":"object","properties":{` + strings.Join(texts, ",") + `},"required":[` + strings.Join(needed, ",") + `]}`
	return kind{text: text, value: func(d int) any {
		v := map[string]any{}
		for _, p := range props {
			if p.required || d <= maxNesting && r.IntN(2) == 0 {
				v[p.name] = p.of.value(d + 1)
			}
		}
		if strings.HasPrefix(given, `"id"`) {
			v["id"] = r.word()
		}
		return v
	}}
}

// extended returns an object with typed members beyond its properties.
func (r random) extended(defs []kind, depth int) kind {
	object, elem := r.object(defs, depth, "", false), r.kind(defs, depth)
	for strings.Contains(elem.text, "{}") { // members of any type are as good as unknown ones
		elem = r.kind(defs, depth)
	}
	return kind{text: strings.TrimSuffix(object.text, "}") + `,"additionalProperties":` + elem.text + `}`, value: func(d int) any {
		v := object.value(d).(map[string]any)
		for name, m := range r.members(elem, d) {
			v[name] = m
		}
		return v
	}}
}

// union returns one of several objects, told apart by a member.
func (r random) union(defs []kind, depth int) kind {
	tags := r.names(2 + r.IntN(2))
	var objects []kind
	var texts []string
	for _, tag := range tags {
		o := r.object(defs, depth, `"kind":{"const":`+strconv.Quote(tag)+`}`, true)
		objects = append(objects, o)
		texts = append(texts, o.text)
	}
	return kind{text: `{"oneOf":[` + strings.Join(texts, ",") + `]}`, value: func(d int) any {
		i := r.IntN(len(objects))
		v := objects[i].value(d).(map[string]any)
		v["kind"] = tags[i]
		return v
	}}
}

// mutate changes one place of a value: a member goes, becomes null or another
// type, one comes that nobody knows, or a text becomes another. It returns a new
// value, and whether decoding has to take it.
func (r random) mutate(v any) (changed any, harmless bool) {
	switch v := v.(type) {
	case map[string]any:
		c := map[string]any{}
		var names []string
		for name, m := range v {
			c[name] = m
			names = append(names, name)
		}
		if len(names) == 0 || r.IntN(4) == 0 {
			c["unheard of"] = []any{json.Number("1.0")}
			// In a map it is a value of the wrong type.
			return c, slices.ContainsFunc(names, func(name string) bool { return !strings.HasPrefix(name, "m_") })
		}
		slices.Sort(names) // maps have no order, and a test must be the same on every run
		name := names[r.IntN(len(names))]
		switch r.IntN(4) {
		case 0:
			delete(c, name)
			return c, true
		case 1:
			c[name] = nil
			return c, true
		}
		c[name], harmless = r.mutate(v[name])
		return c, harmless
	case []any:
		if len(v) > 0 {
			c := append([]any{}, v...)
			i := r.IntN(len(c))
			c[i], harmless = r.mutate(c[i])
			return c, harmless
		}
	case string:
		if r.IntN(2) == 0 {
			return v + " and more", true
		}
	}
	return []any{map[string]any{}, json.Number("7"), "other", true, []any{}}[r.IntN(5)], false
}
