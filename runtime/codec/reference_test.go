package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// slowFingerprint is Fingerprint on encoding/json, by which the faster one is
// judged.
func slowFingerprint(key, value []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	f := slow{key: key, dec: dec}
	encoding, err := f.value()
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the JSON value")
	}
	return append([]byte{FingerprintV1}, f.hash("v"+encoding)...), nil
}

type slow struct {
	key []byte
	dec *json.Decoder
}

func (f *slow) hash(content string) []byte {
	sum := sha256.Sum256([]byte(string(f.key) + content))
	return sum[:16]
}

func (f *slow) value() (string, error) {
	tok, err := f.dec.Token()
	if err != nil {
		return "", fmt.Errorf("read JSON value: %w", err)
	}
	switch tok := tok.(type) {
	case nil:
		return "n", nil
	case bool:
		return strconv.FormatBool(tok)[:1], nil
	case json.Number:
		return "d" + canonicalNumber(string(tok)) + ";", nil
	case string:
		return "s" + tok + "\xff", nil
	}
	if tok == json.Delim('[') {
		return f.array()
	}
	return f.object()
}

func (f *slow) array() (string, error) {
	var elements strings.Builder
	for f.dec.More() {
		e, err := f.value()
		if err != nil {
			return "", err
		}
		elements.WriteString(e)
	}
	_, err := f.dec.Token()
	return "[" + elements.String() + "]", err
}

func (f *slow) object() (string, error) {
	sum := new(big.Int)
	for f.dec.More() {
		name, err := f.value()
		if err != nil {
			return "", err
		}
		value, err := f.value()
		if err != nil {
			return "", err
		}
		sum.Add(sum, new(big.Int).SetBytes(f.hash("m"+name+value)))
	}
	sum.Mod(sum, new(big.Int).Lsh(big.NewInt(1), 128))
	_, err := f.dec.Token()
	return "{" + string(sum.FillBytes(make([]byte, 16))), err
}

func FuzzFingerprint(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e3,"x"],"b":null}`, `[]`, `{}`, `"\ud800"`, `"\ud83d\ude00\ud83dx"`, `-0.0e-10`, `[1,]`, `{"a":1,}`, `01`, `1.`, "\"\xff\xe2\x82\"",
		"\"\x01\"", `"\x"`, `"\u12"`, "[1]\x00", "\x00", `tru`, `"`, `"\`, `{"a" 1}`, `1e`, `--1`, `[[[["\/\b\f\n\r\t\""]]]]`, "\xef\xbb\xbf1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Fingerprint([]byte("key"), data)
		want, slowErr := slowFingerprint([]byte("key"), data)
		if !json.Valid(data) {
			slowErr = errors.New("not valid") // a decoder's tokens are more lenient
		}
		if (err == nil) != (slowErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("%q: %x, %v; want %x, %v", data, got, err, want, slowErr)
		}
	})
}

func TestNestingIsBounded(t *testing.T) {
	for depth, ok := range map[int]bool{9_999: true, 10_000: true, 10_001: false, 1_000_000: false} {
		_, err := Fingerprint(nil, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
		if (err == nil) != ok {
			t.Errorf("%d deep: %v", depth, err)
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	value := []byte(`["ch_1",{"id":"ch_1","amount":2999,"currency":"eur","customer":"cus_1","metadata":{"order":"17","note":"grüße"}},[1,2,3]]`)
	for name, fingerprint := range map[string]func(key, value []byte) ([]byte, error){"scanner": Fingerprint, "encoding-json": slowFingerprint} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fingerprint([]byte("0123456789abcdef0123456789abcdef"), value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
