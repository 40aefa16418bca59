package payload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Time is a point in time that a provider sends as text, or as a number of
// seconds since 1970. It keeps what came and encodes it back. The zero value is
// no time at all; it encodes as null.
type Time struct{ raw string }

// TimeOf returns t in the form of RFC 3339.
func TimeOf(t time.Time) Time { return Time{quote(t.Format(time.RFC3339Nano))} }

// TimeAt returns the Time that is sent as a number of seconds since 1970.
func TimeAt(seconds int64) Time { return Time{strconv.FormatInt(seconds, 10)} }

// Time returns the point in time, or the zero time.Time if there is none or its
// text can't be read. Text without a zone is in UTC.
func (t Time) Time() time.Time {
	at, err := t.Parse()
	if err != nil {
		return time.Time{}
	}
	return at
}

// layouts are the forms of text that Parse reads.
var layouts = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00",
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 Z0700", "2006-01-02 15:04:05.999999999 MST",
	"2006-01-02 15:04:05.999999999", time.DateOnly,
}

// Parse returns the point in time, or an error if there is none or its text
// can't be read.
func (t Time) Parse() (time.Time, error) {
	s := t.String()
	switch {
	case s == "":
		return time.Time{}, errors.New("read time: empty")
	case t.raw[0] != '"':
		return parseSeconds(s)
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, s); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("read time: %q has no known form", s)
}

func parseSeconds(s string) (time.Time, error) {
	if sec, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(sec, 0).UTC(), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) > 1<<53 {
		return time.Time{}, fmt.Errorf("read time: %s is no number of seconds", s)
	}
	sec, frac := math.Modf(f)
	return time.Unix(int64(sec), int64(frac*1e9)).UTC(), nil
}

// String returns the text or the digits as received, "" for no time.
func (t Time) String() string { return text(t.raw) }

// IsZero reports whether there is no time: absent or null.
func (t Time) IsZero() bool { return t.raw == "" }

// MarshalJSON encodes what was received.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.raw == "" {
		return []byte("null"), nil
	}
	return []byte(t.raw), nil
}

// UnmarshalJSON keeps a string or a number. Null is the zero value.
func (t *Time) UnmarshalJSON(data []byte) error {
	raw, err := validText(data)
	if err != nil {
		return err
	}
	switch raw[0] {
	case 'n':
		*t = Time{}
		return nil
	case '{', '[', 't', 'f':
		return errors.New("neither a string nor a number")
	}
	*t = Time{raw}
	return nil
}
