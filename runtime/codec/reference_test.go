package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"testing"
)

// slowFingerprint is Fingerprint on encoding/json, by which the faster one is
// judged.
func slowFingerprint(key, value []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	f := slow{key: key, dec: dec}
	sum, err := f.value()
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the JSON value")
	}
	return append([]byte{FingerprintV1}, sum[:]...), nil
}

type slow struct {
	key []byte
	dec *json.Decoder
	buf []byte
}

func (f *slow) hash(tag byte, content ...[]byte) fingerprint {
	f.buf = append(append(f.buf[:0], f.key...), tag)
	for _, c := range content {
		f.buf = append(f.buf, c...)
	}
	sum := sha256.Sum256(f.buf)
	return fingerprint(sum[:16])
}

func (f *slow) value() (fingerprint, error) {
	tok, err := f.dec.Token()
	if err != nil {
		return fingerprint{}, fmt.Errorf("read JSON value: %w", err)
	}
	switch tok := tok.(type) {
	case nil:
		return f.hash('n'), nil
	case bool:
		if tok {
			return f.hash('t'), nil
		}
		return f.hash('f'), nil
	case json.Number:
		return f.hash('d', []byte(canonicalNumber(string(tok)))), nil
	case string:
		return f.hash('s', []byte(tok)), nil
	}
	if tok == json.Delim('[') {
		return f.array()
	}
	return f.object()
}

func (f *slow) array() (fingerprint, error) {
	var elements []byte
	for f.dec.More() {
		e, err := f.value()
		if err != nil {
			return e, err
		}
		elements = append(elements, e[:]...)
	}
	if _, err := f.dec.Token(); err != nil {
		return fingerprint{}, err
	}
	return f.hash('a', elements), nil
}

func (f *slow) object() (fingerprint, error) {
	var hi, lo uint64
	for f.dec.More() {
		name, err := f.value()
		if err != nil {
			return name, err
		}
		value, err := f.value()
		if err != nil {
			return value, err
		}
		m := f.hash('m', name[:], value[:])
		var carry uint64
		lo, carry = bits.Add64(lo, binary.BigEndian.Uint64(m[8:]), 0)
		hi, _ = bits.Add64(hi, binary.BigEndian.Uint64(m[:8]), carry)
	}
	if _, err := f.dec.Token(); err != nil {
		return fingerprint{}, err
	}
	var sum fingerprint
	binary.BigEndian.PutUint64(sum[:8], hi)
	binary.BigEndian.PutUint64(sum[8:], lo)
	return f.hash('o', sum[:]), nil
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
