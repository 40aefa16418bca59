package codec

import (
	"encoding/json"
	"unicode/utf8"
)

// Eight bytes are looked at together, as one number. In what the functions
// below return, the lowest byte with its highest bit set is the first of those
// that are looked for; what is above it means nothing.
const (
	ones  = 0x0101010101010101
	lows  = 0x7f * ones
	highs = 0x80 * ones

	spaces uint64 = ' ' * ones
)

// other has a byte's highest bit clear if the byte is the pattern's, and set if
// it is another one of ASCII's.
func other(w, pattern uint64) uint64 { return (w ^ pattern) + lows }

// printable has a byte's highest bit clear if it is below the space, and set if
// it is another one of ASCII's.
func printable(w uint64) uint64 { return w + (0x80-' ')*ones }

// special tells the bytes that do not stand for themselves in a string that is
// written: quotes, backslashes, control characters, <, > and &, and those of
// other characters than ASCII's. It takes ^, | and ~ for special, too, which
// makes it shorter.
func special(w uint64) uint64 {
	return ((w | 0x04*ones) ^ '&'*ones - ones) | ((w | 0xe2*ones) ^ 0xfe*ones - ones) | (w - ' '*ones) | w
}

// odd tells the bytes that do not stand for themselves in a string that is read,
// or end it: quotes, backslashes, control characters, and those of other
// characters than ASCII's.
func odd(w uint64) uint64 {
	return (w ^ '"'*ones - ones) | (w ^ '\\'*ones - ones) | (w - ' '*ones) | w
}

// oddASCII is odd without other characters than ASCII's.
func oddASCII(w uint64) uint64 {
	v := w & lows
	return ^(other(v, '"'*ones)&other(v, '\\'*ones)&printable(v) | w) & highs
}

// plain returns how many bytes at the beginning of s stand for themselves: all,
// or as many as are known to.
func plain(s string) int {
	i := 0
	for ; i <= len(s)-16; i += 16 {
		if (special(eight(s[i:i+8]))|special(eight(s[i+8:i+16])))&highs != 0 {
			return i
		}
	}
	if i <= len(s)-8 {
		if special(eight(s[i:i+8]))&highs != 0 {
			return i
		}
		i += 8
	}
	if i < len(s) && special(last(s))&highs != 0 {
		return i
	}
	return len(s)
}

// eight returns the eight bytes of s, the first one lowest.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// four is eight for four bytes.
func four(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// last returns the last eight bytes of s, which is not empty; if it has fewer,
// spaces follow.
func last(s string) uint64 {
	n := len(s)
	switch {
	case n >= 8:
		return eight(s[n-8:])
	case n >= 4:
		return four(s) | four(s[n-4:])<<(8*(n-4)) | spaces<<(8*n)
	}
	return uint64(s[0]) | uint64(s[n/2])<<(8*(n/2)) | uint64(s[n-1])<<(8*(n-1)) | spaces<<(8*n)
}

// escaped are the ASCII characters that do not stand for themselves.
var escaped = func() (is [256]bool) {
	for c := range is {
		is[c] = c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf
	}
	return is
}()

const hex = "0123456789abcdef"

// appendEscaped appends s and a quote behind it; plain bytes at its beginning
// stand for themselves. How invalid bytes are written depends on the release of
// Go, so encoding/json writes a text that has any.
func appendEscaped(dst []byte, s string, plain int) []byte {
	begin := len(dst)
	start := 0
	for i := plain; i < len(s); {
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
			return append(dst[:begin], data[1:]...)
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
