package codec

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// An Encoder collects the JSON text of a value.
//
// Every method and function that encodes a value takes the text that stands
// before it: a member's name between a comma and a colon, as in `,"id":`, a
// comma for an array's element, "" for a value by itself. The bracket that
// opens an object or array is written over its first comma in the end, so that
// no member needs to know whether it is the first.
type Encoder struct {
	buf   []byte
	depth int // of values whose type contains itself
	err   error
	keys  []string // of the maps being encoded, one behind the other
}

// reset makes e ready for the next value, with buf to write into.
func (e *Encoder) reset(buf []byte) {
	e.buf, e.depth, e.err = buf[:0], 0, nil
	if cap(e.buf) > maxScratch {
		e.buf = nil
	}
	clear(e.keys)
	if e.keys = e.keys[:0]; cap(e.keys) > maxScratch/16 {
		e.keys = nil
	}
}

// fail keeps the first error.
func (e *Encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// Open begins an object or array, and returns what Close is to be told.
func (e *Encoder) Open(key string) int {
	e.add(key)
	return len(e.buf)
}

// Close ends the object that Open began.
func (e *Encoder) Close(start int) { e.close(start, '{', '}') }

// CloseArray ends the array that Open began.
func (e *Encoder) CloseArray(start int) { e.close(start, '[', ']') }

func (e *Encoder) close(start int, open, end byte) {
	e.room(2)
	if len(e.buf) == start {
		e.buf = e.buf[:start+1]
	}
	n := len(e.buf)
	e.buf = e.buf[:n+1]
	e.buf[start], e.buf[n] = open, end
}

// cycleDepth is how deep a value of a type that contains itself may be before
// encoding/json is asked, which finds out whether it contains itself, too.
const cycleDepth = 1000

// Enter is called before a value whose type contains itself is encoded; v
// points to it. If it returns false the value is done, by encoding/json, else
// Leave follows.
func (e *Encoder) Enter(key string, v any) bool {
	if e.enter() {
		return true
	}
	e.JSON(key, v)
	return false
}

func (e *Encoder) enter() bool {
	if e.err != nil || e.depth == cycleDepth {
		return false
	}
	e.depth++
	return true
}

// Leave is called after a value for which Enter returned true.
func (e *Encoder) Leave() { e.depth-- }

// JSON leaves v to encoding/json.
func (e *Encoder) JSON(key string, v any) {
	if e.err != nil {
		return
	}
	data, err := json.Marshal(v)
	if err != nil {
		e.fail(err)
		return
	}
	e.add(key)
	e.buf = append(e.buf, data...)
}

// room makes room for n more bytes.
func (e *Encoder) room(n int) {
	if cap(e.buf)-len(e.buf) < n {
		e.grow(n)
	}
}

// grow is what room does rarely.
//
//go:noinline
func (e *Encoder) grow(n int) { e.buf = slices.Grow(e.buf, n) }

// add appends s. Unlike append it stores no pointer where there is room, which
// costs something while the garbage collector is at work.
func (e *Encoder) add(s string) {
	e.room(len(s))
	n := len(e.buf)
	e.buf = e.buf[:n+len(s)]
	copy(e.buf[n:], s)
}

// Null encodes null.
func (e *Encoder) Null(key string) { e.word(key, 'n'|'u'<<8|'l'<<16|'l'<<24, 4) }

// Bool encodes v.
func (e *Encoder) Bool(key string, v bool) {
	if v {
		e.word(key, 't'|'r'<<8|'u'<<16|'e'<<24, 4)
	} else {
		e.word(key, 'f'|'a'<<8|'l'<<16|'s'<<24|'e'<<32, 5)
	}
}

// slack is the room behind what is written as eight bytes and may be fewer.
const slack = 8

// word appends a key and one of JSON's words, of size bytes, the first lowest.
func (e *Encoder) word(key string, word uint64, size int) {
	e.room(len(key) + slack)
	n := len(e.buf)
	b := e.buf[n : n+len(key)+slack]
	copy(b, key)
	binary.LittleEndian.PutUint64(b[len(key):], word)
	e.buf = e.buf[:n+len(key)+size]
}

// Int encodes v.
func (e *Encoder) Int(key string, v int64) {
	if v < 0 {
		e.integer(key, true, -uint64(v))
	} else {
		e.integer(key, false, uint64(v))
	}
}

// Uint encodes v.
func (e *Encoder) Uint(key string, v uint64) { e.integer(key, false, v) }

// integer appends a key and a number.
func (e *Encoder) integer(key string, negative bool, v uint64) {
	e.room(len(key) + 1 + maxDigits)
	n := len(e.buf)
	b := e.buf[n : n+len(key)+1+maxDigits]
	k := copy(b, key)
	if negative {
		b[k] = '-'
		k++
	}
	e.buf = e.buf[:n+k+putDigits(b[k:], v)]
}

// Float64 encodes v. Infinities and NaN are an error.
func (e *Encoder) Float64(key string, v float64) {
	abs := math.Abs(v)
	e.float(key, v, 64, abs != 0 && (abs < 1e-6 || abs >= 1e21))
}

// Float32 encodes v. Infinities and NaN are an error.
func (e *Encoder) Float32(key string, v float32) {
	abs := float32(math.Abs(float64(v)))
	e.float(key, float64(v), 32, abs != 0 && (abs < 1e-6 || abs >= 1e21))
}

// float writes a number as ECMAScript does.
func (e *Encoder) float(key string, v float64, bits int, exponent bool) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		e.fail(fmt.Errorf("%v has no JSON form", v))
		return
	}
	e.add(key)
	if !exponent {
		e.buf = strconv.AppendFloat(e.buf, v, 'f', -1, bits)
		return
	}
	b := strconv.AppendFloat(e.buf, v, 'e', -1, bits)
	if n := len(b); b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 is e-9
		b = append(b[:n-2], b[n-1])
	}
	e.buf = b
}

// String encodes v, with what HTML gives a meaning escaped.
func (e *Encoder) String(key, v string) {
	n, k := len(e.buf), len(key)+1
	e.room(k + len(v) + slack)
	b := e.buf[n : n+k+len(v)+slack]
	copy(b, key)
	b[k-1] = '"'
	b = b[k:]
	if len(v) <= 16 {
		if !putShort(b, v) {
			e.buf = appendEscaped(e.buf[:n+k], v, 0)
			return
		}
	} else {
		if plain := plain(v); plain < len(v) {
			e.buf = appendEscaped(e.buf[:n+k], v, plain)
			return
		}
		copy(b, v)
	}
	b[len(v)] = '"'
	e.buf = e.buf[:n+k+len(v)+1]
}

// putShort writes a string of at most sixteen bytes to b, which is longer by the
// slack, if all of them stand for themselves.
func putShort(b []byte, s string) bool {
	switch n := len(s); {
	case n >= 8:
		first, last := eight(s[:8]), eight(s[n-8:])
		if (special(first)|special(last))&highs != 0 {
			return false
		}
		binary.LittleEndian.PutUint64(b, first)
		binary.LittleEndian.PutUint64(b[n-8:], last)
	case n > 0:
		all := last(s)
		if special(all)&highs != 0 {
			return false
		}
		binary.LittleEndian.PutUint64(b, all)
	}
	return true
}

// Bytes encodes v in base64, nil as null.
func (e *Encoder) Bytes(key string, v []byte) {
	if v == nil {
		e.Null(key)
		return
	}
	b := append(append(e.buf, key...), '"')
	e.buf = append(base64.StdEncoding.AppendEncode(b, v), '"')
}

// Time encodes v as RFC 3339 has it.
func (e *Encoder) Time(key string, v *time.Time) {
	e.room(len(key) + maxTime + 2)
	n := len(e.buf) + len(key)
	b := e.buf[n-len(key) : n+1+maxTime+1]
	copy(b, key)
	b = b[len(key):]
	b[0] = '"'
	size := putTime(b[1:], *v)
	if size == 0 {
		text, err := v.AppendText(b[:1])
		if err != nil {
			e.fail(fmt.Errorf("encode time: %w", err))
			return
		}
		size = len(text) - 1
	}
	b[1+size] = '"'
	e.buf = e.buf[:n+1+size+1]
}

// Text encodes a text that is valid JSON, without the white space between its
// parts and with what HTML gives a meaning escaped.
func (e *Encoder) Text(key, v string) {
	e.add(key)
	n := len(e.buf)
	if len(v) > 1 && v[0] == '"' {
		e.add(v)
		if text := v[1 : len(v)-1]; plain(text) == len(text) {
			return
		}
	}
	e.buf = appendCompact(e.buf[:n], v)
}

// Raw encodes a text that may be invalid, which is an error; nil is null.
func (e *Encoder) Raw(key string, v []byte) {
	if v == nil {
		e.Null(key)
		return
	}
	d := Decoder{data: v}
	d.skip()
	if err := d.end(); err != nil || !utf8.Valid(v) {
		e.JSON(key, json.RawMessage(v))
		return
	}
	e.buf = appendCompact(append(e.buf, key...), v)
}
