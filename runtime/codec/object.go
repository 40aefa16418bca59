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

// index finds the field of a member: by a guess, since texts of one sender have
// their members in one order, else by a hash of the name that upper and lower
// case share.
type index struct {
	members []string        // how a text has a field's name in all likelihood, with quotes and colon
	after   []atomic.Uint32 // which field followed a field, whose number + 1 it is; 0: the first
	learned atomic.Uint32   // how often a guess was changed
	slots   []uint16        // a field's number + 1; 0: none
	shift   int
	ascii   bool // all names are
}

// maxLearned is how often the guesses of a Fields change. Texts that differ
// would otherwise have processors write to the same memory all the time.
const maxLearned = 1000

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
	x := f.index.Load()
	if x == nil {
		x = f.makeIndex()
	}
	return d.member(f, x, -1)
}

// Next is called when the value of field i was read, and does what Object does
// for the members that follow.
func (d *Decoder) Next(f *Fields, i int) int {
	x := f.index.Load()
	if rest := d.data[d.pos:]; len(rest) > 0 && rest[0] == ',' {
		if guess := int(x.after[i+1].Load()); guess < len(x.members) {
			name := x.members[guess]
			if len(rest) > len(name) && string(rest[1:1+len(name)]) == name {
				d.pos += 1 + len(name)
				return guess
			}
		}
	}
	switch d.peek() {
	case ',':
		d.pos++
		return d.member(f, x, i)
	case '}':
		d.depth--
		d.pos++
	default:
		d.unexpected(", or }")
	}
	return -1
}

// member reads members up to one that is a field; before is the last that was.
func (d *Decoder) member(f *Fields, x *index, before int) int {
	for {
		if d.peek() != '"' {
			d.unexpected("a member's name")
			return -1
		}
		guess := int(x.after[before+1].Load())
		if guess < len(x.members) && bytes.HasPrefix(d.data[d.pos:], []byte(x.members[guess])) {
			d.pos += len(x.members[guess])
			return guess
		}
		name, ok := d.stringText()
		if !ok {
			return -1
		}
		i := x.find(f, name)
		if d.peek() != ':' {
			d.unexpected(":")
			return -1
		}
		d.pos++
		if i >= 0 {
			if i != guess && x.learned.Load() < maxLearned {
				x.learned.Add(1)
				x.after[before+1].Store(uint32(i))
			}
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

// find returns the number of the field with this name, -1 if there is none.
func (x *index) find(f *Fields, name []byte) int {
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
	x := &index{
		members: make([]string, len(f.Names)), after: make([]atomic.Uint32, len(f.Names)+1),
		slots: make([]uint16, 1<<size), shift: 64 - size, ascii: true,
	}
	for i, name := range f.Names {
		x.members[i] = `"` + name + `":`
		x.after[i+1].Store(uint32(i + 1))
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
