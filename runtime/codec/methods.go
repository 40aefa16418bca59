package codec

import (
	"encoding"
	"encoding/json"
	"slices"
	"strings"
)

// What types do by methods of their own, as encoding/json calls them. Pointers
// have the methods of the values that they point to, so that P has all.

// EncodeMethods encodes *v by its MarshalJSON, whose text is checked.
func EncodeMethods[T any, P interface {
	*T
	json.Marshaler
}](e *Encoder, key string, v *T) {
	if e.err != nil {
		return
	}
	text, err := P(v).MarshalJSON()
	switch {
	case err != nil:
		e.fail(err)
	case len(text) == 0:
		e.JSON(key, json.RawMessage{}) // an error
	default:
		e.Raw(key, text)
	}
}

// DecodeMethods reads *v by its UnmarshalJSON.
func DecodeMethods[T any, P interface {
	*T
	json.Unmarshaler
}](d *Decoder, v *T) {
	text := d.value()
	if text == nil {
		return
	}
	err := P(v).UnmarshalJSON(text)
	if err != nil && d.fractions { // it may be an integer that is written as 1.0
		*v = *new(T)
		err = d.unmarshal(text, v)
	}
	if err != nil {
		d.unfit(text, err)
	}
}

// EncodeText encodes *v as the string that its MarshalText returns.
func EncodeText[T any, P interface {
	*T
	encoding.TextMarshaler
}](e *Encoder, key string, v *T) {
	if e.err != nil {
		return
	}
	text, err := P(v).MarshalText()
	if err != nil {
		e.fail(err)
		return
	}
	e.String(key, string(text))
}

// DecodeText reads *v by its UnmarshalText. What is no string goes to
// encoding/json, which knows what null means and what is an error.
func DecodeText[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](d *Decoder, v *T) {
	if d.peek() != '"' {
		d.JSON(v)
		return
	}
	start := d.pos
	text, ok := d.stringText()
	if !ok {
		return
	}
	if err := P(v).UnmarshalText(text); err != nil {
		d.failAt(start, err)
	}
}

// EncodeTextMap is EncodeMap for a map whose keys are the texts that they return
// from MarshalText.
func EncodeTextMap[M ~map[K]T, K interface {
	comparable
	encoding.TextMarshaler
}, T any](e *Encoder, key string, v *M, encode func(e *Encoder, key string, v *T)) {
	if *v == nil {
		e.Null(key)
		return
	}
	type member struct {
		name string
		key  K
	}
	members := make([]member, 0, len(*v))
	for k := range *v {
		text, err := k.MarshalText()
		if err != nil {
			e.fail(err)
			return
		}
		members = append(members, member{string(text), k})
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	start := e.Open(key)
	var value T
	for _, m := range members {
		if e.err != nil {
			return
		}
		value = (*v)[m.key]
		e.String(",", m.name)
		e.buf = append(e.buf, ':')
		encode(e, "", &value)
	}
	e.Close(start)
}

// DecodeTextMap is DecodeMap for a map whose keys read texts by UnmarshalText.
func DecodeTextMap[M ~map[K]T, K comparable, T any, P interface {
	*K
	encoding.TextUnmarshaler
}](d *Decoder, v *M, decode func(d *Decoder, v *T)) {
	decodeMap(d, v, func(name string) (k K, err error) {
		err = P(&k).UnmarshalText([]byte(name))
		return k, err
	}, decode)
}
