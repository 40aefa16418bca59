package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program decodes and encodes what stands in its input.
const program = `package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"%s/gh"
)

%s

var _, _ = fmt.Errorf, strings.Cut

func main() {
	enc := json.NewEncoder(os.Stdout)
	for dec := json.NewDecoder(os.Stdin); dec.More(); {
		var in struct {
			Type string
			Data json.RawMessage
		}
		if err := dec.Decode(&in); err != nil {
			panic(err)
		}
		var out []byte
		v, err := decode(in.Type, in.Data)
		if err == nil {
			out, err = json.Marshal(v)
		}
		if err != nil {
			out = nil
		}
		if err := enc.Encode(out); err != nil {
			panic(err)
		}
	}
}
`

// module makes a module of a generator's output and a program that uses it. The
// output of this project needs this project.
func (b *bench) module(dir string, g generator, out string) error {
	if g.decoder == nil {
		return errors.New("its output is not expected to come so far")
	}
	decoder, err := g.decoder(out)
	if err != nil {
		return err
	}
	files := map[string]string{"go.mod": "module try\n\ngo 1.26\n", "main.go": fmt.Sprintf(program, "try", decoder)}
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	if strings.HasPrefix(g.name, "restaqgen") {
		files["go.mod"] += "\nrequire github.com/restaq/restaq v0.0.0\n\nreplace github.com/restaq/restaq => " + root + "\n"
		sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
		if err != nil {
			return err
		}
		files["go.sum"] = string(sums)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// build builds the program and returns the compiler's complaints.
func build(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-o", "try", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		return nil, err
	}
	var complaints []string
	if err != nil {
		for line := range strings.Lines(string(out)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				complaints = append(complaints, line)
			}
		}
	}
	return complaints, nil
}

// try has the program decode and encode the payloads, and counts what became of
// them.
func (b *bench) try(ctx context.Context, dir string, r *row) error {
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, p := range b.payloads {
		if err := enc.Encode(p); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "try"))
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	r.tried = true
	dec := json.NewDecoder(bytes.NewReader(out))
	for _, p := range b.payloads {
		var encoded []byte
		if err := dec.Decode(&encoded); err != nil {
			return err
		}
		if encoded == nil {
			r.refused++
			continue
		}
		was, is := value(p.Data), value(encoded)
		if holds(is, was) {
			r.whole++
			if holds(was, is) {
				r.exact++
			}
		}
	}
	return nil
}

func value(data []byte) any {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// holds reports whether all that part holds is in whole, too.
func holds(whole, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		w, ok := whole.(map[string]any)
		if !ok {
			return false
		}
		for name, v := range part {
			if other, ok := w[name]; !ok || !holds(other, v) {
				return false
			}
		}
		return true
	case []any:
		w, ok := whole.([]any)
		if !ok || len(w) != len(part) {
			return false
		}
		for i, v := range part {
			if !holds(w[i], v) {
				return false
			}
		}
		return true
	}
	return whole == part
}
