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
	"strconv"
	"strings"
)

// FingerprintV1 is the id of the algorithm of Fingerprint, its result's first
// byte.
const FingerprintV1 = 1

// Fingerprint returns a keyed 128-bit fingerprint of a JSON text, behind one
// byte that names the algorithm. Equal JSON values give equal fingerprints,
// whatever the order of members, the spelling of numbers and strings, and the
// white space.
//
// Algorithm 1, with h(tag, x) the first 16 bytes of SHA-256(key ‖ tag ‖ x),
// the tag being one ASCII letter:
//
//	null    h("n", "")
//	true    h("t", "")
//	false   h("f", "")
//	number  h("d", its decimal digits without leading and trailing zeros,
//	        after "-" if negative, then "e" and the decimal exponent of the
//	        last digit; "0" for every zero)
//	string  h("s", its UTF-8 text, unpaired surrogates and invalid bytes as U+FFFD)
//	array   h("a", the elements' fingerprints in order)
//	object  h("o", the sum modulo 2¹²⁸, big-endian, over the members of
//	        h("m", fingerprint of the name ‖ fingerprint of the value))
func Fingerprint(key, value []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	f := fingerprinter{key: key, dec: dec}
	sum, err := f.value()
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the JSON value")
	}
	return append([]byte{FingerprintV1}, sum[:]...), nil
}

type fingerprint [16]byte

type fingerprinter struct {
	key []byte
	dec *json.Decoder
	buf []byte
}

func (f *fingerprinter) hash(tag byte, content ...[]byte) fingerprint {
	f.buf = append(append(f.buf[:0], f.key...), tag)
	for _, c := range content {
		f.buf = append(f.buf, c...)
	}
	sum := sha256.Sum256(f.buf)
	return fingerprint(sum[:16])
}

func (f *fingerprinter) value() (fingerprint, error) {
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

func (f *fingerprinter) array() (fingerprint, error) {
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

func (f *fingerprinter) object() (fingerprint, error) {
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

// canonicalNumber writes a JSON number in the one form that equal numbers
// share. An exponent beyond int64 is left as it was written.
func canonicalNumber(text string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	exp := int64(0)
	if exponent != "" {
		var err error
		if exp, err = strconv.ParseInt(exponent, 10, 64); err != nil || exp > 1<<62 || exp < -1<<62 {
			return text
		}
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	exp -= int64(len(fraction))
	trimmed := strings.TrimRight(digits, "0")
	exp += int64(len(digits) - len(trimmed))
	if negative {
		trimmed = "-" + trimmed
	}
	return trimmed + "e" + strconv.FormatInt(exp, 10)
}
