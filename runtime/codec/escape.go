package codec

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// Eight bytes are looked at together, as one number. In what the functions
// below return, the lowest byte with its highest bit set is the first of those
// that are looked for; what is above it means nothing.
const (
	ones  = 0x0101010101010101
	lows  = 0x7f * ones
	highs = 0x80 * ones
)

// other has a byte's highest bit clear if the byte is the pattern's, and set if
// it is another one of ASCII's.
func other(w, pattern uint64) uint64 { return (w ^ pattern) + lows }

// printable has a byte's highest bit clear if it is below the space, and set if
// it is another one of ASCII's.
func printable(w uint64) uint64 { return w + (0x80-' ')*ones }

// special tells the bytes that do not stand for themselves in a string that is
// written: quotes, backslashes, control characters, <, > and &, and those of
// other characters than ASCII's.
func special(w uint64) uint64 {
	return ^(other(w|0x04*ones, '&'*ones) & other(w|0x02*ones, '>'*ones) & other(w, '\\'*ones) & printable(w) &^ w) & highs
}

// odd tells the bytes that do not stand for themselves in a string that is read,
// or end it: quotes, backslashes, control characters, and those of other
// characters than ASCII's.
func odd(w uint64) uint64 {
	return ^(other(w, '"'*ones) & other(w, '\\'*ones) & printable(w) &^ w) & highs
}

// oddASCII is odd without other characters than ASCII's.
func oddASCII(w uint64) uint64 {
	v := w & lows
	return ^(other(v, '"'*ones)&other(v, '\\'*ones)&printable(v) | w) & highs
}

// firstSpecial returns the index of the first special byte of b from start, or
// len(b). There is at least one byte before start.
func firstSpecial(b []byte, start int) int {
	i := start
	for ; i+8 <= len(b); i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	rest := len(b) - i
	if rest == 0 {
		return i
	}
	if len(b) < 8 {
		for ; i < len(b) && !escaped[b[i]]; i++ {
		}
		return i
	}
	// The last eight bytes, with what was looked at shifted out and spaces,
	// which are nothing special, in its place.
	w := binary.LittleEndian.Uint64(b[len(b)-8:])>>(64-8*rest) | ' '*ones<<(8*rest)
	if m := special(w); m != 0 {
		return i + bits.TrailingZeros64(m)/8
	}
	return len(b)
}

// escaped are the ASCII characters that do not stand for themselves.
var escaped = func() (is [256]bool) {
	for c := range is {
		is[c] = c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf
	}
	return is
}()

const hex = "0123456789abcdef"

// appendEscaped goes on at s[i], the first special byte; dst ends with what is
// before it. How invalid bytes are written depends on the release of Go, so
// encoding/json writes a text that has any.
func appendEscaped(dst []byte, s string, i int) []byte {
	begin, start := len(dst)-i-1, i
	for i < len(s) {
		c := s[i]
		if !escaped[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = appendEscape(append(dst, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			data, _ := json.Marshal(s) // no string is an error
			return append(dst[:begin], data...)
		case r == '\u2028' || r == '\u2029': // which end a line in JavaScript
			dst = append(append(dst, s[start:i]...), '\\', 'u', '2', '0', '2', hex[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

// appendEscape appends an ASCII character that does not stand for itself.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}

// appendCompact appends a valid JSON text without white space, with what
// HTML gives a meaning escaped.
func appendCompact[T string | []byte](dst []byte, text T) []byte {
	start, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case c == '\\':
			i++
		case c == '<' || c == '>' || c == '&':
			dst = append(append(dst, text[start:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
			start = i + 1
		case c <= ' ' && !inString:
			dst = append(dst, text[start:i]...)
			start = i + 1
		case c == 0xe2 && i+2 < len(text) && text[i+1] == 0x80 && text[i+2]&^1 == 0xa8: // U+2028, U+2029
			dst = append(append(dst, text[start:i]...), '\\', 'u', '2', '0', '2', hex[text[i+2]&0xf])
			start = i + 3
			i += 2
		}
	}
	return append(dst, text[start:]...)
}
