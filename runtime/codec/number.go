package codec

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

var errRange = errors.New("number is out of the type's range")

// number reads a number as JSON's grammar has it, and returns its text.
func (d *Decoder) number() []byte {
	b, start := d.data, d.pos
	i := start
	if b[i] == '-' {
		i++
	}
	first := i
	i = digits(b, i)
	bad := i == first || i > first+1 && b[first] == '0'
	if i < len(b) && b[i] == '.' {
		from := i + 1
		i = digits(b, from)
		bad = bad || i == from
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from := i
		i = digits(b, from)
		bad = bad || i == from
	}
	if bad {
		d.fail("number is not as JSON has it")
		return nil
	}
	d.pos = i
	return b[start:i]
}

// digits returns the index of the first byte from i that is no digit.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// safeDigits is how many digits fit any integer of 64 bits.
const safeDigits = 18

// integer reads an integer, or null, for which it returns false. The number is
// negative, if so it says, and has no more than 64 bits.
func (d *Decoder) integer() (n uint64, negative, ok bool) {
	c := d.peek()
	b, i := d.data, d.pos
	if c == '-' {
		negative = true
		i++
	}
	first := i
	for i < len(b) && b[i]-'0' <= 9 {
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	count := i - first
	if count == 0 || count > safeDigits || count > 1 && b[first] == '0' || i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e') {
		return d.oddInteger(negative)
	}
	d.pos = i
	return n, negative, true
}

// oddInteger reads what may be no integer, or a long one.
func (d *Decoder) oddInteger(negative bool) (uint64, bool, bool) {
	c := d.peek()
	if c == 'n' {
		d.literal("null")
		return 0, false, false
	}
	if c != '-' && c-'0' > 9 {
		d.unexpected("an integer")
		return 0, false, false
	}
	text := d.number()
	if text == nil {
		return 0, false, false
	}
	whole := text
	if negative {
		whole = text[1:]
	}
	if d.fractions {
		whole = withoutFraction(whole)
	}
	n, err := strconv.ParseUint(string(whole), 10, 64)
	switch {
	case err == nil:
		return n, negative, true
	case d.fractions && isDigits(whole):
		d.noteBeyond(d.pos - len(text))
		return math.MaxUint64, negative, true
	}
	d.failAt(d.pos-len(text), fmt.Errorf("number does not fit an integer: %w", err))
	return 0, false, false
}

// noteBeyond notes that the integer at pos was replaced by the nearest one that
// its type holds.
func (d *Decoder) noteBeyond(pos int) {
	if d.beyond == 0 {
		d.firstBeyond = pos
	}
	d.beyond++
}

// beyondAll stands for any integer that is beyond 64 bits.
const beyondAll = "99999999999999999999"

// withoutFraction returns a number without sign as plain digits if it is an
// integer, [beyondAll] for one that is large by its exponent; else as it is.
func withoutFraction(number []byte) []byte {
	if isDigits(number) {
		return number
	}
	canonical := canonicalNumber(string(bytes.ToLower(number)))
	digits, exponent, _ := strings.Cut(canonical, "e")
	if strings.Trim(digits, "0.") == "" {
		return []byte("0")
	}
	zeros, err := strconv.Atoi(exponent)
	switch {
	case exponent[0] == '-':
		return number
	case err != nil || len(digits) > len(beyondAll) || zeros > len(beyondAll):
		return []byte(beyondAll)
	}
	return append([]byte(digits), strings.Repeat("0", zeros)...)
}

// isDigits reports whether a number is written without fraction and exponent.
func isDigits(number []byte) bool { return !bytes.ContainsAny(number, ".eE") }

// int reads an integer of at most 64 bits. Of an event's that has more it
// returns the nearest.
func (d *Decoder) int() (int64, bool) {
	start, before := d.pos, d.beyond
	n, negative, ok := d.integer()
	switch {
	case !ok:
		return 0, false
	case negative && n <= 1<<63:
		return -int64(n), true
	case !negative && n < 1<<63:
		return int64(n), true
	case !d.fractions:
		d.failAt(start, errRange)
		return 0, false
	}
	if d.beyond == before {
		d.noteBeyond(start)
	}
	if negative {
		return math.MinInt64, true
	}
	return math.MaxInt64, true
}

// uint reads an integer that has no sign, for a type that holds integers up to
// most. Of an event's that has one, or more bits, it returns the nearest if the
// type has 64 bits.
func (d *Decoder) uint(most uint64) (uint64, bool) {
	start, before := d.pos, d.beyond
	n, negative, ok := d.integer()
	switch {
	case !ok || !negative:
		return n, ok
	case !d.fractions || n != 0 && most < math.MaxUint64:
		d.failAt(start, errRange)
		return 0, false
	case n != 0 && d.beyond == before:
		d.noteBeyond(start)
	}
	return 0, true
}

// float reads a number of a type with this many bits, or null, for which it
// returns false.
func (d *Decoder) float(bits int) (float64, bool) {
	c := d.peek()
	if c != '-' && c-'0' > 9 {
		if !d.Null() {
			d.unexpected("a number")
		}
		return 0, false
	}
	text := d.number()
	if text == nil {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(text), bits)
	if err != nil {
		d.failAt(d.pos-len(text), errRange)
		return 0, false
	}
	return f, true
}
