package codectest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
)

// damage returns another text made of text, that is likely to be JSON still but
// not what was written: values of other kinds, names in other cases, members
// twice, white space, and now and then a byte that has no place there.
func damage(r *rand.Rand, text []byte) []byte {
	text = slices.Clone(text)
	if len(text) == 0 {
		return pick(r, samples)
	}
	switch r.IntN(9) {
	case 0: // cut off
		return text[:r.IntN(len(text))]
	case 1: // another byte
		text[r.IntN(len(text))] = "\"\\{}[],:0x \xff\x01en"[r.IntN(15)]
		return text
	case 2: // white space between tokens
		return spaced(r, text)
	case 3: // something behind
		return append(text, pick(r, []string{" ", "x", " 1", "\n", "\x00", "}"})...)
	case 4: // names in other cases
		return recased(r, text)
	}
	begin, end := token(r, text)
	switch r.IntN(3) {
	case 0: // once more
		if comma := bytes.IndexByte(text[end:], ','); comma >= 0 {
			member := slices.Clone(text[begin : end+comma+1])
			return slices.Insert(text, begin, member...)
		}
		return text
	case 1: // under another name
		return slices.Replace(text, begin, end, []byte(pick(r, []string{`"unknown"`, `"ID"`, `"\u0069d"`, `"K"`, `""`}))...)
	}
	return slices.Replace(text, begin, end, pick(r, samples)...)
}

// token returns where a random token of text begins and ends; strings are whole.
func token(r *rand.Rand, text []byte) (begin, end int) {
	type span struct{ begin, end int }
	var all []span
	for i := 0; i < len(text); {
		from := i
		switch {
		case text[i] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(text))
		case strings.IndexByte("{}[],: \n\t\r", text[i]) >= 0:
			i++
			continue
		default:
			for i < len(text) && strings.IndexByte("{}[],: \n\t\r\"", text[i]) < 0 {
				i++
			}
		}
		all = append(all, span{from, i})
	}
	if len(all) == 0 {
		return 0, len(text)
	}
	s := all[r.IntN(len(all))]
	return s.begin, s.end
}

func spaced(r *rand.Rand, text []byte) []byte {
	var out []byte
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '"' {
			inString = !inString
		}
		out = append(out, c)
		if c == '\\' && i+1 < len(text) {
			i++
			out = append(out, text[i])
		}
		if !inString && strings.IndexByte("{}[],:\"", c) >= 0 {
			out = append(out, pick(r, []string{"", " ", "\n\t", "\r"})...)
		}
	}
	return out
}

// recased changes the case of letters in the names of members.
func recased(r *rand.Rand, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		begin := i + 1
		for i++; i < len(text) && text[i] != '"'; i++ {
			if text[i] == '\\' {
				i++
			}
		}
		if i+1 < len(text) && text[i+1] == ':' && r.IntN(2) == 0 {
			name := bytes.ToUpper(text[begin:i])
			if r.IntN(2) == 0 {
				name = bytes.Replace(name, []byte("S"), []byte("ſ"), 1)
			}
			text = slices.Replace(text, begin, i, name...)
			i = begin + len(name)
		}
	}
	return text
}
