package codec

import (
	"fmt"
	"strconv"
)

// Error is why a JSON text could not be read into a value.
type Error struct {
	// Offset is where in the text, in bytes from its beginning.
	Offset int

	// Path names the member or element there, such as data.items[2].id; "" for
	// the value as a whole.
	Path string

	// Err is what is wrong there.
	Err error
}

// Error returns the reason with path and offset.
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("read JSON value: offset %d: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("read JSON value: %s: offset %d: %v", e.Path, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// RangeError says that integers of an event are beyond the 64 bits of their Go
// type. Each was read as the nearest integer that the type holds, and everything
// else as it is.
type RangeError struct {
	// Path names the member or element with the first of them, or one around
	// it, such as data.items[2].
	Path string

	// Count is how many there are, 1 or more.
	Count int
}

// Error tells the path and how many there are.
func (e *RangeError) Error() string {
	more := ""
	if e.Count > 1 {
		more = fmt.Sprintf(", and %d more,", e.Count-1)
	}
	return fmt.Sprintf("integer at %s%s is beyond 64 bits: the nearest that is not was read", e.Path, more)
}

// pathTo returns the path of what stands at offset end of a text that is valid
// up to there. Only errors ask for it, so nothing keeps track of it on the way.
func pathTo(data []byte, end int) string {
	type level struct {
		index int    // of the element, -1 in an object
		name  string // of the member
	}
	var open []level
	for i := 0; i < end; i++ {
		switch data[i] {
		case '{':
			open = append(open, level{index: -1})
		case '[':
			open = append(open, level{})
		case '}', ']':
			open = open[:max(len(open)-1, 0)]
		case ',':
			if n := len(open) - 1; n >= 0 && open[n].index >= 0 {
				open[n].index++
			} else if n >= 0 {
				open[n].name = ""
			}
		case '"':
			start := i
			for i++; i < end && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if n := len(open) - 1; n >= 0 && open[n].index < 0 && open[n].name == "" && i < end {
				open[n].name = string(data[start+1 : i])
			}
		}
	}
	var path []byte
	for _, l := range open {
		switch {
		case l.index >= 0:
			path = append(strconv.AppendInt(append(path, '['), int64(l.index), 10), ']')
		case l.name == "":
		case len(path) > 0:
			path = append(append(path, '.'), l.name...)
		default:
			path = append(path, l.name...)
		}
		if len(path) > maxPath {
			return string(path[:maxPath]) + "…"
		}
	}
	return string(path)
}

// maxPath is how much of a path is told, in bytes.
const maxPath = 200
