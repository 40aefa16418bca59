package payload

import (
	"errors"

	"github.com/restaq/restaq/runtime/codec"
)

// What follows is for generated codecs. It has the meaning of MarshalJSON and
// UnmarshalJSON.

// EncodeValue encodes *v by its method.
func EncodeValue[T any, P interface {
	*T
	EncodeJSON(e *codec.Encoder, key string)
}](e *codec.Encoder, key string, v *T) {
	P(v).EncodeJSON(e, key)
}

// DecodeValue decodes *v by its method.
func DecodeValue[T any, P interface {
	*T
	DecodeJSON(d *codec.Decoder)
}](d *codec.Decoder, v *T) {
	P(v).DecodeJSON(d)
}

// EncodeNullable encodes n, and its value by encode.
func EncodeNullable[T any](e *codec.Encoder, key string, n *Nullable[T], encode func(e *codec.Encoder, key string, v *T)) {
	if n.state != present {
		e.Null(key)
		return
	}
	encode(e, key, &n.value)
}

// EncodePresent encodes n as EncodeNullable does, or nothing if it is absent.
func EncodePresent[T any](e *codec.Encoder, key string, n *Nullable[T], encode func(e *codec.Encoder, key string, v *T)) {
	if n.state != absent {
		EncodeNullable(e, key, n, encode)
	}
}

// DecodeNullable decodes n, and its value by decode.
func DecodeNullable[T any](d *codec.Decoder, n *Nullable[T], decode func(d *codec.Decoder, v *T)) {
	*n = Nullable[T]{state: null}
	if d.Null() {
		return
	}
	before := d.Fractions(true)
	decode(d, &n.value)
	d.Fractions(before)
	n.state = present
}

// EncodeJSON encodes what was received.
func (e *reference) EncodeJSON(to *codec.Encoder, key string) { encodeRaw(to, key, e.raw, "null") }

// DecodeJSON keeps any JSON value, and takes the id out of it.
func (e *reference) DecodeJSON(d *codec.Decoder) {
	if raw := d.Text(); raw != "" {
		e.set(raw)
	}
}

// EncodeJSON encodes what was received.
func (n *Number) EncodeJSON(e *codec.Encoder, key string) { encodeRaw(e, key, n.raw, "0") }

// DecodeJSON keeps a number or a string. Null is the zero value.
func (n *Number) DecodeJSON(d *codec.Decoder) {
	switch d.Kind() {
	case '{', '[', 't', 'f':
		d.Refuse(errors.New("neither a number nor a string"))
	default:
		*n = Number{textOrNothing(d)}
	}
}

// EncodeJSON encodes what was received.
func (t *Time) EncodeJSON(e *codec.Encoder, key string) { encodeRaw(e, key, t.raw, "null") }

// DecodeJSON keeps a string or a number. Null is the zero value.
func (t *Time) DecodeJSON(d *codec.Decoder) {
	switch d.Kind() {
	case '{', '[', 't', 'f':
		d.Refuse(errors.New("neither a string nor a number"))
	default:
		*t = Time{textOrNothing(d)}
	}
}

// encodeRaw encodes a text that was received; without any it is absent.
func encodeRaw(e *codec.Encoder, key, raw, absent string) {
	if raw == "" {
		raw = absent
	}
	e.Text(key, raw)
}

// textOrNothing reads a value's text, "" for null.
func textOrNothing(d *codec.Decoder) string {
	if d.Null() {
		return ""
	}
	return d.Text()
}
