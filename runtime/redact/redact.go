// Package redact masks fields of JSON by their names, for whoever shows payloads
// and outputs to people: the dashboard, the restaq command.
//
//	rules := redact.New("email", "data.object.billing_details")
//	shown, secrets, err := rules.JSON(payload, nil)
//	text := secrets.Mask(execution.Error) // errors may quote what is masked
//
// A rule of one word is the name of a member wherever it stands. One with dots is
// the way to a member from the root: arrays take no part in it, and "*" is any
// one member. Names are compared without regard to case, as encoding/json does.
// What is masked goes as a whole, objects and arrays too.
package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Mask stands for what is masked.
const Mask = "•••"

// Rules says which fields are masked. The zero Rules masks none. It may be used
// by several goroutines.
type Rules struct{ names [][]string }

// New returns the rules of these names. Empty ones are left out.
func New(names ...string) Rules {
	var r Rules
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			r.names = append(r.names, strings.Split(name, "."))
		}
	}
	return r
}

// Empty reports whether nothing is masked.
func (r Rules) Empty() bool { return len(r.names) == 0 }

// matches reports whether the member at path is masked.
func (r Rules) matches(path []string) bool {
	return slices.ContainsFunc(r.names, func(rule []string) bool {
		if len(rule) == 1 {
			return strings.EqualFold(rule[0], path[len(path)-1])
		}
		return slices.EqualFunc(rule, path, func(word, name string) bool {
			return word == "*" || strings.EqualFold(word, name)
		})
	})
}

// Secrets are values that were masked.
type Secrets []string

// minSecret is the shortest value that is looked for in texts: shorter ones are
// found in anything.
const minSecret = 4

// Mask returns text with the secrets in it masked.
func (s Secrets) Mask(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, Mask)
	}
	return text
}

// in reports whether text holds a secret.
func (s Secrets) in(text string) bool {
	return slices.ContainsFunc(s, func(secret string) bool { return strings.Contains(text, secret) })
}

// JSON returns data with its masked values replaced, and otherwise byte for
// byte, and the values that it masked. Values that hold one of known are masked
// as well. If data is not one JSON value, it returns an error and nothing of it.
func (r Rules) JSON(data []byte, known Secrets) ([]byte, Secrets, error) {
	if r.Empty() && len(known) == 0 {
		if !json.Valid(data) {
			return nil, nil, fmt.Errorf("mask JSON: %w", errNotJSON)
		}
		return data, nil, nil
	}
	m := masker{rules: r, known: known, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	m.dec.UseNumber()
	err := m.value()
	if err == nil {
		if _, err = m.dec.Token(); err == io.EOF {
			err = nil
		} else if err == nil {
			err = errNotJSON
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("mask JSON: %w", err)
	}
	m.out = append(m.out, data[m.copied:]...)
	found := append(m.found, known...)
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) }) // whole ones before their parts
	return m.out, slices.Compact(found), nil
}

var errNotJSON = errors.New("it is not one JSON value")

// masker reads JSON and copies it, less what is masked.
type masker struct {
	rules  Rules
	known  Secrets
	data   []byte
	dec    *json.Decoder
	path   []string
	out    []byte
	copied int // of data
	found  Secrets
}

// value reads a value.
func (m *masker) value() error {
	token, err := m.dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return m.composite(t)
	case string:
		if m.known.in(t) {
			m.mask(int(m.dec.InputOffset()) - m.literal())
		}
	case json.Number:
		if m.known.in(t.String()) {
			m.mask(int(m.dec.InputOffset()) - len(t))
		}
	}
	return nil
}

// literal is how long the string is that was read last, as it stands in data.
func (m *masker) literal() int {
	end := int(m.dec.InputOffset())
	for i := end - 2; ; i-- {
		if m.data[i] != '"' {
			continue
		}
		slashes := 0
		for i-slashes > 0 && m.data[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end - i
		}
	}
}

// composite reads the rest of an object or an array.
func (m *masker) composite(open json.Delim) error {
	for m.dec.More() {
		if open == '[' {
			if err := m.value(); err != nil {
				return err
			}
			continue
		}
		name, err := m.dec.Token()
		if err != nil {
			return err
		}
		m.path = append(m.path, name.(string))
		if m.rules.matches(m.path) {
			err = m.member()
		} else {
			err = m.value()
		}
		if err != nil {
			return err
		}
		m.path = m.path[:len(m.path)-1]
	}
	_, err := m.dec.Token()
	return err
}

// member reads a value that is masked.
func (m *masker) member() error {
	var raw json.RawMessage
	if err := m.dec.Decode(&raw); err != nil {
		return err
	}
	m.keep(raw)
	m.mask(int(m.dec.InputOffset()) - len(raw))
	return nil
}

// mask masks what stands from there to where the decoder is.
func (m *masker) mask(from int) {
	m.out = append(m.out, m.data[m.copied:from]...)
	m.out = append(m.out, '"')
	m.out = append(m.out, Mask...)
	m.out = append(m.out, '"')
	m.copied = int(m.dec.InputOffset())
}

// keep notes the strings and numbers in a value.
func (m *masker) keep(raw json.RawMessage) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return
		}
		text := ""
		switch t := token.(type) {
		case string:
			text = t
		case json.Number:
			text = t.String()
		}
		if len(text) >= minSecret {
			m.found = append(m.found, text)
		}
	}
}
