// Package foreign has types for package corpus that another package declares.
package foreign

import (
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
