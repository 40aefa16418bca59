package codec

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Strings of up to maxShared bytes share memory, in pieces of at most maxPiece.
const (
	maxShared = 512
	maxPiece  = 4096
)

// string reads a string, or null, for which it returns false.
func (d *Decoder) string() (string, bool) {
	if d.peek() != '"' {
		if !d.Null() {
			d.unexpected("a string")
		}
		return "", false
	}
	text, ok := d.stringText()
	if !ok {
		return "", false
	}
	return d.keep(text), true
}

// keep returns text as a string of its own.
func (d *Decoder) keep(text []byte) string {
	if len(text) > d.text.Cap()-d.text.Len() && !d.grow(len(text)) {
		return string(text)
	}
	start := d.text.Len()
	d.text.Write(text)
	return d.text.String()[start:]
}

// grow begins the next piece of memory that strings share, for n bytes at
// least. It is as large as what is left of the text makes likely. Large strings
// share nothing.
func (d *Decoder) grow(n int) bool {
	if n > maxShared {
		return false
	}
	d.text.Reset()
	d.text.Grow(max(n, min((len(d.data)-d.pos)/4+32, maxPiece)))
	return true
}

// maxStrings is how many pointers to strings share a piece of memory at most.
const maxStrings = 16

// newString returns a pointer to a new string. The more of them there are, the
// more share a piece of memory.
func (d *Decoder) newString() *string {
	if len(d.strings) == 0 {
		d.strings = make([]string, max(1, min(d.made, maxStrings)))
	}
	s := &d.strings[0]
	d.strings = d.strings[1:]
	d.made++
	return s
}

// stringText reads a string and returns its text, which belongs to the input or
// to d's scratch and is good until the next string.
func (d *Decoder) stringText() ([]byte, bool) {
	start := d.pos + 1
	i := firstOdd(d.data, start)
	if i < len(d.data) && d.data[i] == '"' {
		d.pos = i + 1
		return d.data[start:i], true
	}
	return d.oddText(start, i)
}

// firstOdd returns the index of the first byte of b from i that does not stand
// for itself in a string, or len(b).
func firstOdd(b []byte, i int) int {
	for ; i <= len(b)-8; i += 8 {
		if m := odd(binary.LittleEndian.Uint64(b[i:i+8])) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i]-' ' < utf8.RuneSelf-' ' {
		i++
	}
	return i
}

// oddText goes on at i with a string that has escapes or other characters than
// ASCII's.
func (d *Decoder) oddText(start, i int) ([]byte, bool) {
	end := firstInString(d.data, i)
	if end < len(d.data) && d.data[end] == '"' && utf8.Valid(d.data[i:end]) {
		d.pos = end + 1
		return d.data[start:end], true
	}
	text := append(d.scratch[:0], d.data[start:i]...)
	for d.pos = i; d.pos < len(d.data); {
		switch c := d.data[d.pos]; {
		case c == '"':
			d.pos++
			d.scratch = text
			return text, true
		case c == '\\':
			r, n := unescape(d.data[d.pos:])
			if n == 0 {
				d.fail("unknown escape in a string")
				return nil, false
			}
			text = utf8.AppendRune(text, r)
			d.pos += n
		case c < ' ':
			d.fail("control character in a string")
			return nil, false
		case c < utf8.RuneSelf:
			text = append(text, c)
			d.pos++
		default: // an invalid byte becomes U+FFFD
			r, size := utf8.DecodeRune(d.data[d.pos:])
			text = utf8.AppendRune(text, r)
			d.pos += size
		}
	}
	d.fail("unexpected end of a string")
	return nil, false
}

// unescape returns the character of the escape that b begins with, and the
// escape's length, 0 if it is none. Half of a surrogate pair is U+FFFD.
func unescape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	if c := escapes[b[1]]; c != 0 {
		return rune(c), 2
	}
	r := hexEscape(b)
	if r < 0 {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if pair := utf16.DecodeRune(r, hexEscape(b[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}
