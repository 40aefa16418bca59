// Package codec is what generated codecs stand on: an [Encoder] that appends
// values to JSON text, a [Decoder] that reads them back, and functions for the
// kinds of types that codecs are put together from. It is public for generated
// code; the standard library is all it needs, and there is no unsafe code.
//
// The meaning is that of encoding/json of the Go release that a program is
// built with: the bytes of json.Marshal(&v), the values of json.Unmarshal, an
// error where those return one, if with another text. What a type leaves to
// encoding/json ([EncodeJSON], [DecodeJSON]) goes there for its part alone.
//
// What holds for every codec that is put together from this package:
//
//   - Text is read strictly as RFC 8259 has it. What no field wants is checked
//     all the same. Arrays and objects nest at most 10,000 deep.
//   - Invalid text is an [*Error] with offset and path, never a panic. What was
//     decoded until then is thrown away, as is what was encoded before an error.
//   - Decoded values never alias the text. Short strings of one text share
//     memory in pieces of at most 4 KiB, so that one string that is kept keeps
//     no more than that. Pointers to strings share pieces of at most sixteen.
//   - Encoding allocates the result once, in its size.
//
// All functions are safe for concurrent use; an Encoder or Decoder belongs to
// the call that it was handed to.
package codec

import (
	"encoding/json"
	"fmt"
	"sync"
)

// maxDepth is how deep a JSON value may be nested, as in encoding/json.
const maxDepth = 10000

// maxScratch is the size of a buffer that is kept for the next call.
const maxScratch = 64 << 10

// Append appends the JSON encoding of *v to dst, by encoding/json.
func Append[T any](dst []byte, v *T) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return dst, err
	}
	return append(dst, data...), nil
}

// Decode reads the JSON value data into *v, which must be the zero value, by
// encoding/json.
func Decode[T any](data []byte, v *T) error {
	return json.Unmarshal(data, v)
}

var encoders = sync.Pool{New: func() any { return new(Encoder) }}

// Appender returns the function that appends a value's encoding to dst. On an
// error it returns dst as it was; what is behind its length is unspecified.
func Appender[T any](encode func(e *Encoder, key string, v *T)) func(dst []byte, v *T) ([]byte, error) {
	return func(dst []byte, v *T) ([]byte, error) {
		e := encoders.Get().(*Encoder)
		own := e.buf
		if cap(dst) > 0 {
			e.buf = dst
		}
		encode(e, "", v)
		err := e.err
		switch {
		case err != nil:
		case cap(dst) > 0:
			dst = e.buf
		default:
			own = e.buf
			dst = append(dst, own...)
		}
		e.reset(own)
		encoders.Put(e)
		return dst, err
	}
}

var decoders = sync.Pool{New: func() any { return new(Decoder) }}

// Reader returns the function that reads the one JSON value in data into *v,
// which must be the zero value. On an error *v is the zero value again, and the
// error is an [*Error].
func Reader[T any](decode func(d *Decoder, v *T)) func(data []byte, v *T) error {
	return func(data []byte, v *T) error {
		_, err := read(decode, data, v, false)
		return err
	}
}

// read reads a value, of an event if it is said so. Beyond is not nil if an
// event's integers were replaced.
func read[T any](decode func(d *Decoder, v *T), data []byte, v *T, event bool) (beyond *RangeError, err error) {
	d := decoders.Get().(*Decoder)
	d.data, d.fractions = data, event
	decode(d, v)
	if err = d.end(); err != nil {
		*v = *new(T)
	} else if event && d.beyond > 0 {
		beyond = &RangeError{Path: pathTo(data, d.firstBeyond), Count: d.beyond}
	}
	d.reset()
	decoders.Put(d)
	return beyond, err
}

// EventReader returns the function that reads an event's payload, whatever the
// event's type. Integers may be written as 1.0. Integers beyond the 64 bits of
// their Go type are read as the nearest that it holds: the event is whole then,
// and the error beside it is a [*RangeError] itself, not one that wraps it.
func EventReader[E any](decode func(d *Decoder, v *E)) func(eventType string, payload []byte) (E, error) {
	return func(eventType string, payload []byte) (E, error) { return readEvent(decode, eventType, payload) }
}

func readEvent[E any](decode func(d *Decoder, v *E), eventType string, payload []byte) (E, error) {
	var event E
	beyond, err := read(decode, payload, &event, true)
	switch {
	case err != nil:
		return event, fmt.Errorf("decode %s: %w", eventType, err)
	case beyond != nil:
		return event, beyond
	}
	return event, nil
}
