package payload

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/restaq/restaq/runtime/codec"
)

// OneOrMany is a value of type T, or an array of such values in its place. It
// encodes in the form in which it came. The zero value is absent.
//
// Whether a schema calls the member required, optional or nullable, its field is
// a plain OneOrMany, never a pointer. An optional member's field carries the tag
// option omitzero, so that absent stays absent and null stays null when encoded.
type OneOrMany[T any] struct {
	values []T
	form   severalForm
}

// severalForm is how a OneOrMany is written.
type severalForm uint8

const (
	absentSeveral severalForm = iota
	nullSeveral
	oneValue
	manyValues
)

// One returns a OneOrMany that is written as the value alone.
func One[T any](v T) OneOrMany[T] { return OneOrMany[T]{[]T{v}, oneValue} }

// Many returns a OneOrMany that is written as an array, be it of one value or
// none.
func Many[T any](values ...T) OneOrMany[T] {
	return OneOrMany[T]{append([]T{}, values...), manyValues}
}

// Values returns the values, one alone too; nil if there are none. The slice
// belongs to the caller.
func (o OneOrMany[T]) Values() []T { return slices.Clone(o.values) }

// First returns the first value, or T's zero value if there is none.
func (o OneOrMany[T]) First() T {
	if len(o.values) == 0 {
		var none T
		return none
	}
	return o.values[0]
}

// IsArray reports whether an array came, and not a value alone.
func (o OneOrMany[T]) IsArray() bool { return o.form == manyValues }

// IsNull reports whether the member is there and null.
func (o OneOrMany[T]) IsNull() bool { return o.form == nullSeveral }

// IsZero reports whether the member is absent.
func (o OneOrMany[T]) IsZero() bool { return o.form == absentSeveral }

// written returns what is encoded.
func (o *OneOrMany[T]) written() any {
	switch o.form {
	case oneValue:
		return &o.values[0]
	case manyValues:
		return &o.values
	}
	return nil
}

// MarshalJSON encodes the value, the array, or null.
func (o OneOrMany[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.written()) }

// UnmarshalJSON decodes null, a value of type T, or an array of such.
func (o *OneOrMany[T]) UnmarshalJSON(data []byte) error {
	kind := byte(0)
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) > 0 {
		kind = text[0]
	}
	return o.read(kind, func(v any) error { return Unmarshal(data, v) })
}

// EncodeJSON encodes what MarshalJSON does.
func (o *OneOrMany[T]) EncodeJSON(e *codec.Encoder, key string) {
	if v := o.written(); v != nil {
		e.JSON(key, v)
	} else {
		e.Null(key)
	}
}

// DecodeJSON decodes what UnmarshalJSON does.
func (o *OneOrMany[T]) DecodeJSON(d *codec.Decoder) {
	_ = o.read(d.Kind(), func(v any) error { // the decoder keeps its errors
		before := d.Fractions(true)
		d.JSON(v)
		d.Fractions(before)
		return nil
	})
}

// read reads a value that begins with this byte.
func (o *OneOrMany[T]) read(kind byte, into func(v any) error) error {
	*o = OneOrMany[T]{}
	switch kind {
	case 'n':
		o.form = nullSeveral
		return into(&o.values)
	case '[':
		o.form = manyValues
		return into(&o.values)
	}
	o.form, o.values = oneValue, make([]T, 1)
	return into(&o.values[0])
}
