package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Decoder reads a JSON text once, from front to back. After an error every
// method finds the end of the text, so that nothing needs to ask for errors on
// the way.
type Decoder struct {
	data    []byte
	pos     int
	depth   int
	err     *Error
	text    strings.Builder // what decoded strings share
	strings []string        // those that pointers are made to next
	made    int             // how many have been
	scratch []byte          // a string that is not spelled as it is

	// Of an event: an integer may be written as 1.0, and if it is beyond 64
	// bits, the nearest that is not is read.
	fractions   bool
	beyond      int // how many of those there were
	firstBeyond int // where the first one stands
}

// reset makes d ready for the next text, and forgets all of the last.
func (d *Decoder) reset() {
	d.data, d.pos, d.depth, d.err, d.fractions, d.beyond = nil, 0, 0, nil, false, 0
	d.text.Reset()
	d.strings, d.made = nil, 0
	if d.scratch = d.scratch[:0]; cap(d.scratch) > maxScratch {
		d.scratch = nil
	}
}

// end returns the error, which something behind the value is, too.
func (d *Decoder) end() error {
	if d.err == nil && d.peek() != 0 {
		d.fail("data after the JSON value")
	}
	if d.err == nil {
		return nil
	}
	return d.err
}

// fail keeps the first error, and goes to the end of the text.
func (d *Decoder) fail(reason string) { d.failAt(d.pos, errors.New(reason)) }

func (d *Decoder) failAt(pos int, err error) {
	if d.err == nil {
		d.err = &Error{Offset: pos, Path: pathTo(d.data, pos), Err: err}
	}
	d.pos = len(d.data)
}

// peek skips white space and returns the byte that follows, 0 at the end. A NUL
// byte, which nothing in JSON begins with, is returned as 0xff.
func (d *Decoder) peek() byte {
	if d.pos < len(d.data) {
		if c := d.data[d.pos]; c > ' ' {
			return c
		}
	}
	return d.peekSpace()
}

func (d *Decoder) peekSpace() byte {
	for ; d.pos < len(d.data); d.pos++ {
		switch c := d.data[d.pos]; c {
		case ' ', '\t', '\r', '\n':
		case 0:
			return 0xff
		default:
			return c
		}
	}
	return 0
}

// unexpected says that there is something else than what was wanted.
func (d *Decoder) unexpected(want string) {
	switch c := d.peek(); c {
	case 0:
		d.fail("unexpected end: want " + want)
	case '{':
		d.fail("have an object, want " + want)
	case '[':
		d.fail("have an array, want " + want)
	case '"':
		d.fail("have a string, want " + want)
	default:
		d.failAt(d.pos, fmt.Errorf("have %q, want %s", d.data[d.pos], want))
	}
}

// literal reads one of JSON's words.
func (d *Decoder) literal(word string) bool {
	if n := d.pos + len(word); n <= len(d.data) && string(d.data[d.pos:n]) == word {
		d.pos = n
		return true
	}
	d.unexpected(word)
	return false
}

// Null reads null, if that is what follows.
func (d *Decoder) Null() bool {
	if d.pos < len(d.data) && d.data[d.pos] == '"' { // the likeliest, seen to without a call
		return false
	}
	return d.null()
}

func (d *Decoder) null() bool { return d.peek() == 'n' && d.literal("null") }

// open reads the bracket that begins an object or array.
func (d *Decoder) open() bool {
	if d.depth == maxDepth {
		d.failAt(d.pos, fmt.Errorf("nested more than %d deep", maxDepth))
		return false
	}
	d.depth++
	d.pos++
	return true
}

// Token reads one of the characters that hold an array of known length
// together: an opening bracket, a comma, a closing bracket.
func (d *Decoder) Token(c byte) {
	if d.peek() != c {
		d.unexpected(string(c))
		return
	}
	switch c {
	case '[':
		d.open()
		return
	case ']':
		d.depth--
	}
	d.pos++
}

// array reads the beginning of an array and reports whether there is an
// element.
func (d *Decoder) array() bool {
	if !d.open() {
		return false
	}
	switch d.peek() {
	case ']':
		d.depth--
		d.pos++
		return false
	case 0:
		d.unexpected("a value or ]")
		return false
	}
	return true
}

// more reads what stands behind an element and reports whether there is
// another.
func (d *Decoder) more() bool {
	switch d.peek() {
	case ',':
		d.pos++
		return true
	case ']':
		d.depth--
		d.pos++
	default:
		d.unexpected(", or ]")
	}
	return false
}

// value reads any value and returns its text.
func (d *Decoder) value() []byte {
	d.peek()
	start := d.pos
	d.skip()
	if d.err != nil {
		return nil
	}
	return d.data[start:d.pos]
}

// Text reads any value and returns its text, without the white space around it;
// "" after an error.
func (d *Decoder) Text() string {
	text := d.value()
	if text == nil {
		return ""
	}
	return d.keep(text)
}

// Kind returns the first byte of the next value, such as '{', 0 if there is
// none.
func (d *Decoder) Kind() byte { return d.peek() }

// Fractions sets whether integers are read as those of an event are, and returns
// what was set before: one may be written with a fraction or exponent that does
// not matter, as 1.0 or 1e3, and of one beyond 64 bits the nearest that is not
// is read.
func (d *Decoder) Fractions(may bool) bool {
	before := d.fractions
	d.fractions = may
	return before
}

// Refuse fails the decoding at the next value.
func (d *Decoder) Refuse(err error) {
	d.peek()
	d.failAt(d.pos, err)
}

// JSON leaves the next value to encoding/json, which reads it into what v
// points to.
func (d *Decoder) JSON(v any) {
	text := d.value()
	if text == nil {
		return
	}
	if err := d.unmarshal(text, v); err != nil {
		d.unfit(text, err)
	}
}

// unmarshal is json.Unmarshal, or Unmarshal where integers may have fractions.
func (d *Decoder) unmarshal(text []byte, v any) error {
	if !d.fractions {
		return json.Unmarshal(text, v)
	}
	beyond, err := unmarshal(text, v)
	if beyond > 0 {
		if d.beyond == 0 {
			d.firstBeyond = d.pos - len(text)
		}
		d.beyond += beyond
	}
	return err
}

// unfit fails the decoding of the value with this text, which was just read.
func (d *Decoder) unfit(text []byte, err error) { d.failAt(d.pos-len(text), err) }
