package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"strings"
)

// maxReread bounds the bytes that Unmarshal reads again because of integers that
// are written with a fraction.
const maxReread = 64 << 20

// Unmarshal is json.Unmarshal, except that an integer may be written with a
// fraction or exponent that does not matter, as in 1.0 or 1e3: JSON Schema calls
// them integers, and some providers' languages know no others.
func Unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	for read := 0; err != nil && read < maxReread; read += len(data) {
		plain := plainInteger(data, err)
		if plain == nil {
			return err
		}
		data = plain
		// What is there already would be merged with what comes.
		if target := reflect.ValueOf(v); target.Kind() == reflect.Pointer {
			target.Elem().SetZero()
		}
		err = json.Unmarshal(data, v)
	}
	return err
}

// plainInteger returns data with the number that err refuses written as a plain
// integer, nil if err is another error or the number is no integer that fits.
func plainInteger(data []byte, err error) []byte {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || mismatch.Type == nil {
		return nil
	}
	literal, ok := strings.CutPrefix(mismatch.Value, "number ")
	if !ok || !strings.ContainsAny(literal, ".eE") || len(literal) > 64 {
		return nil
	}
	switch mismatch.Type.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	default:
		return nil
	}
	f, _, perr := big.ParseFloat(literal, 10, 256, big.ToNearestEven)
	if perr != nil || !f.IsInt() || f.MantExp(nil) > 64 {
		return nil
	}
	at := literalNear(data, literal, int(mismatch.Offset))
	if at < 0 {
		return nil
	}
	i, _ := f.Int(nil)
	return bytes.Join([][]byte{data[:at], data[at+len(literal):]}, []byte(i.String()))
}

// literalNear returns where the number stands in data that begins or ends at
// offset, or one byte beside it, or -1. Whether an error's offset is that of a
// value's begin or end differs between versions of encoding/json. A number
// elsewhere is left alone, whether it reads the same or not: offsets of errors from
// values' own methods are those in the value.
func literalNear(data []byte, literal string, offset int) int {
	for from := max(0, offset-len(literal)-1); from <= offset+1; from++ {
		end := from + len(literal)
		if end > len(data) || string(data[from:end]) != literal || distance(from, offset, len(literal)) > 1 {
			continue
		}
		if (from == 0 || !inNumber(data[from-1])) && (end == len(data) || !inNumber(data[end])) {
			return from
		}
	}
	return -1
}

// distance is how far offset is from a literal's begin or end.
func distance(at, offset, length int) int {
	return min(max(at-offset, offset-at), max(at+length-offset, offset-at-length))
}

// inNumber reports whether a digit beside c is part of a longer number, or of a
// string.
func inNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E' || c == '"'
}
