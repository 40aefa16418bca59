package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// document is a body that is one valid JSON object. Its fields are found by
// skipping over the text; the document is never built in memory.
type document []byte

// parseDocument checks that body is one JSON object and nothing else, strictly
// by the grammar (at most 10,000 levels deep).
func parseDocument(body []byte) (document, error) {
	if !json.Valid(body) {
		return nil, malformed("body is not valid JSON%s", where(body))
	}
	body = bytes.TrimLeft(body, " \t\r\n")
	if body[0] != '{' {
		return nil, malformed("body is not a JSON object")
	}
	return document(body), nil
}

// where says at which byte invalid JSON goes wrong, without quoting it.
func where(body []byte) string {
	if len(body) == 0 {
		return ": it is empty"
	}
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, &raw); errors.As(err, &syntax) {
		return fmt.Sprintf(": wrong at byte %d of %d", syntax.Offset, len(body))
	}
	return ""
}

// field returns the raw value at path, member names joined by dots, or nil. Of
// members of one name the last counts, as for encoding/json; names must be
// spelt exactly, unlike there.
func (d document) field(path string) []byte {
	value := []byte(d)
	for name := range strings.SplitSeq(path, ".") {
		if value = member(value, name); value == nil {
			return nil
		}
	}
	return value
}

// text returns the field at path if it is a string, or an integer, which is
// given as its digits. It is "" for a field that is absent or null.
func (d document) text(path string) (string, error) {
	raw := d.field(path)
	switch {
	case raw == nil || raw[0] == 'n':
		return "", nil
	case raw[0] == '"':
		s, ok := unquote(raw)
		if !ok {
			return "", malformed("field %s is not valid Unicode", path)
		}
		return s, nil
	case bytes.ContainsAny(raw, "{[.eEtf"):
		return "", malformed("field %s is neither a string nor an integer", path)
	}
	return string(raw), nil
}

// required returns the text at path, which must be there.
func (d document) required(path string) (string, error) {
	s, err := d.text(path)
	if err == nil && s == "" {
		err = malformed("field %s is missing", path)
	}
	return s, err
}

// unquote decodes a valid JSON string. It is false where the text stands for
// no Unicode string: two of those could look the same once decoded.
func unquote(raw []byte) (string, bool) {
	if !utf8.Valid(raw) {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	// A lone surrogate decodes to U+FFFD.
	return s, !strings.ContainsRune(s, utf8.RuneError)
}

// member returns the raw value of the last member of that name, or nil. data
// begins a valid JSON value; it need not be an object.
func member(data []byte, name string) []byte {
	if data[0] != '{' {
		return nil
	}
	var found []byte
	at := skipSpace(data, 1)
	for data[at] != '}' {
		end := skipString(data, at)
		label := data[at:end]
		at = skipSpace(data, end)  // the colon
		at = skipSpace(data, at+1) // the value
		end = skipValue(data, at)
		if isName(label, name) {
			found = data[at:end]
		}
		at = skipSpace(data, end)
		if data[at] == ',' {
			at = skipSpace(data, at+1)
		}
	}
	return found
}

// isName reports whether a quoted label is name.
func isName(label []byte, name string) bool {
	if inner := label[1 : len(label)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == name
	}
	s, ok := unquote(label)
	return ok && s == name
}

func skipSpace(data []byte, at int) int {
	for data[at] == ' ' || data[at] == '\n' || data[at] == '\r' || data[at] == '\t' {
		at++
	}
	return at
}

// skipString returns the end of the string whose opening quote is at at.
func skipString(data []byte, at int) int {
	for at++; data[at] != '"'; at++ {
		if data[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// skipValue returns the end of the value that begins at at.
func skipValue(data []byte, at int) int {
	switch data[at] {
	case '"':
		return skipString(data, at)
	case '{', '[':
		return skipNested(data, at)
	}
	for at < len(data) && strings.IndexByte(",}] \t\r\n", data[at]) < 0 {
		at++
	}
	return at
}

// skipNested returns the end of the object or array that begins at at.
func skipNested(data []byte, at int) int {
	for depth := 0; ; {
		switch data[at] {
		case '"':
			at = skipString(data, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		at++
		if depth == 0 {
			return at
		}
	}
}
