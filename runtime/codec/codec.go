// Package codec is what generated codecs stand on: appending values to JSON
// text and reading them back. It is public for generated code; the standard
// library is all it needs.
//
// The meaning is that of encoding/json. Append writes to the end of dst and
// returns it; on an error dst's contents beyond its old length are
// unspecified. Decoded values never alias the input. All functions are safe
// for concurrent use.
package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/restaq/restaq/runtime/payload"
)

// Append appends the JSON encoding of *v to dst.
func Append[T any](dst []byte, v *T) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return dst, err
	}
	return append(dst, data...), nil
}

// Decode reads the JSON value data into *v, which must be the zero value.
func Decode[T any](data []byte, v *T) error {
	return json.Unmarshal(data, v)
}

// DecodeEvent reads an event's payload into a value of the handler's type,
// whatever the event's type. Integers may be written as 1.0.
func DecodeEvent[E any](eventType string, data []byte) (E, error) {
	var event E
	if err := payload.Unmarshal(data, &event); err != nil {
		return event, fmt.Errorf("decode %s: %w", eventType, err)
	}
	return event, nil
}

// AppendTuple appends a JSON array of the values; each is a pointer or a plain
// value.
func AppendTuple(dst []byte, values ...any) ([]byte, error) {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		data, err := json.Marshal(v)
		if err != nil {
			return dst, fmt.Errorf("input %d: %w", i+1, err)
		}
		dst = append(dst, data...)
	}
	return append(dst, ']'), nil
}

// DecodeTuple reads a JSON array into the values that the pointers point to.
// The array must have exactly as many elements.
func DecodeTuple(data []byte, pointers ...any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil {
		return err
	} else if tok != json.Delim('[') {
		return fmt.Errorf("want an array of %d inputs, have %v", len(pointers), tok)
	}
	for i, p := range pointers {
		if !dec.More() {
			return fmt.Errorf("have %d inputs, want %d", i, len(pointers))
		}
		if err := dec.Decode(p); err != nil {
			return fmt.Errorf("input %d: %w", i+1, err)
		}
	}
	if dec.More() {
		return fmt.Errorf("have more than %d inputs", len(pointers))
	}
	if _, err := dec.Token(); err != nil { // the closing bracket
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the array of inputs")
	}
	return nil
}
