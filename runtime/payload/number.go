package payload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number is a JSON number of any size, kept digit for digit, or a string that a
// provider sends in its place. The zero value is 0.
type Number struct{ raw string }

// Int returns i as a Number.
func Int(i int64) Number { return Number{strconv.FormatInt(i, 10)} }

// ParseNumber returns the Number with the text s, which must be a JSON number.
func ParseNumber(s string) (Number, error) {
	raw, err := validText([]byte(s))
	if err != nil || text(raw) != raw {
		return Number{}, fmt.Errorf("parse number %q: not a JSON number", s)
	}
	return Number{raw}, nil
}

// NumberText returns a Number that is sent as the string s, whatever s says.
func NumberText(s string) Number { return Number{quote(s)} }

// Int64 returns the number as an integer. It is an error if the number has a
// fraction, does not fit, or is not a number.
func (n Number) Int64() (int64, error) {
	s := n.String()
	i, err := strconv.ParseInt(s, 10, 64)
	if err == nil {
		return i, nil
	}
	// 1.0 and 1e3 are integers too. Beyond 2^53 a float can't tell.
	f, ferr := strconv.ParseFloat(s, 64)
	if ferr != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, fmt.Errorf("read integer: %w", err)
	}
	return int64(f), nil
}

// Float64 returns the nearest float. It is an error if the number does not fit,
// or is not a number.
func (n Number) Float64() (float64, error) {
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		return 0, fmt.Errorf("read number: %w", err)
	}
	return f, nil
}

// String returns the digits, or the text of the string that came.
func (n Number) String() string {
	if n.raw == "" {
		return "0"
	}
	return text(n.raw)
}

// IsString reports whether the number came as a string.
func (n Number) IsString() bool { return strings.HasPrefix(n.raw, `"`) }

// MarshalJSON encodes what was received.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.raw == "" {
		return []byte("0"), nil
	}
	return []byte(n.raw), nil
}

// UnmarshalJSON keeps a number or a string. Null is the zero value.
func (n *Number) UnmarshalJSON(data []byte) error {
	raw, err := validText(data)
	if err != nil {
		return err
	}
	switch raw[0] {
	case 'n':
		*n = Number{}
		return nil
	case '{', '[', 't', 'f':
		return errors.New("neither a number nor a string")
	}
	*n = Number{raw}
	return nil
}
