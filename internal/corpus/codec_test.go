package corpus

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/schemas/github"
	"github.com/restaq/restaq/schemas/shopify"
	"github.com/restaq/restaq/schemas/stripe"
)

// Codecs that are generated for all the providers' event types read every
// payload as encoding/json does, write what encoding/json writes, and lose
// nothing of it that the schema knows.
func TestCodecsOfEveryPayload(t *testing.T) {
	for _, provider := range []struct {
		name    string
		samples []sample
		decode  func(string, []byte) (any, error)
		valid   func(string, []byte) error
		want    tally
	}{
		{"github", githubSamples(t), github.Decode, github.Validate, tally{samples: 329, valid: 277, unknown: 2}},
		{"stripe", stripeSamples(t), stripe.Decode, stripe.Validate, tally{samples: 316, valid: 316, unknown: 20}},
		{"shopify", shopifySamples(t), shopify.Decode, shopify.Validate, tally{samples: 221, valid: 209}},
	} {
		t.Run(provider.name, func(t *testing.T) {
			results := coded(t, provider.name, provider.samples, provider.decode)
			for i, s := range provider.samples {
				if err := provider.valid(s.eventType, s.payload); err != nil {
					results[i].Deviation = err.Error()
				}
			}
			if got := judge(t, shipped(t, provider.name), provider.samples, results); got != provider.want {
				t.Errorf("%+v, want %+v", got, provider.want)
			}
		})
	}
}

// coded decodes and encodes samples by codecs: in a module of its own that has a
// step for each of their types.
func coded(t *testing.T, provider string, samples []sample, decode func(string, []byte) (any, error)) []result {
	t.Helper()
	var steps, codecs strings.Builder
	seen := map[string]bool{}
	for _, s := range samples {
		event, err := decode(s.eventType, s.payload)
		if err != nil {
			t.Fatal(err)
		}
		typ := fmt.Sprintf("%T", event)
		if seen[typ] {
			continue
		}
		seen[typ] = true
		name := strings.ToUpper(provider[:1]) + provider[1:] + strings.TrimPrefix(typ, provider+".")
		fmt.Fprintf(&steps, "\n//restaq:step\nfunc take%s(ctx context.Context, event %s) error { return nil }\n", name, typ)
		fmt.Fprintf(&codecs, "\t%q: of(encode%s, decode%s),\n", typ, name, name)
	}
	m := newModule(t, "coded")
	fill := strings.NewReplacer("PROVIDER", provider, "CODECS", codecs.String())
	m.write("steps.go", []byte("package main\n\nimport (\n\t\"context\"\n\n\t\"github.com/restaq/restaq/schemas/"+provider+"\"\n)\n"+steps.String()))
	m.write("main.go", []byte(fill.Replace(codedProgram)))
	m.write("of.go", []byte(codedOf))
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	m.run(nil, "go", "-C", root, "build", "-o", filepath.Join(m.dir, "restaqgen"), "./cmd/restaqgen")
	m.run(nil, filepath.Join(m.dir, "restaqgen"))
	m.run(nil, "go", "build", "-gcflags=-N -l", "-o", "program", ".") // what is not optimised compiles fast
	var results []result
	m.ask(samples, &results)
	return results
}

const codedProgram = `package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/restaq/restaq/schemas/PROVIDER"
)

var codecs = map[string]func(eventType string, payload []byte, want any) ([]byte, error){
CODECS}

func main() {
	enc := json.NewEncoder(os.Stdout)
	for dec := json.NewDecoder(os.Stdin); dec.More(); {
		var in struct {
			Type    string
			Payload []byte
		}
		if err := dec.Decode(&in); err != nil {
			panic(err)
		}
		var out struct {
			Error   string
			Encoded []byte
		}
		want, err := PROVIDER.Decode(in.Type, in.Payload)
		if err == nil {
			out.Encoded, err = codecs[fmt.Sprintf("%T", want)](in.Type, in.Payload, want)
		}
		if err != nil {
			out.Error = err.Error()
		}
		if err := enc.Encode(out); err != nil {
			panic(err)
		}
	}
}
`

const codedOf = `package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/restaq/restaq/runtime/codec"
)

// of compares a codec with encoding/json, whose value of the payload is want,
// and returns what the codec writes.
func of[T any](encode func(*codec.Encoder, string, *T), decode func(*codec.Decoder, *T)) func(string, []byte, any) ([]byte, error) {
	read, readRecord, appendTo := codec.EventReader(decode), codec.Reader(decode), codec.Appender(encode)
	return func(eventType string, payload []byte, want any) ([]byte, error) {
		got, err := read(eventType, payload)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(any(got), want) {
			return nil, errors.New("it is read as another value than by encoding/json")
		}
		text, err := appendTo(nil, &got)
		if err != nil {
			return nil, err
		}
		if other, err := json.Marshal(&got); err != nil || !bytes.Equal(text, other) {
			return nil, fmt.Errorf("encoding/json writes %s, %v, the codec %s", other, err, text)
		}
		var again T
		if err := readRecord(text, &again); err != nil {
			return nil, err
		}
		if other, err := appendTo(nil, &again); err != nil || !bytes.Equal(text, other) {
			return nil, fmt.Errorf("%s is written as %s, %v, when it was read again", text, other, err)
		}
		return text, nil
	}
}
`
