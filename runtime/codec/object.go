package codec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync/atomic"
	"unicode/utf8"
)

// Fields are the names of a struct's members, in the order of its fields. A
// member of a text is matched by its name, else by its name in other cases.
// Nobody changes Names; a Fields is used by pointer.
type Fields struct {
	Names []string

	index atomic.Pointer[index]
}

// index finds a field by a hash of its name that upper and lower case share.
type index struct {
	slots []uint16 // a field's number + 1; 0: none
	shift int
	ascii bool // all names are
}

// Object reads the beginning of an object and the name of its first member that
// is one of the fields, and returns the field's number; the value is to be read
// next. It returns -1 if there is none, or for null.
func (d *Decoder) Object(f *Fields) int {
	if d.peek() != '{' {
		if !d.Null() {
			d.unexpected("an object")
		}
		return -1
	}
	if !d.open() {
		return -1
	}
	if d.peek() == '}' {
		d.depth--
		d.pos++
		return -1
	}
	return d.member(f, 0)
}

// Next is called when the value of field i was read, and does what Object does
// for the members that follow. In all likelihood the next one is field i+1.
func (d *Decoder) Next(f *Fields, i int) int {
	switch d.peek() {
	case ',':
		d.pos++
		return d.member(f, i+1)
	case '}':
		d.depth--
		d.pos++
	default:
		d.unexpected(", or }")
	}
	return -1
}

// member reads members up to one that is a field.
func (d *Decoder) member(f *Fields, guess int) int {
	for {
		if guess < len(f.Names) && d.isMember(f.Names[guess]) {
			return guess
		}
		if d.peek() != '"' {
			d.unexpected("a member's name")
			return -1
		}
		name, ok := d.stringText()
		if !ok {
			return -1
		}
		i := f.find(name)
		if d.peek() != ':' {
			d.unexpected(":")
			return -1
		}
		d.pos++
		if i >= 0 {
			return i
		}
		d.skip()
		switch d.peek() {
		case ',':
			d.pos++
		case '}':
			d.depth--
			d.pos++
			return -1
		default:
			d.unexpected(", or }")
			return -1
		}
	}
}

// isMember reads a member's name and the colon, if they are just this.
func (d *Decoder) isMember(name string) bool {
	b := d.data[d.pos:]
	n := len(name)
	if len(b) < n+3 || b[0] != '"' || b[n+1] != '"' || b[n+2] != ':' || string(b[1:n+1]) != name {
		return false
	}
	d.pos += n + 3
	return true
}

// find returns the number of the field with this name, -1 if there is none.
func (f *Fields) find(name []byte) int {
	x := f.index.Load()
	if x == nil {
		x = f.makeIndex()
	}
	mask := len(x.slots) - 1
	first := hash(name, x.shift)
	for h := first; x.slots[h] != 0; h = (h + 1) & mask {
		if i := int(x.slots[h]) - 1; f.Names[i] == string(name) {
			return i
		}
	}
	if !x.ascii || !isASCII(name) {
		return f.findFolded(name)
	}
	best := -1
	for h := first; x.slots[h] != 0; h = (h + 1) & mask {
		if i := int(x.slots[h]) - 1; (best < 0 || i < best) && equalFold(f.Names[i], name) {
			best = i
		}
	}
	return best
}

// findFolded finds a name with other characters than ASCII's.
func (f *Fields) findFolded(name []byte) int {
	for i, n := range f.Names {
		if bytes.EqualFold([]byte(n), name) {
			return i
		}
	}
	return -1
}

// makeIndex makes the index, which several calls may do at a time.
func (f *Fields) makeIndex() *index {
	size := bits.Len(uint(2 * len(f.Names)))
	x := &index{slots: make([]uint16, 1<<size), shift: 64 - size, ascii: true}
	for i, name := range f.Names {
		h := hash([]byte(name), x.shift)
		for x.slots[h] != 0 {
			h = (h + 1) & (len(x.slots) - 1)
		}
		x.slots[h] = uint16(i + 1)
		x.ascii = x.ascii && isASCII([]byte(name))
	}
	f.index.Store(x)
	return x
}

// hash returns a number of 64-shift bits that depends on the length, the first
// and the last bytes of a name, and not on their case.
func hash(name []byte, shift int) int {
	var a, b uint64
	switch n := len(name); {
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(name), binary.LittleEndian.Uint64(name[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(name)), uint64(binary.LittleEndian.Uint32(name[n-4:]))
	case n > 0:
		a = uint64(name[0]) | uint64(name[n/2])<<8 | uint64(name[n-1])<<16
	}
	const lower = 0x20 * ones
	h := (a|lower)*0x9e3779b97f4a7c15 ^ bits.RotateLeft64((b|lower)*0xc2b2ae3d27d4eb4f, 31) ^ uint64(len(name))<<32
	return int(h * 0xff51afd7ed558ccd >> shift)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// equalFold reports whether two names of ASCII characters are equal but for
// their case.
func equalFold(a string, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c-'A' < 26 {
		c += 'a' - 'A'
	}
	return c
}
