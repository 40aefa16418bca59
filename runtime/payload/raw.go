package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// validText returns data, a JSON value, without the space around it.
func validText(data []byte) (string, error) {
	if !json.Valid(data) {
		return "", errors.New("invalid JSON value")
	}
	return string(bytes.TrimSpace(data)), nil
}

// text returns what a JSON string says, a number as it stands, and "" for
// everything else.
func text(raw string) string {
	if raw == "" {
		return ""
	}
	switch raw[0] {
	case '"':
		if strings.IndexByte(raw, '\\') < 0 && utf8.ValidString(raw) {
			return raw[1 : len(raw)-1]
		}
		var s string
		if json.Unmarshal([]byte(raw), &s) != nil {
			return ""
		}
		return s
	case '{', '[', 't', 'f', 'n':
		return ""
	}
	return raw
}

// quote returns s as a JSON string, with the characters of HTML as they are.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("payload: encode string: " + err.Error()) // encoding/json encodes every string
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// member returns the text of the last member called name of a valid JSON object,
// or "". The name must need no escapes. Nothing is decoded on the way.
func member(object, name string) string {
	found := ""
	for i := skipSpace(object, 1); i < len(object) && object[i] == '"'; {
		end := valueEnd(object, i)
		key := object[i+1 : end-1]
		i = skipSpace(object, end)
		i = skipSpace(object, i+1) // the colon
		end = valueEnd(object, i)
		if key == name {
			found = object[i:end]
		}
		i = skipSpace(object, end)
		i = skipSpace(object, i+1) // the comma or the closing brace
	}
	return found
}

// valueEnd returns the index behind the JSON value that begins at i.
func valueEnd(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}
