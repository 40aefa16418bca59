// Package example makes examples of events from the JSON Schemas of the
// providers that this module ships, for trying out handlers while developing:
//
//	payload, err := example.Event("stripe.charge.succeeded", example.Values{"id": "evt_1"})
//
// An example is small and plain, and always the same: it has what the schema
// requires and, near the root, what it allows. Values are made up. An example
// fits the schema, which is tested for every event type.
package example

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/restaq/restaq/schemas"
)

// ErrUnknown says that no schema has the event type.
var ErrUnknown = errors.New("no such event type")

// Values are what members shall have, by their paths from the root, names
// joined by dots. A value is used where the schema allows it, and left out
// where the schema has no such member.
type Values map[string]any

// Event returns an example of an event, as JSON. eventType has the provider in
// front: "github.pull_request.opened".
func Event(eventType string, values Values) ([]byte, error) {
	provider, kind, _ := strings.Cut(eventType, ".")
	l, err := load(provider)
	if err != nil {
		return nil, err
	}
	return l.event(kind, values)
}

// Types returns all event types that there are schemas of, sorted, each with its
// provider in front.
func Types() ([]string, error) {
	providers, err := fs.ReadDir(schemas.Files, ".")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, p := range providers {
		l, err := load(p.Name())
		if err != nil {
			return nil, err
		}
		for kind := range l.events {
			all = append(all, p.Name()+"."+kind)
		}
	}
	slices.Sort(all)
	return all, nil
}

// library is a provider's schemas. They are read when they are wanted.
type library struct {
	provider string
	defs     map[string]json.RawMessage // by file name, "#/$defs/" and name
	events   map[string]string          // where event types stand in defs
	read     map[string]*schema
}

// load finds a provider's schemas.
func load(provider string) (*library, error) {
	names, err := fs.Glob(schemas.Files, provider+"/*.json")
	if err != nil || len(names) == 0 || provider == "" {
		return nil, fmt.Errorf("provider %q: %w", provider, ErrUnknown)
	}
	l := &library{provider, make(map[string]json.RawMessage), make(map[string]string), make(map[string]*schema)}
	for _, name := range names {
		data, err := fs.ReadFile(schemas.Files, name)
		if err != nil {
			return nil, err
		}
		var file struct {
			Defs map[string]json.RawMessage `json:"$defs"`
		}
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("schemas %s: %w", name, err)
		}
		for def, text := range file.Defs {
			place := path.Base(name) + "#/$defs/" + def
			l.defs[place] = text
			if !bytes.Contains(text, []byte(`"x-restaq-events"`)) {
				continue
			}
			var s struct {
				Events []string `json:"x-restaq-events"`
			}
			if err := json.Unmarshal(text, &s); err != nil {
				return nil, fmt.Errorf("schema %s/%s: %w", provider, place, err)
			}
			for _, kind := range s.Events {
				l.events[kind] = place
			}
		}
	}
	return l, nil
}

// schema returns the one at a place.
func (l *library) schema(place string) (*schema, error) {
	if s := l.read[place]; s != nil {
		return s, nil
	}
	s := &schema{}
	text, ok := l.defs[place]
	if !ok {
		return nil, fmt.Errorf("reference %s leads nowhere", place)
	}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("schema %s/%s: %w", l.provider, place, err)
	}
	file, _, _ := strings.Cut(place, "#")
	s.in(file)
	l.read[place] = s
	return s, nil
}

// event makes an example.
func (l *library) event(kind string, values Values) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("example of %s.%s: %w", l.provider, kind, err)
	}
	place, ok := l.events[kind]
	if !ok {
		return fail(ErrUnknown)
	}
	s, err := l.schema(place)
	if err != nil {
		return fail(err)
	}
	m := maker{library: l, values: values}
	v, err := m.make([]*schema{s}, "")
	if err != nil {
		return fail(err)
	}
	return json.MarshalIndent(v, "", "  ")
}
