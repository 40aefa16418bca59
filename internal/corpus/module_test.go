package corpus

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// module is a module of its own that requires this one as it is here.
type module struct {
	t   *testing.T
	dir string
}

func newModule(t *testing.T, path string) module {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	m := module{t, t.TempDir()}
	m.write("go.mod", []byte("module "+path+"\n\ngo 1.26\n\nrequire github.com/restaq/restaq v0.0.0\n\nreplace github.com/restaq/restaq => "+root+"\n"))
	m.write("go.sum", sums)
	return m
}

func (m module) write(name string, data []byte) {
	m.t.Helper()
	name = filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// run runs a command in the module and returns what it prints.
func (m module) run(stdin []byte, name string, args ...string) []byte {
	m.t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(m.t.Context(), name, args...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = m.dir, bytes.NewReader(stdin), &stderr
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.Bytes())
	}
	return out
}

// ask hands samples to the module's program and reads its results.
func (m module) ask(samples []sample, results *[]result) {
	m.t.Helper()
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, s := range samples {
		if err := enc.Encode(struct {
			Type    string
			Payload []byte
		}{s.eventType, s.payload}); err != nil {
			m.t.Fatal(err)
		}
	}
	for dec := json.NewDecoder(bytes.NewReader(m.run(in.Bytes(), filepath.Join(m.dir, "program")))); dec.More(); {
		var r result
		if err := dec.Decode(&r); err != nil {
			m.t.Fatal(err)
		}
		*results = append(*results, r)
	}
}
