// Package foreign has types for package corpus that another package declares.
package foreign

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Open has exported fields only.
type Open struct {
	ID    string `json:"id"`
	Level Level  `json:"level,omitempty"`
	Inner *Open  `json:"inner,omitempty"`
}

// Level is a number.
type Level int8

// Closed has fields that others cannot name.
type Closed struct {
	Seen   int `json:"seen"`
	hidden int
}

// Hide makes a Closed whose hidden field is set.
func Hide(n int) Closed { return Closed{n, n} }

// Hidden returns the hidden field.
func (c Closed) Hidden() int { return c.hidden }

type base struct {
	BaseID string `json:"base_id"`
	Depth  int
}

// Embeds embeds a struct that others cannot name.
type Embeds struct {
	base
	Name string
}

// Color is a string that reads and writes itself as text.
type Color string

// MarshalText returns the colour in upper case.
func (c Color) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(c))), nil }

// UnmarshalText reads any text but "bad".
func (c *Color) UnmarshalText(text []byte) error {
	if string(text) == "bad" {
		return errors.New("bad colour")
	}
	*c = Color(strings.ToLower(string(text)))
	return nil
}

// Key is an id that is a text in JSON, as keys of maps too.
type Key [4]byte

// MarshalText returns the id in hexadecimal digits.
func (k Key) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

// UnmarshalText reads what MarshalText returns.
func (k *Key) UnmarshalText(text []byte) error {
	id, err := hex.DecodeString(string(text))
	if err != nil || len(id) != len(k) {
		return errors.New("no key")
	}
	copy(k[:], id)
	return nil
}

// Code is a number that is a text in JSON.
type Code int

// MarshalText returns text that needs escapes, and for some numbers none.
func (c Code) MarshalText() ([]byte, error) {
	if c == 127 {
		return nil, errors.New("no code")
	}
	if c == 128 {
		return []byte("<\xff>"), nil
	}
	return []byte("<" + strconv.Itoa(int(c)) + ">"), nil
}

// UnmarshalText reads what MarshalText returns.
func (c *Code) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(text), "<>"))
	*c = Code(n)
	return err
}

// Half writes itself as text and reads itself as JSON.
type Half struct{ S string }

// MarshalText returns the text.
func (h Half) MarshalText() ([]byte, error) { return []byte(h.S), nil }

// UnmarshalText reads it.
func (h *Half) UnmarshalText(text []byte) error { return errors.New("UnmarshalJSON comes first") }

// MarshalJSON returns it as JSON.
func (h Half) MarshalJSON() ([]byte, error) { return json.Marshal(h.S) }

// UnmarshalJSON reads it as JSON.
func (h *Half) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &h.S) }

// Broken returns what is no JSON.
type Broken struct{ N int }

// MarshalJSON returns JSON for some numbers only.
func (b Broken) MarshalJSON() ([]byte, error) {
	switch b.N {
	case 1:
		return nil, nil
	case 9:
		return []byte(`{"a":1,}`), nil
	case 10:
		return []byte(" "), nil
	case 127:
		return nil, errors.New("broken")
	case 128:
		return []byte(`"<\xff\u2028"`), nil
	case 255:
		return []byte(`1 2`), nil
	}
	return []byte(" {\n\"n\" : " + strconv.Itoa(b.N) + " } "), nil
}

// UnmarshalJSON reads the number.
func (b *Broken) UnmarshalJSON(data []byte) error {
	var read struct{ N int }
	err := json.Unmarshal(data, &read)
	b.N = read.N
	return err
}

// Cents is an amount that is written as a decimal number.
type Cents struct{ N int64 }

// MarshalJSON returns the amount in whole units.
func (c Cents) MarshalJSON() ([]byte, error) {
	return []byte(" " + strconv.FormatFloat(float64(c.N)/100, 'f', 2, 64) + " "), nil
}

// UnmarshalJSON reads an amount; null is minus one.
func (c *Cents) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		c.N = -1
		return nil
	}
	var f float64
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	c.N = int64(f * 100)
	return nil
}

// Shy marshals itself only by pointer.
type Shy struct{ S string }

// MarshalJSON returns the text in brackets.
func (s *Shy) MarshalJSON() ([]byte, error) { return json.Marshal([]string{s.S}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Shy) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	s.S = strings.Join(list, "")
	return nil
}

// Day is a time that knows when it is zero.
type Day struct {
	When time.Time `json:"when"`
}

// IsZero reports whether the day is before the year 2000.
func (d Day) IsZero() bool { return d.When.Year() < 2000 }

// Maybe knows by pointer whether it is zero.
type Maybe struct{ N int }

// IsZero reports whether N is seven.
func (m *Maybe) IsZero() bool { return m.N == 7 }
