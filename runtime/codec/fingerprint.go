package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep a JSON value may be nested, as in encoding/json.
const maxDepth = 10000

// FingerprintV1 is the id of the algorithm of Fingerprint, its result's first
// byte.
const FingerprintV1 = 1

// Fingerprint returns a keyed 128-bit fingerprint of a JSON text, behind one
// byte that names the algorithm. Equal JSON values give equal fingerprints,
// whatever the order of members, the spelling of numbers and strings, and the
// white space.
//
// Algorithm 1, with h(tag, x) the first 16 bytes of SHA-256(key ‖ tag ‖ x),
// the tag being one ASCII letter:
//
//	null    h("n", "")
//	true    h("t", "")
//	false   h("f", "")
//	number  h("d", its decimal digits without leading and trailing zeros,
//	        after "-" if negative, then "e" and the decimal exponent of the
//	        last digit; "0" for every zero)
//	string  h("s", its UTF-8 text, unpaired surrogates and invalid bytes as U+FFFD)
//	array   h("a", the elements' fingerprints in order)
//	object  h("o", the sum modulo 2¹²⁸, big-endian, over the members of
//	        h("m", fingerprint of the name ‖ fingerprint of the value))
func Fingerprint(key, value []byte) ([]byte, error) {
	f := fingerprinter{data: value, buf: append(make([]byte, 0, len(key)+256), key...), key: len(key)}
	sum, err := f.value(0)
	if err == nil && f.next() != 0 {
		err = f.errorf("data after the JSON value")
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{FingerprintV1}, sum[:]...), nil
}

type fingerprint [16]byte

// fingerprinter reads a JSON text once, from front to back.
type fingerprinter struct {
	data []byte
	pos  int

	buf   []byte // the key, and behind it what is being hashed
	key   int    // the key's length
	stack []byte // fingerprints of the elements of the arrays that are open
	text  []byte // a string's text, if it is not spelled as it is
}

func (f *fingerprinter) errorf(format string, args ...any) error {
	return fmt.Errorf("read JSON value: offset %d: %s", f.pos, fmt.Sprintf(format, args...))
}

func (f *fingerprinter) hash(tag byte, content ...[]byte) fingerprint {
	f.buf = append(f.buf[:f.key], tag)
	for _, c := range content {
		f.buf = append(f.buf, c...)
	}
	sum := sha256.Sum256(f.buf)
	return fingerprint(sum[:16])
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

func (f *fingerprinter) value(depth int) (fingerprint, error) {
	switch c := f.next(); c {
	case 'n':
		return f.literal("null", 'n')
	case 't':
		return f.literal("true", 't')
	case 'f':
		return f.literal("false", 'f')
	case '"':
		text, err := f.string()
		return f.hash('s', text), err
	case '[', '{':
		if depth == maxDepth {
			return fingerprint{}, f.errorf("nested more than %d deep", maxDepth)
		}
		if c == '[' {
			return f.array(depth + 1)
		}
		return f.object(depth + 1)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return f.number()
	case 0:
		return fingerprint{}, f.errorf("unexpected end")
	}
	return fingerprint{}, f.errorf("unexpected character %q", f.data[f.pos])
}

func (f *fingerprinter) literal(word string, tag byte) (fingerprint, error) {
	if !bytes.HasPrefix(f.data[f.pos:], []byte(word)) {
		return fingerprint{}, f.errorf("want %s", word)
	}
	f.pos += len(word)
	return f.hash(tag), nil
}

func (f *fingerprinter) array(depth int) (fingerprint, error) {
	f.pos++
	mark := len(f.stack)
	if f.next() == ']' {
		f.pos++
		return f.hash('a'), nil
	}
	for {
		e, err := f.value(depth)
		if err != nil {
			return e, err
		}
		f.stack = append(f.stack, e[:]...)
		switch f.next() {
		case ',':
			f.pos++
		case ']':
			f.pos++
			sum := f.hash('a', f.stack[mark:])
			f.stack = f.stack[:mark]
			return sum, nil
		default:
			return fingerprint{}, f.errorf("want , or ]")
		}
	}
}

func (f *fingerprinter) object(depth int) (fingerprint, error) {
	f.pos++
	var hi, lo uint64
	end := f.next() == '}'
	for !end {
		if f.next() != '"' {
			return fingerprint{}, f.errorf("want a member's name")
		}
		text, err := f.string()
		if err != nil {
			return fingerprint{}, err
		}
		name := f.hash('s', text)
		if f.next() != ':' {
			return fingerprint{}, f.errorf("want :")
		}
		f.pos++
		value, err := f.value(depth)
		if err != nil {
			return value, err
		}
		m := f.hash('m', name[:], value[:])
		var carry uint64
		lo, carry = bits.Add64(lo, binary.BigEndian.Uint64(m[8:]), 0)
		hi, _ = bits.Add64(hi, binary.BigEndian.Uint64(m[:8]), carry)
		switch f.next() {
		case ',':
			f.pos++
		case '}':
			end = true
		default:
			return fingerprint{}, f.errorf("want , or }")
		}
	}
	f.pos++
	var sum fingerprint
	binary.BigEndian.PutUint64(sum[:8], hi)
	binary.BigEndian.PutUint64(sum[8:], lo)
	return f.hash('o', sum[:]), nil
}

// string reads a string and returns its text, which is good until the next
// one.
func (f *fingerprinter) string() ([]byte, error) {
	f.pos++
	start := f.pos
	for ; f.pos < len(f.data); f.pos++ {
		switch c := f.data[f.pos]; {
		case c == '"':
			text := f.data[start:f.pos]
			f.pos++
			return text, nil
		case c == '\\' || c >= utf8.RuneSelf:
			f.text = append(f.text[:0], f.data[start:f.pos]...)
			return f.spelled()
		case c < ' ':
			return nil, f.errorf("control character in a string")
		}
	}
	return nil, f.errorf("unexpected end of a string")
}

// spelled goes on with a string that has escapes or other characters than
// ASCII's.
func (f *fingerprinter) spelled() ([]byte, error) {
	for f.pos < len(f.data) {
		switch c := f.data[f.pos]; {
		case c == '"':
			f.pos++
			return f.text, nil
		case c == '\\':
			if err := f.escape(); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, f.errorf("control character in a string")
		default: // an invalid byte becomes U+FFFD
			r, size := utf8.DecodeRune(f.data[f.pos:])
			f.text = utf8.AppendRune(f.text, r)
			f.pos += size
		}
	}
	return nil, f.errorf("unexpected end of a string")
}

// escapes are the escapes of one letter.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (f *fingerprinter) escape() error {
	if f.pos+1 >= len(f.data) {
		return f.errorf("unexpected end of a string")
	}
	letter := f.data[f.pos+1]
	if c := escapes[letter]; c != 0 {
		f.text = append(f.text, c)
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
	f.text = utf8.AppendRune(f.text, r)
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
func (f *fingerprinter) number() (fingerprint, error) {
	start := f.pos
	if f.data[f.pos] == '-' {
		f.pos++
	}
	first := f.pos
	if whole := f.digits(); whole == 0 || whole > 1 && f.data[first] == '0' {
		return fingerprint{}, f.errorf("number is not as JSON has it")
	}
	if f.at('.') {
		f.pos++
		if f.digits() == 0 {
			return fingerprint{}, f.errorf("number is not as JSON has it")
		}
	}
	if f.at('e') || f.at('E') {
		f.pos++
		if f.at('+') || f.at('-') {
			f.pos++
		}
		if f.digits() == 0 {
			return fingerprint{}, f.errorf("number is not as JSON has it")
		}
	}
	return f.hash('d', []byte(canonicalNumber(string(f.data[start:f.pos])))), nil
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
