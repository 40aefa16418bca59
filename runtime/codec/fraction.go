package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// maxReread bounds the bytes that Unmarshal reads again because of integers that
// are written with a fraction.
const maxReread = 64 << 20

// Unmarshal is json.Unmarshal, except for two things. An integer may be written
// with a fraction or exponent that does not matter, as in 1.0 or 1e3: JSON Schema
// calls them integers, and some providers' languages know no others. And of an
// integer beyond the 64 bits of its Go type the nearest that is not is read.
func Unmarshal(data []byte, v any) error {
	_, err := unmarshal(data, v)
	return err
}

// unmarshal is Unmarshal, and returns how many integers were beyond their type.
// Those that types with methods of their own read are not counted.
func unmarshal(data []byte, v any) (beyond int, err error) {
	err = json.Unmarshal(data, v)
	for read := 0; err != nil && read < maxReread; read += len(data) {
		plain, nearest := plainInteger(data, err)
		if plain == nil {
			return beyond, err
		}
		if nearest {
			beyond++
		}
		data = plain
		// What is there already would be merged with what comes.
		if target := reflect.ValueOf(v); target.Kind() == reflect.Pointer {
			target.Elem().SetZero()
		}
		err = json.Unmarshal(data, v)
	}
	return beyond, err
}

// plainInteger returns data with the number that err refuses written as an
// integer that its type holds, and whether that is not the number itself but the
// nearest. It returns nil if err is another error, the number is no integer, or
// the type has less than 64 bits.
func plainInteger(data []byte, err error) (plain []byte, nearest bool) {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || mismatch.Type == nil {
		return nil, false
	}
	literal, ok := strings.CutPrefix(mismatch.Value, "number ")
	if !ok || literal == "" {
		return nil, false
	}
	least, most := limits(mismatch.Type)
	if most == "" {
		return nil, false
	}
	text, exact := least, false
	if literal[0] != '-' {
		text = most
	}
	switch whole := withoutFraction([]byte(strings.TrimPrefix(literal, "-"))); {
	case fits(whole, literal[0] == '-', mismatch.Type):
		exact = true
		if text = string(whole); literal[0] == '-' && text != "0" {
			text = "-" + text
		}
	case mismatch.Type.Bits() < 64 || !isDigits(whole):
		return nil, false
	}
	at := literalNear(data, literal, int(mismatch.Offset))
	if at < 0 || text == literal {
		return nil, false
	}
	return bytes.Join([][]byte{data[:at], data[at+len(literal):]}, []byte(text)), !exact
}

// limits returns the least and the most that an integer type of 64 bits holds,
// and what is not empty of one of less.
func limits(t reflect.Type) (least, most string) {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "-9223372036854775808", "9223372036854775807"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return "0", "18446744073709551615"
	}
	return "", ""
}

// fits reports whether a type of integers holds a number without its sign.
func fits(digits []byte, negative bool, t reflect.Type) bool {
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return false
	}
	if t.Kind() >= reflect.Uint {
		return (n == 0 || !negative) && !reflect.Zero(t).OverflowUint(n)
	}
	if negative {
		return n <= 1<<63 && !reflect.Zero(t).OverflowInt(-int64(n))
	}
	return n < 1<<63 && !reflect.Zero(t).OverflowInt(int64(n))
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
