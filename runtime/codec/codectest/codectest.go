// Package codectest compares codecs with encoding/json, on random values and on
// texts that are JSON or nearly so. Generated tests call it.
package codectest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/restaq/restaq/runtime/codec"
)

// Case is one type's codec. See [Of] and [Decodes].
type Case struct {
	name  string
	check func(text []byte) error            // decoding text, and encoding what it gives
	value func(r *rand.Rand) ([]byte, error) // encoding a random value; its text
}

// Of is the case of a codec that encodes and decodes.
func Of[T any](name string, encode func(e *codec.Encoder, key string, v *T), decode func(d *codec.Decoder, v *T)) Case {
	c := comparison[T]{appendTo: codec.Appender(encode), read: codec.Reader(decode)}
	return Case{name, c.decode, c.random}
}

// Decodes is the case of a codec that only decodes.
func Decodes[T any](name string, decode func(d *codec.Decoder, v *T)) Case {
	c := comparison[T]{read: codec.Reader(decode)}
	return Case{name, c.decode, c.random}
}

// Test compares the codecs on random values and on what becomes of their texts
// when they are damaged, as often as rounds says for each.
func Test(t *testing.T, rounds int, cases ...Case) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(rounds) {
				if err := c.round(seed); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// Fuzz compares the codecs on what the fuzzer thinks of.
func Fuzz(f *testing.F, cases ...Case) {
	for i, c := range cases {
		for seed := range uint64(3) {
			text, err := c.value(rand.New(rand.NewPCG(seed, 1)))
			if err == nil {
				f.Add(uint16(i), seed, text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, seed uint64, text []byte) {
		c := cases[int(which)%len(cases)]
		if err := c.check(text); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := c.round(seed); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
	})
}

// Text compares decoding a text, and encoding what it gives.
func (c Case) Text(text string) error { return c.check([]byte(text)) }

// Value compares encoding *v.
func Value[T any](encode func(e *codec.Encoder, key string, v *T), v *T) error {
	return comparison[T]{appendTo: codec.Appender(encode)}.encode(v)
}

// round compares on one random value, and on damaged forms of its text.
func (c Case) round(seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 2))
	text, err := c.value(r)
	if err != nil {
		return err
	}
	for range 8 {
		if err := c.check(text); err != nil {
			return err
		}
		text = damage(r, text)
	}
	return nil
}

// comparison compares a codec with encoding/json.
type comparison[T any] struct {
	appendTo func(dst []byte, v *T) ([]byte, error)
	read     func(data []byte, v *T) error
}

func (c comparison[T]) decode(text []byte) error {
	var got, want T
	in := bytes.Clone(text)
	err, wantErr := c.read(in, &got), json.Unmarshal(text, &want)
	switch {
	case !bytes.Equal(in, text):
		return fmt.Errorf("%q became %q in decoding", text, in)
	case (err == nil) != (wantErr == nil):
		return fmt.Errorf("decode %q: %w; encoding/json: %w", text, err, wantErr)
	case err != nil:
		if !reflect.ValueOf(&got).Elem().IsZero() {
			return fmt.Errorf("decode %q: %+v is left after %w", text, got, err)
		}
		return nil
	}
	clear(in) // which got must not hold
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("decode %q: %#v; encoding/json: %#v", text, got, want)
	}
	return c.encode(&got)
}

func (c comparison[T]) encode(v *T) error {
	if c.appendTo == nil {
		return nil
	}
	want, wantErr := json.Marshal(v)
	for _, dst := range [][]byte{nil, []byte("before"), append(make([]byte, 0, 4096), '{')} {
		got, err := c.appendTo(dst, v)
		switch {
		case (err == nil) != (wantErr == nil):
			return fmt.Errorf("encode %#v: %w; encoding/json: %w", *v, err, wantErr)
		case err != nil && len(got) != len(dst):
			return fmt.Errorf("encode %#v: %q is left after %w", *v, got, err)
		case err == nil && string(got) != string(dst)+string(want):
			return fmt.Errorf("encode %#v:\n%q\nencoding/json:\n%q", *v, got[len(dst):], want)
		}
	}
	return nil
}

// random compares on the encoding of a random value and returns its text.
func (c comparison[T]) random(r *rand.Rand) ([]byte, error) {
	var v T
	fill(r, reflect.ValueOf(&v).Elem(), 0)
	if err := c.encode(&v); err != nil {
		return nil, err
	}
	text, err := json.Marshal(&v)
	if err != nil {
		return []byte("null"), nil
	}
	return text, nil
}
