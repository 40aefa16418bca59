package codec

import "slices"

// quoted lets encoding/json put a value in a string, as the tag option string
// asks for.
type quoted[T any] struct {
	V T `json:"v,string"` //lint:ignore SA5008 T is one of the types that the option is for
}

// EncodeQuoted encodes a field with the tag option string.
func EncodeQuoted[T any](e *Encoder, key string, v *T) {
	at := len(e.buf)
	e.JSON("", &quoted[T]{*v})
	if e.err == nil {
		const before, behind = `{"v":`, `}`
		text := string(e.buf[at+len(before) : len(e.buf)-len(behind)])
		e.buf = append(append(e.buf[:at], key...), text...)
	}
}

// DecodeQuoted reads a field with the tag option string.
func DecodeQuoted[T any](d *Decoder, v *T) {
	text := d.value()
	if text == nil {
		return
	}
	q := quoted[T]{*v}
	if err := d.unmarshal(slices.Concat([]byte(`{"v":`), text, []byte(`}`)), &q); err != nil {
		d.unfit(text, err)
		return
	}
	*v = q.V
}

// EncodeQuotedInt is EncodeQuoted for a signed integer.
func EncodeQuotedInt[T Signed](e *Encoder, key string, v *T) {
	e.add(key)
	e.Int(`"`, int64(*v))
	e.add(`"`)
}

// EncodeQuotedUint is EncodeQuoted for an unsigned integer.
func EncodeQuotedUint[T Unsigned](e *Encoder, key string, v *T) {
	e.add(key)
	e.Uint(`"`, uint64(*v))
	e.add(`"`)
}

// DecodeQuotedInt is DecodeQuoted for a signed integer.
func DecodeQuotedInt[T Signed](d *Decoder, v *T) {
	n, end := d.quotedInteger()
	if end == 0 || int64(T(n)) != n {
		DecodeQuoted(d, v)
		return
	}
	*v, d.pos = T(n), end
}

// DecodeQuotedUint is DecodeQuoted for an unsigned integer.
func DecodeQuotedUint[T Unsigned](d *Decoder, v *T) {
	n, end := d.quotedInteger()
	if end == 0 || n < 0 || uint64(T(n)) != uint64(n) {
		DecodeQuoted(d, v)
		return
	}
	*v, d.pos = T(n), end
}

// quotedInteger returns the integer in the string that follows and where it
// ends, if it is spelled as one is written: what else integers in strings may
// look like differs between releases of Go. Else the end is 0.
func (d *Decoder) quotedInteger() (n int64, end int) {
	if d.peek() != '"' {
		return 0, 0
	}
	b, i := d.data, d.pos+1
	negative := i < len(b) && b[i] == '-'
	if negative {
		i++
	}
	first := i
	for ; i < len(b) && b[i]-'0' <= 9 && i-first < safeDigits; i++ {
		n = n*10 + int64(b[i]-'0')
	}
	if i == first || i == len(b) || b[i] != '"' || b[first] == '0' && (negative || i > first+1) {
		return 0, 0
	}
	if negative {
		n = -n
	}
	return n, i + 1
}
