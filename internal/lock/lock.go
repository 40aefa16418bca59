// Package lock reads and writes restaq.lock.json, which a user commits beside
// the package it belongs to. It keeps, for each step, the shape of its output,
// the shapes of earlier outputs that today's type reads without loss, and a
// fingerprint of its inputs.
//
// The file is sorted and has one fact a line, so that two branches that change
// different steps merge without a conflict.
package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/invopop/jsonschema"
)

// Name is the file's name.
const Name = "restaq.lock.json"

const explanation = "Shapes of this package's step outputs, by which records of earlier builds are told from today's. Written by restaqgen; commit it."

// File is the content of a lock file.
type File struct {
	// Steps are the package's steps by name.
	Steps map[string]Step `json:"steps"`
}

// Step is what the file keeps of one step.
type Step struct {
	// Inputs is the fingerprint of the shapes of the inputs.
	Inputs string `json:"inputs"`

	// Output is the fingerprint of the output's shape, and Schema that shape;
	// both are empty for a step without output.
	Output string             `json:"output,omitempty"`
	Schema *jsonschema.Schema `json:"schema,omitempty"`

	// Earlier are the fingerprints of earlier shapes that the output's type
	// reads without loss.
	Earlier []string `json:"earlier,omitempty"`
}

// Parse reads a lock file. One in a merge conflict, say, is an error; nothing
// of it is returned then.
func Parse(data []byte) (File, error) {
	var f File
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&f); err != nil {
		return File{}, fmt.Errorf("read shapes: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return File{}, errors.New("read shapes: text after the end")
	}
	return f, nil
}

// Encode returns the text of a lock file, the same for equal files.
func (f File) Encode() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Explanation string `json:"//"`
		File
	}{explanation, f})
	if err != nil {
		return nil, fmt.Errorf("write shapes: %w", err)
	}
	return buf.Bytes(), nil
}
