package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a schema file.
const maxDepth = 1000

// ParseJSON reads one JSON value. The error, if any, is a [Problem]'s content
// with the position of the fault.
func ParseJSON(file string, data []byte) (*Node, *Problem) {
	p := &jsonParser{file: file, data: data, names: map[string]string{}}
	if bytes.HasPrefix(data, []byte("\ufeff")) { // a byte order mark
		p.pos = 3
	}
	n, err := p.value("", 0)
	if err == nil {
		if p.space(); p.pos < len(data) {
			err = errors.New("more than one JSON value")
		}
	}
	if err != nil {
		return nil, &Problem{Position: p.at(p.within, p.pos), Message: "not JSON: " + err.Error()}
	}
	return n, nil
}

// jsonParser reads JSON with positions. encoding/json has neither positions nor
// an order of members, and takes several times as long by tokens.
type jsonParser struct {
	file      string
	data      []byte
	pos       int
	asked     int // the offset that was last asked for
	lineStart int // of its line
	line      int // its line's number, from 0

	names map[string]string // of members: few strings stand for many

	within string // pointer of the innermost value that an error lies in
	failed bool
}

// unexpected is the error that what stands at pos is not what should.
func (p *jsonParser) unexpected(want string) error {
	if p.pos >= len(p.data) {
		return fmt.Errorf("it ends where %s should stand", want)
	}
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	return fmt.Errorf("%q stands where %s should", r, want)
}

func (p *jsonParser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// next skips space and returns the byte there, 0 at the end.
func (p *jsonParser) next() byte {
	p.space()
	if p.pos == len(p.data) {
		return 0
	}
	return p.data[p.pos]
}

// value reads the next value, which stands at pointer.
func (p *jsonParser) value(pointer string, depth int) (*Node, error) {
	if depth > maxDepth {
		p.failed, p.within = true, pointer
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	c := p.next()
	n := &Node{Position: p.at(pointer, p.pos)}
	var err error
	switch {
	case c == '{':
		n.Kind = Object
		err = p.members(n, depth)
	case c == '[':
		n.Kind = Array
		err = p.items(n, depth)
	case c == '"':
		n.Kind = String
		n.Text, err = p.str()
	case c == '-' || c >= '0' && c <= '9':
		n.Kind = Number
		n.Text, err = p.number()
	default:
		err = p.word(n)
	}
	if err != nil && !p.failed {
		p.failed, p.within = true, pointer
	}
	return n, err
}

// word reads null, true or false.
func (p *jsonParser) word(n *Node) error {
	for _, w := range []struct {
		text string
		kind Kind
	}{{"null", Null}, {"true", Bool}, {"false", Bool}} {
		if bytes.HasPrefix(p.data[p.pos:], []byte(w.text)) {
			n.Kind, n.Text = w.kind, w.text
			p.pos += len(w.text)
			return nil
		}
	}
	return p.unexpected("a value")
}

func (p *jsonParser) items(n *Node, depth int) error {
	p.pos++
	if p.next() == ']' {
		p.pos++
		return nil
	}
	for {
		v, err := p.value(n.Pointer+"/"+strconv.Itoa(len(n.Items)), depth+1)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, v)
		switch p.next() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return nil
		default:
			return p.unexpected("a comma or the end of the array")
		}
	}
}

func (p *jsonParser) members(n *Node, depth int) error {
	p.pos++
	if p.next() == '}' {
		p.pos++
		return nil
	}
	var seen names
	for {
		if p.next() != '"' {
			return p.unexpected("the name of a member")
		}
		start := p.pos
		name, err := p.str()
		if err != nil {
			return err
		}
		if !seen.add(n.Members, name) {
			p.pos = start
			return fmt.Errorf("member %q stands twice in one object", name)
		}
		if p.next() != ':' {
			return p.unexpected("a colon")
		}
		p.pos++
		v, err := p.value(n.Pointer+"/"+escapePointer(name), depth+1)
		if err != nil {
			return err
		}
		n.Members = append(n.Members, Member{name, v})
		switch p.next() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return nil
		default:
			return p.unexpected("a comma or the end of the object")
		}
	}
}

// names finds names that stand twice. Few names are compared one by one.
type names struct{ set map[string]bool }

// add reports whether name is not among members, of which all were added.
func (s *names) add(members []Member, name string) bool {
	if s.set == nil && len(members) >= 16 {
		s.set = map[string]bool{}
		for _, m := range members {
			s.set[m.Name] = true
		}
	}
	if s.set != nil {
		twice := s.set[name]
		s.set[name] = true
		return !twice
	}
	for _, m := range members {
		if m.Name == name {
			return false
		}
	}
	return true
}

// str reads a string. Half a surrogate pair becomes U+FFFD.
func (p *jsonParser) str() (string, error) {
	start, escaped := p.pos, false
	for p.pos++; p.pos < len(p.data); p.pos++ {
		switch c := p.data[p.pos]; {
		case c == '"':
			p.pos++
			return p.text(start, escaped)
		case c == '\\':
			escaped = true
			p.pos++
		case c < ' ':
			return "", p.unexpected("a character of a string")
		}
	}
	p.pos = len(p.data)
	return "", p.unexpected("the end of a string")
}

// text returns the string that stands from start, quotes included, up to pos.
func (p *jsonParser) text(start int, escaped bool) (string, error) {
	raw := p.data[start+1 : p.pos-1]
	if !utf8.Valid(raw) {
		p.pos = start
		return "", errors.New("a string that is not UTF-8")
	}
	if !escaped {
		if s, ok := p.names[string(raw)]; ok {
			return s, nil
		}
		s := string(raw)
		if len(s) <= 64 {
			p.names[s] = s
		}
		return s, nil
	}
	var s string
	if err := json.Unmarshal(p.data[start:p.pos], &s); err != nil {
		p.pos = start
		return "", err
	}
	return s, nil
}

// number reads a number and returns it as written.
func (p *jsonParser) number() (string, error) {
	start := p.pos
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			p.pos++
			continue
		}
		break
	}
	text := p.data[start:p.pos]
	if !json.Valid(text) {
		p.pos = start
		return "", fmt.Errorf("%q is not a number", text)
	}
	return string(text), nil
}

// at returns the position of a byte. Offsets come in rising order, the error's
// aside.
func (p *jsonParser) at(pointer string, offset int) Position {
	if offset < p.asked {
		p.asked, p.lineStart, p.line = 0, 0, 0
	}
	between := p.data[p.asked:offset]
	if n := bytes.Count(between, []byte{'\n'}); n > 0 {
		p.line += n
		p.lineStart = p.asked + bytes.LastIndexByte(between, '\n') + 1
	}
	p.asked = offset
	return Position{File: p.file, Pointer: pointer, Line: p.line + 1, Col: offset - p.lineStart + 1}
}
