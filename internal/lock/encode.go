package lock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const explanation = "What records of this package's steps look like, and looked like before. Written by restaqgen; commit it. " +
	"restaqgen check compares the source with it and says what a change does to executions in flight."

// Encode returns the text of a lock file, the same for equal files. In each step
// and handler the last line is one that hardly ever changes: so two changes of
// neighbours do not touch.
func (f File) Encode() ([]byte, error) {
	e := &encoder{}
	e.open()
	e.text("//", explanation)
	e.list("accepted", f.Accepted)
	if len(f.Handlers) > 0 {
		e.begin("handlers")
		for _, name := range slices.Sorted(maps.Keys(f.Handlers)) {
			e.handler(name, f.Handlers[name])
		}
		e.close()
	}
	e.begin("steps")
	for _, name := range slices.Sorted(maps.Keys(f.Steps)) {
		e.step(name, f.Steps[name])
	}
	e.close()
	e.close()
	e.buf.WriteByte('\n')
	if e.err != nil {
		return nil, fmt.Errorf("write %s: %w", Name, e.err)
	}
	return e.buf.Bytes(), nil
}

func (e *encoder) handler(name string, h Handler) {
	e.begin(name)
	e.list("events", h.Events)
	e.text("options", h.Options)
	e.text("order", h.Order)
	e.list("steps", h.Steps)
	e.list("was", h.Was)
	e.text("func", h.Func)
	e.close()
}

func (e *encoder) step(name string, s Step) {
	e.begin(name)
	e.text("inputs", s.Inputs)
	e.text("key", s.Key)
	e.text("options", s.Options)
	e.list("was", s.Was)
	e.text("output", s.Output)
	e.schema("schema", s.Schema)
	if len(s.Earlier) > 0 {
		e.begin("earlier")
		for _, print := range slices.Sorted(maps.Keys(s.Earlier)) {
			e.begin(print)
			e.text("read", string(s.Earlier[print].Read))
			e.schema("schema", s.Earlier[print].Schema)
			e.close()
		}
		e.close()
	}
	e.text("func", s.Func)
	e.close()
}

// encoder writes JSON a member a line. Members without a value are left out.
type encoder struct {
	buf    bytes.Buffer
	indent int
	some   bool // the object that is open has a member
	err    error
}

func (e *encoder) open() {
	e.buf.WriteByte('{')
	e.indent++
	e.some = false
}

func (e *encoder) close() {
	e.indent--
	if e.some {
		e.line()
	}
	e.buf.WriteByte('}')
	e.some = true
}

func (e *encoder) line() {
	e.buf.WriteByte('\n')
	for range e.indent {
		e.buf.WriteString("  ")
	}
}

func (e *encoder) key(name string) {
	if e.some {
		e.buf.WriteByte(',')
	}
	e.line()
	e.buf.Write(e.quote(name))
	e.buf.WriteString(": ")
	e.some = true
}

func (e *encoder) begin(name string) {
	e.key(name)
	e.open()
}

func (e *encoder) text(name, value string) {
	if value != "" {
		e.key(name)
		e.buf.Write(e.quote(value))
	}
}

func (e *encoder) quote(value string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil && e.err == nil {
		e.err = err
	}
	return bytes.TrimSpace(buf.Bytes())
}

func (e *encoder) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	e.key(name)
	e.buf.WriteByte('[')
	e.indent++
	for i, value := range values {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		e.line()
		e.buf.Write(e.quote(value))
	}
	e.indent--
	e.line()
	e.buf.WriteByte(']')
}

func (e *encoder) schema(name string, schema json.RawMessage) {
	if len(schema) == 0 {
		return
	}
	e.key(name)
	text, err := layOut(schema, e.indent, true)
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("schema: %w", err)
	}
	e.buf.WriteString(text)
}

// width is how long a line may be that has a whole object or array.
const width = 100

// layOut returns a schema, in its order, with a line for each member of the
// objects it describes; whole says that one line may do.
func layOut(data json.RawMessage, indent int, whole bool) (string, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return "", err
	}
	flat := compact.Bytes()
	if len(flat) == 0 || flat[0] != '{' && flat[0] != '[' {
		return string(flat), nil
	}
	dec := json.NewDecoder(bytes.NewReader(flat))
	if _, err := dec.Token(); err != nil {
		return "", err
	}
	var items []string
	for dec.More() {
		item, members := "", false
		if flat[0] == '{' {
			key, err := dec.Token()
			if err != nil {
				return "", err
			}
			members = key == "properties" || key == "$defs"
			item = string((&encoder{}).quote(fmt.Sprint(key))) + ": "
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return "", err
		}
		text, err := layOut(value, indent+1, !members)
		if err != nil {
			return "", err
		}
		whole = whole && !members && !strings.Contains(text, "\n")
		items = append(items, item+text)
	}
	end := string(rune(flat[0] + 2)) // } or ]
	line := string(flat[:1]) + strings.Join(items, ", ") + end
	if whole && len(line) <= width || len(items) == 0 {
		return line, nil
	}
	inner := "\n" + strings.Repeat("  ", indent+1)
	return string(flat[:1]) + inner + strings.Join(items, ","+inner) + "\n" + strings.Repeat("  ", indent) + end, nil
}
