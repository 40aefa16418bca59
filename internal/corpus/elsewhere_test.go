package corpus

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/restaq/restaq/internal/events"
)

// elsewhere generates a package, vets and builds it in a module of its own, and
// has a program there decode, validate and encode the samples.
func elsewhere(t *testing.T, o events.Options, samples []sample) []result {
	t.Helper()
	files, problems := events.Run(o)
	for _, p := range problems {
		if !p.Warning {
			t.Error(p)
		}
	}
	if len(files) == 0 {
		t.FailNow()
	}
	m := newModule(t, "corpus")
	for _, f := range files {
		m.write(filepath.Join(o.Provider, f.Path), f.Content)
	}
	m.write("main.go", bytes.ReplaceAll([]byte(program), []byte("PROVIDER"), []byte(o.Provider)))
	m.run(nil, "go", "vet", "-mod=mod", "./...")
	m.run(nil, "go", "build", "-mod=mod", "-o", "program", ".")
	var results []result
	m.ask(samples, &results)
	return results
}

const program = `package main

import (
	"encoding/json"
	"os"

	"corpus/PROVIDER"
)

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
			Error     string
			Encoded   []byte
			Deviation string
		}
		event, err := PROVIDER.Decode(in.Type, in.Payload)
		if err == nil {
			out.Encoded, err = json.Marshal(event)
		}
		if err != nil {
			out.Error = err.Error()
		}
		if err := PROVIDER.Validate(in.Type, in.Payload); err != nil {
			out.Deviation = err.Error()
		}
		if err := enc.Encode(out); err != nil {
			panic(err)
		}
	}
}
`
