package corpus

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/restaq/restaq/internal/events"
)

// elsewhere generates a package, vets and builds it in a module of its own, and
// has a program there decode, validate and encode the samples.
func elsewhere(t *testing.T, o events.Options, samples []sample) []result {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, problems := events.Run(o)
	for _, p := range problems {
		if !p.Warning {
			t.Error(p)
		}
	}
	if len(files) == 0 {
		t.FailNow()
	}
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		write(filepath.Join(o.Provider, f.Path), f.Content)
	}
	write("go.mod", []byte("module corpus\n\ngo 1.26\n\nrequire github.com/restaq/restaq v0.0.0\n\nreplace github.com/restaq/restaq => "+root+"\n"))
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", sums)
	write("main.go", bytes.ReplaceAll([]byte(program), []byte("PROVIDER"), []byte(o.Provider)))
	run := func(stdin []byte, name string, args ...string) []byte {
		t.Helper()
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Stdin, cmd.Stderr = dir, bytes.NewReader(stdin), &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.Bytes())
		}
		return out
	}
	run(nil, "go", "vet", "-mod=mod", "./...")
	run(nil, "go", "build", "-mod=mod", "-o", "program", ".")
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, s := range samples {
		if err := enc.Encode(struct {
			Type    string
			Payload []byte
		}{s.eventType, s.payload}); err != nil {
			t.Fatal(err)
		}
	}
	var results []result
	for dec := json.NewDecoder(bytes.NewReader(run(in.Bytes(), filepath.Join(dir, "program")))); dec.More(); {
		var r result
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
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
