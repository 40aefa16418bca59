package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// SettingsFile is the file beside a generated package that says what it was made
// of, so that it can be made again, and found stale.
const SettingsFile = "restaq.events.json"

// settings are what SettingsFile holds: options, with paths relative to it.
type settings struct {
	Comment  string   `json:"//"`
	Provider string   `json:"provider"`
	Package  string   `json:"package,omitempty"`
	In       []string `json:"in,omitempty"`
	Only     []string `json:"only,omitempty"`
}

// Settings returns the content of the settings file in the package's folder.
func (o Options) Settings(dir string) ([]byte, error) {
	s := settings{
		Comment:  "What this package is made of. Written by restaqgen events; commit it.",
		Provider: o.Provider, Package: o.Package, Only: o.Only,
	}
	for _, in := range o.In {
		if rel, err := filepath.Rel(dir, in); err == nil {
			in = rel
		}
		s.In = append(s.In, filepath.ToSlash(in))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	return b.Bytes(), err
}

// ReadSettings returns the options in the settings file of a package's folder. The
// error wraps fs.ErrNotExist if there is none.
func ReadSettings(dir string) (Options, error) {
	name := filepath.Join(dir, SettingsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		return Options{}, fmt.Errorf("read options: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var s settings
	if err := dec.Decode(&s); err != nil {
		return Options{}, fmt.Errorf("read options %s: %w", name, err)
	}
	if s.Provider == "" {
		return Options{}, errors.New("read options " + name + ": no provider")
	}
	o := Options{Provider: s.Provider, Package: s.Package, Only: s.Only}
	for _, in := range s.In {
		if in = filepath.FromSlash(in); !filepath.IsAbs(in) {
			in = filepath.Join(dir, in)
		}
		o.In = append(o.In, in)
	}
	return o, nil
}
