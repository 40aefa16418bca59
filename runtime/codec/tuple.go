package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

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
