package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	restaq "github.com/restaq/restaq/runtime"
)

// lockedBuild is what the lock files of a build say, as far as records depend on
// it. The command reads the files by itself: the generator is no part of it.
type lockedBuild struct {
	Handlers map[string]lockedHandler `json:"handlers"`
	Steps    map[string]*lockedStep   `json:"steps"`
}

type lockedHandler struct {
	Steps []string `json:"steps"` // that the handler leads to
	Was   []string `json:"was"`
}

type lockedStep struct {
	Output string   `json:"output"` // fingerprint of the shape; "none" for a step without output
	Was    []string `json:"was"`

	// Earlier are the other shapes that records may have: whether the build
	// reads them, "yes", "converted" or "no".
	Earlier map[string]struct {
		Read string `json:"read"`
	} `json:"earlier"`
}

// add adds what a lock file says. A step's name is unique in a package only: of
// two packages that have one name, the command could not tell the records apart.
func (b *lockedBuild) add(data []byte) error {
	var file lockedBuild
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if file.Steps == nil && file.Handlers == nil {
		return errors.New("it has neither handlers nor steps: is it a restaq.lock.json?")
	}
	if b.Handlers == nil {
		b.Handlers, b.Steps = map[string]lockedHandler{}, map[string]*lockedStep{}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Steps)) {
		s := file.Steps[name]
		if s == nil || b.Steps[name] != nil {
			return fmt.Errorf("step %s is in another lock file, too: look at the packages one by one", name)
		}
		b.Steps[name] = s
	}
	maps.Copy(b.Handlers, file.Handlers)
	return nil
}

// handlerOf returns the handler that goes on with executions stored under a
// name, "" if there is none.
func (b *lockedBuild) handlerOf(name string) string {
	if _, ok := b.Handlers[name]; ok {
		return name
	}
	for _, now := range slices.Sorted(maps.Keys(b.Handlers)) {
		if slices.Contains(b.Handlers[now].Was, name) {
			return now
		}
	}
	return ""
}

// steps are the steps that a handler leads to, as far as lock files tell of
// them.
func (b *lockedBuild) steps(handler string) []string {
	return slices.DeleteFunc(slices.Clone(b.Handlers[handler].Steps), func(name string) bool { return b.Steps[name] == nil })
}

// stepOf returns the step that a record is of, "" if it is of none.
func (b *lockedBuild) stepOf(r *restaq.Record) string {
	names := []string{r.Step()}
	for _, was := range r.Was {
		old := restaq.Record{Name: was}
		names = append(names, old.Step())
	}
	for _, name := range names {
		if b.Steps[name] != nil {
			return name
		}
	}
	for _, now := range slices.Sorted(maps.Keys(b.Steps)) {
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(b.Steps[now].Was, name) }) {
			return now
		}
	}
	return ""
}

// shape is the fingerprint as records have it.
func (s *lockedStep) shape() string {
	if s.Output == "none" {
		return ""
	}
	return s.Output
}

// reads reports whether the build reads a record.
func (s *lockedStep) reads(r *restaq.Record) bool {
	if r.Shape == s.shape() || slices.Contains(r.ReadBy, s.shape()) {
		return true
	}
	shape := r.Shape
	if shape == "" {
		shape = "none"
	}
	read := s.Earlier[shape].Read
	return read == "yes" || read == "converted"
}
