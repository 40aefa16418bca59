// Package lock reads and writes restaq.lock.json, which a user commits beside
// the package it belongs to. It is what a package looked like when it was
// generated last, as far as executions in flight depend on it: for each step the
// shape of its output and the earlier shapes that records may still have, for
// each handler its event types and its steps.
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
)

// Name is the file's name.
const Name = "restaq.lock.json"

// File is the content of a lock file.
type File struct {
	// Accepted are the breaking changes that a person has taken on purpose, in
	// the words of package evolve, sorted.
	Accepted []string `json:"accepted"`

	// Handlers are the package's handlers by full name, Steps its steps by name.
	Handlers map[string]Handler `json:"handlers"`
	Steps    map[string]Step    `json:"steps"`
}

// Handler is what the file keeps of one handler.
type Handler struct {
	// Events are the event types, sorted.
	Events []string `json:"events"`

	// Steps are the steps that the handler leads to, in the order in which the
	// source has them first.
	Steps []string `json:"steps"`

	// Order is the expression of order=, in which $1 is the event; "" if there
	// is none. Options are the options for retries as a marker has them.
	Order   string `json:"order"`
	Options string `json:"options"`

	// Was are names that the handler had before, sorted.
	Was []string `json:"was"`

	// Func is the function, without its package.
	Func string `json:"func"`
}

// Step is what the file keeps of one step.
type Step struct {
	// Inputs is the fingerprint of the shapes of the inputs.
	Inputs string `json:"inputs"`

	// Key is the expression of key=, in which $1 is the first input; "" if there
	// is none. Options are the options for retries as a marker has them.
	Key     string `json:"key"`
	Options string `json:"options"`

	// Was are names that the step had before, sorted.
	Was []string `json:"was"`

	// Output is the fingerprint of the output's shape, and Schema that shape;
	// a step without output has [None] and no schema.
	Output string          `json:"output"`
	Schema json.RawMessage `json:"schema"`

	// Earlier are the other shapes that records of the step may have, by
	// fingerprint.
	Earlier map[string]Earlier `json:"earlier"`

	// Func is the function, without its package.
	Func string `json:"func"`
}

// None stands for the shape of a step without output.
const None = "none"

// Earlier is a shape that a step's output had before.
type Earlier struct {
	// Read says whether records of the shape are read.
	Read Reading `json:"read"`

	// Schema is the shape; empty for that of a step without output.
	Schema json.RawMessage `json:"schema"`
}

// Reading says whether records of an earlier shape are read.
type Reading string

// The ways of reading.
const (
	Yes       Reading = "yes"       // as they are: nothing is lost or invented
	Converted Reading = "converted" // by a converter
	No        Reading = "no"        // not at all: a person has accepted that
)

// Parse reads a lock file. One that is damaged, in a merge conflict, say, is an
// error that says what to do; nothing of it is returned then. An empty one has
// nothing in it.
func Parse(data []byte) (File, error) {
	var f File
	if len(bytes.TrimSpace(data)) == 0 {
		return f, nil
	}
	if conflicted(data) {
		return File{}, errors.New("is in a merge conflict")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&f); err != nil {
		return File{}, fmt.Errorf("cannot be read: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return File{}, errors.New("cannot be read: there is text after its end")
	}
	if err := sound(json.NewDecoder(bytes.NewReader(data)), "", 0); err != nil {
		return File{}, err
	}
	return f, nil
}

// conflicted reports whether data holds the marks of an unfinished merge.
func conflicted(data []byte) bool {
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return true
		}
	}
	return false
}

// maxDepth is how deep values may stand in one another.
const maxDepth = 200

// sound returns an error if an object in the next value has a member twice, as a
// careless merge may leave it, or values nest too deep. In are the members that
// the value stands in. The text is known to be JSON.
func sound(dec *json.Decoder, in string, depth int) error {
	token, err := dec.Token()
	open, ok := token.(json.Delim)
	if err != nil || !ok {
		return err
	}
	if depth > maxDepth {
		return errors.New("cannot be read: it nests too deep")
	}
	seen := map[string]bool{}
	for dec.More() {
		at := in
		if open == '{' {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			name := fmt.Sprint(key)
			at += "/" + name
			if seen[name] {
				return fmt.Errorf("has %s twice", at)
			}
			seen[name] = true
		}
		if err := sound(dec, at, depth+1); err != nil {
			return err
		}
	}
	_, err = dec.Token() // its end
	return err
}
