package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

// sample is a published payload.
type sample struct {
	name      string // what it is called in messages
	eventType string
	payload   []byte
}

// result is what became of a sample.
type result struct {
	Error     string // why it was not decoded or encoded
	Encoded   []byte
	Deviation string // how it violates the schema
}

// tally counts samples.
type tally struct {
	samples, valid int
	unknown        int // members that are lost, since the schema has no word on them
}

// judge reports what should not have become of samples, by what the schemas know.
func judge(t *testing.T, known book, samples []sample, results []result) tally {
	t.Helper()
	if len(samples) != len(results) {
		t.Fatalf("%d samples, %d results", len(samples), len(results))
	}
	sum := tally{samples: len(samples)}
	for i, s := range samples {
		r := results[i]
		if r.Error != "" {
			t.Errorf("%s, %s: %s", s.name, s.eventType, r.Error)
			continue
		}
		valid := r.Deviation == ""
		if valid {
			sum.valid++
		}
		c := comparison{exact: valid}
		c.compare("", value(t, s.payload), value(t, r.Encoded))
		for _, d := range c.differences {
			if d.lost && !known.knows(s.eventType, d.at) {
				sum.unknown++
				continue
			}
			t.Errorf("%s, %s (valid: %v): %s %s", s.name, s.eventType, valid, d.at, d.what)
		}
	}
	return sum
}

func value(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

// comparison collects the differences of two JSON values.
type comparison struct {
	exact       bool // else the second may have more, and a zero value for null
	differences []difference
}

type difference struct {
	at, what string
	lost     bool // a member
}

func (c *comparison) differ(at, format string, args ...any) {
	c.differences = append(c.differences, difference{at: at, what: fmt.Sprintf(format, args...)})
}

func (c *comparison) compare(at string, in, out any) {
	switch in := in.(type) {
	case map[string]any:
		got, ok := out.(map[string]any)
		if !ok {
			c.differ(at, "became %v", out)
			return
		}
		for name, v := range in {
			if w, ok := got[name]; ok {
				c.compare(at+"."+name, v, w)
			} else {
				c.differences = append(c.differences, difference{at + "." + name, fmt.Sprintf("is lost: %v", v), true})
			}
		}
		for name, w := range got {
			if _, ok := in[name]; !ok && c.exact {
				c.differ(at+"."+name, "is new: %v", w)
			}
		}
	case []any:
		got, ok := out.([]any)
		if !ok || len(got) != len(in) {
			c.differ(at, "became %v", out)
			return
		}
		for i := range in {
			c.compare(fmt.Sprintf("%s[%d]", at, i), in[i], got[i])
		}
	case nil:
		if out != nil && (c.exact || !zero(out)) {
			c.differ(at, "was null and became %v", out)
		}
	default: // numbers by their digits
		if in != out {
			c.differ(at, "was %v and became %v", in, out)
		}
	}
}

// zero reports whether v is what a Go type without a pointer makes of null.
func zero(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			if member != nil && !zero(member) {
				return false
			}
		}
		return true
	}
	return v == "" || v == false || v == json.Number("0")
}

// here decodes, validates and encodes samples by a package that this test is
// linked with.
func here(samples []sample, decode func(string, []byte) (any, error), validate func(string, []byte) error) []result {
	results := make([]result, len(samples))
	for i, s := range samples {
		event, err := decode(s.eventType, s.payload)
		if err == nil {
			results[i].Encoded, err = json.Marshal(event)
		}
		if err != nil {
			results[i].Error = err.Error()
		}
		if err := validate(s.eventType, s.payload); err != nil {
			results[i].Deviation = err.Error()
		}
	}
	return results
}
