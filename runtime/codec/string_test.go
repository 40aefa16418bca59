package codec

import (
	"encoding/json"
	"strings"
	"testing"
)

// Strings are looked at in pieces of eight and sixteen bytes: each character
// that means something must be found wherever it stands.
func TestCharactersAreFoundWhereverTheyStand(t *testing.T) {
	characters := []string{"é", "\u2028", "\u2029", "\U0001f600", "\xff", "\xe2\x80"}
	for c := range rune(0x81) {
		characters = append(characters, string(c))
	}
	for size := range 41 {
		plain := strings.Repeat("~", size)
		if size%2 == 0 {
			plain = strings.Repeat("a", size)
		}
		for at := range size + 1 {
			for _, c := range characters {
				checkString(t, plain[:at]+c+plain[at:])
				checkText(t, `"`+plain[:at]+c+plain[at:]+`"`)
				checkText(t, `"`+plain[:at]+`\`+c+plain[at:]+`"`)
			}
		}
	}
}

// checkString compares the encoding of s.
func checkString(t *testing.T, s string) {
	t.Helper()
	var e Encoder
	e.String("", s)
	if want, err := json.Marshal(s); err != nil || string(e.buf) != string(want) {
		t.Fatalf("%q: have %s, want %s", s, e.buf, want)
	}
}

// checkText compares reading a text as a string, and skipping it.
func checkText(t *testing.T, text string) {
	t.Helper()
	var got, want string
	err := Reader(DecodeString[string])([]byte(text), &got)
	if wantErr := json.Unmarshal([]byte(text), &want); (err == nil) != (wantErr == nil) || err == nil && got != want {
		t.Fatalf("%s: have %q, %v; want %q, %v", text, got, err, want, wantErr)
	}
	d := Decoder{data: []byte(text)}
	d.skip()
	if err := d.end(); (err == nil) != json.Valid([]byte(text)) {
		t.Fatalf("%s: skipping it: %v", text, err)
	}
}

// Pointers to strings share memory, and must not share strings.
func TestPointersToStringsAreTheirOwn(t *testing.T) {
	text := `["` + strings.Join(strings.Split(strings.Repeat("a", 3*maxStrings), ""), `","`) + `"]`
	var got []*string
	read := Reader(func(d *Decoder, v *[]*string) {
		DecodeSlice(d, v, func(d *Decoder, v **string) { DecodePointer(d, v, DecodeString) })
	})
	if err := read([]byte(text), &got); err != nil || len(got) != 3*maxStrings {
		t.Fatalf("%d strings, %v", len(got), err)
	}
	for i, s := range got {
		if *s != "a" {
			t.Errorf("string %d is %q", i, *s)
		}
		*s = "b"
	}
}
