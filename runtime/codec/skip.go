package codec

import (
	"encoding/binary"
	"math/bits"
)

// skip reads a value that nobody wants. It is checked as any other.
func (d *Decoder) skip() {
	switch c := d.peek(); c {
	case '"':
		d.skipString()
	case '{':
		d.skipObject()
	case '[':
		if d.array() {
			for d.skip(); d.more(); {
				d.skip()
			}
		}
	case 'n':
		d.literal("null")
	case 't':
		d.literal("true")
	case 'f':
		d.literal("false")
	default:
		if c != '-' && (c < '0' || c > '9') {
			d.unexpected("a value")
			return
		}
		d.number()
	}
}

func (d *Decoder) skipObject() {
	if !d.open() {
		return
	}
	if d.peek() == '}' {
		d.depth--
		d.pos++
		return
	}
	for {
		if d.peek() != '"' {
			d.unexpected("a member's name")
			return
		}
		d.skipString()
		if d.peek() != ':' {
			d.unexpected(":")
			return
		}
		d.pos++
		d.skip()
		switch d.peek() {
		case ',':
			d.pos++
		case '}':
			d.depth--
			d.pos++
			return
		default:
			d.unexpected(", or }")
			return
		}
	}
}

// skipString reads a string.
func (d *Decoder) skipString() {
	d.pos++
	for d.pos < len(d.data) {
		d.pos = firstInString(d.data, d.pos)
		if d.pos == len(d.data) {
			break
		}
		switch d.data[d.pos] {
		case '"':
			d.pos++
			return
		case '\\':
			if n := escapeLen(d.data[d.pos:]); n > 0 {
				d.pos += n
				continue
			}
			d.fail("unknown escape in a string")
			return
		default:
			d.fail("control character in a string")
			return
		}
	}
	d.fail("unexpected end of a string")
}

// firstInString returns the index of the first byte of b from i that is a
// quote, a backslash, or a control character, or len(b).
func firstInString(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := oddASCII(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

// escapeLen returns the length of the escape that b begins with, 0 if it is
// none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if escapes[b[1]] != 0 {
		return 2
	}
	if hexEscape(b) >= 0 {
		return 6
	}
	return 0
}

// escapes are the escapes of one letter.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hexEscape returns the code unit of the escape \uXXXX that b begins with, -1
// if it does not.
func hexEscape(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
