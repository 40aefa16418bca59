package codec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// DecodeBool reads *v. Null leaves it as it is, as it does all numbers, strings
// and structs.
func DecodeBool[T ~bool](d *Decoder, v *T) {
	switch d.peek() {
	case 't':
		if d.literal("true") {
			*v = true
		}
	case 'f':
		if d.literal("false") {
			*v = false
		}
	default:
		if !d.Null() {
			d.unexpected("true or false")
		}
	}
}

// DecodeInt reads *v. A number with a fraction or an exponent is an error.
func DecodeInt[T Signed](d *Decoder, v *T) {
	start := d.pos
	n, ok := d.int()
	switch {
	case !ok:
	case int64(T(n)) != n:
		d.failAt(start, errRange)
	default:
		*v = T(n)
	}
}

// DecodeUint reads *v, as DecodeInt does.
func DecodeUint[T Unsigned](d *Decoder, v *T) {
	start := d.pos
	n, ok := d.uint(uint64(^T(0)))
	switch {
	case !ok:
	case uint64(T(n)) != n:
		d.failAt(start, errRange)
	default:
		*v = T(n)
	}
}

// DecodeFloat32 reads *v.
func DecodeFloat32[T ~float32](d *Decoder, v *T) {
	if f, ok := d.float(32); ok {
		*v = T(f)
	}
}

// DecodeFloat64 reads *v.
func DecodeFloat64[T ~float64](d *Decoder, v *T) {
	if f, ok := d.float(64); ok {
		*v = T(f)
	}
}

// DecodeString reads *v.
func DecodeString[T ~string](d *Decoder, v *T) {
	if s, ok := d.string(); ok {
		*v = T(s)
	}
}

// DecodeBytes reads *v from base64, or from an array of numbers; null is nil.
func DecodeBytes[T ~[]byte](d *Decoder, v *T) {
	switch d.peek() {
	case '"':
		start := d.pos
		text, ok := d.stringText()
		if !ok {
			return
		}
		data, err := base64.StdEncoding.AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(text))), text)
		if err != nil {
			d.failAt(start, err)
			return
		}
		*v = data
	case 'n':
		if d.literal("null") {
			*v = nil
		}
	default:
		DecodeSlice(d, v, DecodeUint)
	}
}

// DecodeTime reads *v.
func DecodeTime(d *Decoder, v *time.Time) {
	if d.peek() == '"' {
		if t, n := parseTime(d.data[d.pos:]); n > 0 {
			*v = t
			d.pos += n
			return
		}
	}
	text := d.value()
	if text == nil {
		return
	}
	err := v.UnmarshalJSON(text)
	if err != nil && bytes.IndexByte(text, '\\') >= 0 { // what escapes mean differs between releases
		err = d.unmarshal(text, v)
	}
	if err != nil {
		d.unfit(text, err)
	}
}

// DecodeRaw reads any value into a json.RawMessage, as it stands.
func DecodeRaw[T ~[]byte](d *Decoder, v *T) {
	if text := d.value(); text != nil {
		*v = append((*v)[:0], text...)
	}
}

// DecodeNumber reads a number, digit for digit. Whatever else there is goes to
// encoding/json.
func DecodeNumber(d *Decoder, v *json.Number) {
	if c := d.peek(); c != '-' && c-'0' > 9 {
		d.JSON(v)
		return
	}
	if text := d.number(); text != nil {
		*v = json.Number(d.keep(text))
	}
}

// DecodeJSON leaves *v to encoding/json.
func DecodeJSON[T any](d *Decoder, v *T) { d.JSON(v) }

// DecodePointer reads **v, which it makes if there is none; null is nil.
func DecodePointer[T any](d *Decoder, v **T, decode func(d *Decoder, v *T)) {
	if d.Null() {
		*v = nil
		return
	}
	if *v == nil {
		if s, ok := any(v).(**string); ok {
			*s = d.newString()
		} else {
			*v = new(T)
		}
	}
	decode(d, *v)
}

// DecodeSlice reads an array into *v, whose memory it uses again; null is nil.
func DecodeSlice[S ~[]T, T any](d *Decoder, v *S, decode func(d *Decoder, v *T)) {
	if d.peek() != '[' {
		if d.Null() {
			*v = nil
		} else {
			d.unexpected("an array")
		}
		return
	}
	if !d.array() {
		*v = S{}
		return
	}
	s := *v
	if s == nil {
		s = make(S, 0, firstCap[T]())
	}
	for n := 0; ; n++ {
		switch {
		case n < len(s):
		case n < cap(s):
			s = s[:n+1]
		default:
			s = append(s, *new(T))
		}
		decode(d, &s[n])
		if !d.more() {
			*v = s[:n+1]
			return
		}
	}
}

// firstCap is the capacity that a slice of T begins with: four, but for large
// elements, of which there is often one.
func firstCap[T any]() int {
	const most = 128 // bytes
	return min(4, max(1, most/max(1, int(reflect.TypeFor[T]().Size()))))
}

// DecodeArray reads an array into all elements of v. Elements that the text
// does not have are zero, those that v does not have are skipped. Null leaves v
// as it is.
func DecodeArray[T any](d *Decoder, v []T, decode func(d *Decoder, v *T)) {
	if d.peek() != '[' {
		if !d.Null() {
			d.unexpected("an array")
		}
		return
	}
	n := 0
	for more := d.array(); more; more = d.more() {
		if n < len(v) {
			decode(d, &v[n])
			n++
		} else {
			d.skip()
		}
	}
	clear(v[n:])
}

// DecodeMap reads an object into *v, which it makes if there is none; null is
// nil.
func DecodeMap[M ~map[K]T, K ~string, T any](d *Decoder, v *M, decode func(d *Decoder, v *T)) {
	decodeMap(d, v, func(name string) (K, error) { return K(name), nil }, decode)
}

// DecodeIntMap is DecodeMap for a map whose keys are signed integers.
func DecodeIntMap[M ~map[K]T, K Signed, T any](d *Decoder, v *M, decode func(d *Decoder, v *T)) {
	decodeMap(d, v, func(name string) (K, error) {
		n, err := strconv.ParseInt(name, 10, 64)
		if err == nil && int64(K(n)) != n {
			err = errRange
		}
		return K(n), err
	}, decode)
}

// DecodeUintMap is DecodeMap for a map whose keys are unsigned integers.
func DecodeUintMap[M ~map[K]T, K Unsigned, T any](d *Decoder, v *M, decode func(d *Decoder, v *T)) {
	decodeMap(d, v, func(name string) (K, error) {
		n, err := strconv.ParseUint(name, 10, 64)
		if err == nil && uint64(K(n)) != n {
			err = errRange
		}
		return K(n), err
	}, decode)
}

func decodeMap[M ~map[K]T, K comparable, T any](d *Decoder, v *M, key func(name string) (K, error), decode func(d *Decoder, v *T)) {
	if d.peek() != '{' {
		if d.Null() {
			*v = nil
		} else {
			d.unexpected("an object")
		}
		return
	}
	if *v == nil {
		*v = make(M)
	}
	var value T
	for name, ok := d.firstName(); ok; name, ok = d.nextName() {
		k, err := key(name)
		if err != nil {
			d.failAt(d.pos, fmt.Errorf("member's name %q is no key: %w", name, err))
			return
		}
		value = *new(T)
		decode(d, &value)
		(*v)[k] = value
	}
}

// firstName reads the beginning of an object of any members, and the first
// member's name and colon. It returns false for an empty object.
func (d *Decoder) firstName() (string, bool) {
	if !d.open() {
		return "", false
	}
	if d.peek() == '}' {
		d.depth--
		d.pos++
		return "", false
	}
	return d.name()
}

// nextName reads what stands behind a member, and the next member's name.
func (d *Decoder) nextName() (string, bool) {
	switch d.peek() {
	case ',':
		d.pos++
		return d.name()
	case '}':
		d.depth--
		d.pos++
	default:
		d.unexpected(", or }")
	}
	return "", false
}

func (d *Decoder) name() (string, bool) {
	if d.peek() != '"' {
		d.unexpected("a member's name")
		return "", false
	}
	text, ok := d.stringText()
	if !ok {
		return "", false
	}
	name := d.keep(text)
	if d.peek() != ':' {
		d.unexpected(":")
		return "", false
	}
	d.pos++
	return name, true
}

// DecodeNone reads what EncodeNone writes.
func DecodeNone(d *Decoder, _ *struct{}) {
	d.Token('[')
	d.Token(']')
}

// Make makes an embedded struct that is not there.
func Make[T any](v **T) {
	if *v == nil {
		*v = new(T)
	}
}
