package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// FingerprintV1 is the id of the algorithm of Fingerprint, its result's first
// byte.
const FingerprintV1 = 1

// Fingerprint returns a keyed 128-bit fingerprint of a JSON text, behind one
// byte that names the algorithm. Equal JSON values give equal fingerprints,
// whatever the order of members, the spelling of numbers and strings, and the
// white space.
//
// Algorithm 1 is the first 16 bytes of SHA-256(key ‖ "v" ‖ e(value)), with e
//
//	null    n
//	true    t
//	false   f
//	number  d, its decimal digits without leading and trailing zeros, after "-"
//	        if negative, then "e" and the decimal exponent of the last digit
//	        ("0" for every zero), then ";"
//	string  s, its UTF-8 text, unpaired surrogates and invalid bytes as U+FFFD,
//	        then the byte FF, which no text holds
//	array   [, the elements' encodings in order, then ]
//	object  {, then the sum modulo 2¹²⁸, big-endian, over the members of the
//	        first 16 bytes of SHA-256(key ‖ "m" ‖ e(name) ‖ e(value))
func Fingerprint(key, value []byte) ([]byte, error) {
	f := fingerprinters.Get().(*fingerprinter)
	defer f.free()
	return f.fingerprint(key, value)
}

// FingerprintOf is Fingerprint of the JSON text that appendTo appends to dst,
// which it must not keep.
func FingerprintOf(key []byte, appendTo func(dst []byte) ([]byte, error)) ([]byte, error) {
	buf := scratch.Get().(*[scratchSize]byte)
	defer scratch.Put(buf)
	text, err := appendTo(buf[:0])
	if err != nil {
		return nil, err
	}
	return Fingerprint(key, text)
}

type fingerprint [16]byte

// fingerprinter reads a JSON text once, from front to back.
type fingerprinter struct {
	key  []byte
	data []byte
	pos  int

	// buf is what is to be hashed: the whole value's encoding and behind it,
	// while one of its members is read, that member's, and so on.
	buf []byte
}

var fingerprinters = sync.Pool{New: func() any { return new(fingerprinter) }}

// free gives f back for another text.
func (f *fingerprinter) free() {
	f.key, f.data = nil, nil
	if cap(f.buf) <= 4*scratchSize {
		fingerprinters.Put(f)
	}
}

func (f *fingerprinter) fingerprint(key, value []byte) ([]byte, error) {
	f.key, f.data, f.pos, f.buf = key, value, 0, f.buf[:0]
	mark := f.begin('v')
	err := f.value(0)
	if err == nil && f.next() != 0 {
		err = f.errorf("data after the JSON value")
	}
	if err != nil {
		return nil, err
	}
	sum := f.end(mark)
	return append(append(make([]byte, 0, 1+len(sum)), FingerprintV1), sum[:]...), nil
}

// begin begins what is to be hashed by itself.
func (f *fingerprinter) begin(tag byte) (mark int) {
	mark = len(f.buf)
	f.buf = append(append(f.buf, f.key...), tag)
	return mark
}

// end hashes what was appended since begin, and removes it.
func (f *fingerprinter) end(mark int) fingerprint {
	sum := sha256.Sum256(f.buf[mark:])
	f.buf = f.buf[:mark]
	return fingerprint(sum[:16])
}

func (f *fingerprinter) errorf(format string, args ...any) error {
	return fmt.Errorf("read JSON value: offset %d: %s", f.pos, fmt.Sprintf(format, args...))
}

// next skips white space and returns the byte that follows, 0 at the end. A
// NUL byte is none that JSON could begin with either.
func (f *fingerprinter) next() byte {
	for ; f.pos < len(f.data); f.pos++ {
		switch c := f.data[f.pos]; c {
		case ' ', '\t', '\r', '\n':
		case 0:
			return 0xff
		default:
			return c
		}
	}
	return 0
}

// value reads a value and appends its encoding to buf.
func (f *fingerprinter) value(depth int) error {
	switch c := f.next(); c {
	case 'n':
		return f.literal("null")
	case 't':
		return f.literal("true")
	case 'f':
		return f.literal("false")
	case '"':
		return f.string()
	case '[', '{':
		if depth == maxDepth {
			return f.errorf("nested more than %d deep", maxDepth)
		}
		if c == '[' {
			return f.array(depth + 1)
		}
		return f.object(depth + 1)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return f.number()
	case 0:
		return f.errorf("unexpected end")
	}
	return f.errorf("unexpected character %q", f.data[f.pos])
}

func (f *fingerprinter) literal(word string) error {
	if !bytes.HasPrefix(f.data[f.pos:], []byte(word)) {
		return f.errorf("want %s", word)
	}
	f.pos += len(word)
	f.buf = append(f.buf, word[0])
	return nil
}

func (f *fingerprinter) array(depth int) error {
	f.pos++
	f.buf = append(f.buf, '[')
	end := f.next() == ']'
	for !end {
		if err := f.value(depth); err != nil {
			return err
		}
		switch f.next() {
		case ',':
			f.pos++
		case ']':
			end = true
		default:
			return f.errorf("want , or ]")
		}
	}
	f.pos++
	f.buf = append(f.buf, ']')
	return nil
}

func (f *fingerprinter) object(depth int) error {
	f.pos++
	var hi, lo uint64
	end := f.next() == '}'
	for !end {
		mark := f.begin('m')
		if err := f.member(depth); err != nil {
			return err
		}
		m := f.end(mark)
		var carry uint64
		lo, carry = bits.Add64(lo, binary.BigEndian.Uint64(m[8:]), 0)
		hi, _ = bits.Add64(hi, binary.BigEndian.Uint64(m[:8]), carry)
		switch f.next() {
		case ',':
			f.pos++
		case '}':
			end = true
		default:
			return f.errorf("want , or }")
		}
	}
	f.pos++
	f.buf = append(f.buf, '{')
	f.buf = binary.BigEndian.AppendUint64(f.buf, hi)
	f.buf = binary.BigEndian.AppendUint64(f.buf, lo)
	return nil
}

// member reads a member's name and value.
func (f *fingerprinter) member(depth int) error {
	if f.next() != '"' {
		return f.errorf("want a member's name")
	}
	if err := f.string(); err != nil {
		return err
	}
	if f.next() != ':' {
		return f.errorf("want :")
	}
	f.pos++
	return f.value(depth)
}

// string reads a string, in runs of what is spelled as it is.
func (f *fingerprinter) string() error {
	f.pos++
	f.buf = append(f.buf, 's')
	for run := f.pos; f.pos < len(f.data); {
		switch c := f.data[f.pos]; {
		case c == '"':
			f.buf = append(append(f.buf, f.data[run:f.pos]...), 0xff)
			f.pos++
			return nil
		case c < ' ':
			return f.errorf("control character in a string")
		case c < utf8.RuneSelf && c != '\\':
			f.pos++
		default:
			f.buf = append(f.buf, f.data[run:f.pos]...)
			if err := f.spelled(); err != nil {
				return err
			}
			run = f.pos
		}
	}
	return f.errorf("unexpected end of a string")
}

// spelled reads an escape, or a character that is not ASCII's: an invalid byte
// becomes U+FFFD.
func (f *fingerprinter) spelled() error {
	if f.data[f.pos] == '\\' {
		return f.escape()
	}
	r, size := utf8.DecodeRune(f.data[f.pos:])
	f.buf = utf8.AppendRune(f.buf, r)
	f.pos += size
	return nil
}

func (f *fingerprinter) escape() error {
	if f.pos+1 >= len(f.data) {
		return f.errorf("unexpected end of a string")
	}
	letter := f.data[f.pos+1]
	if c := escapes[letter]; c != 0 {
		f.buf = append(f.buf, c)
		f.pos += 2
		return nil
	}
	r := f.hex(f.pos)
	if r < 0 {
		return f.errorf("unknown escape in a string")
	}
	f.pos += 6
	if utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, f.hex(f.pos)); pair != utf8.RuneError {
			r = pair
			f.pos += 6
		} else {
			r = utf8.RuneError
		}
	}
	f.buf = utf8.AppendRune(f.buf, r)
	return nil
}

// hex returns the code unit of an escape \uXXXX at pos, -1 if there is none.
func (f *fingerprinter) hex(pos int) rune {
	if pos+6 > len(f.data) || f.data[pos] != '\\' || f.data[pos+1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range f.data[pos+2 : pos+6] {
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

// number reads a number as JSON's grammar has it.
func (f *fingerprinter) number() error {
	start := f.pos
	if f.data[f.pos] == '-' {
		f.pos++
	}
	first := f.pos
	if whole := f.digits(); whole == 0 || whole > 1 && f.data[first] == '0' {
		return f.errorf("number is not as JSON has it")
	}
	integer := f.pos
	if f.at('.') {
		f.pos++
		if f.digits() == 0 {
			return f.errorf("number is not as JSON has it")
		}
	}
	if f.at('e') || f.at('E') {
		f.pos++
		if f.at('+') || f.at('-') {
			f.pos++
		}
		if f.digits() == 0 {
			return f.errorf("number is not as JSON has it")
		}
	}
	f.buf = append(f.buf, 'd')
	if f.pos == integer && f.data[first] != '0' {
		f.buf = appendInteger(f.buf, f.data[start:f.pos])
	} else {
		f.buf = append(f.buf, canonicalNumber(string(f.data[start:f.pos]))...)
	}
	f.buf = append(f.buf, ';')
	return nil
}

// appendInteger appends the canonical form of an integer other than zero.
func appendInteger(dst, text []byte) []byte {
	digits := bytes.TrimRight(text, "0")
	dst = append(append(dst, digits...), 'e')
	return strconv.AppendInt(dst, int64(len(text)-len(digits)), 10)
}

func (f *fingerprinter) at(c byte) bool { return f.pos < len(f.data) && f.data[f.pos] == c }

// digits skips digits and returns how many there were.
func (f *fingerprinter) digits() int {
	start := f.pos
	for f.pos < len(f.data) && '0' <= f.data[f.pos] && f.data[f.pos] <= '9' {
		f.pos++
	}
	return f.pos - start
}

// canonicalNumber writes a JSON number in the one form that equal numbers
// share. An exponent beyond int64 is left as it was written.
func canonicalNumber(text string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	exp := int64(0)
	if exponent != "" {
		var err error
		if exp, err = strconv.ParseInt(exponent, 10, 64); err != nil || exp > 1<<62 || exp < -1<<62 {
			return text
		}
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	exp -= int64(len(fraction))
	trimmed := strings.TrimRight(digits, "0")
	exp += int64(len(digits) - len(trimmed))
	if negative {
		trimmed = "-" + trimmed
	}
	return trimmed + "e" + strconv.FormatInt(exp, 10)
}
