package example

import (
	"bytes"
	"encoding/json"
	"strings"
)

// schema is what an example needs to know of a JSON Schema.
type schema struct {
	never bool   // it is false
	file  string // where it stands

	Ref                  string            `json:"$ref"`
	Type                 oneOrMany         `json:"type"`
	Const                json.RawMessage   `json:"const"`
	Enum                 []json.RawMessage `json:"enum"`
	AllOf                []*schema         `json:"allOf"`
	AnyOf                []*schema         `json:"anyOf"`
	OneOf                []*schema         `json:"oneOf"`
	Properties           members           `json:"properties"`
	Required             []string          `json:"required"`
	AdditionalProperties *schema           `json:"additionalProperties"`
	Items                *schema           `json:"items"`
	MinItems             int               `json:"minItems"`
	MaxItems             *int              `json:"maxItems"`
	Format               string            `json:"format"`
	Pattern              string            `json:"pattern"`
	MinLength            int               `json:"minLength"`
	MaxLength            *int              `json:"maxLength"`
	Minimum              *float64          `json:"minimum"`
	Maximum              *float64          `json:"maximum"`
}

// UnmarshalJSON takes true and false, too.
func (s *schema) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		return nil
	case "false":
		s.never = true
		return nil
	}
	type plain schema
	return json.Unmarshal(data, (*plain)(s))
}

// oneOrMany are strings, written as one or as several.
type oneOrMany []string

// UnmarshalJSON takes a string for a list of one.
func (o *oneOrMany) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*o = []string{""}
		return json.Unmarshal(data, &(*o)[0])
	}
	return json.Unmarshal(data, (*[]string)(o))
}

// members are properties, in their order.
type members []member

type member struct {
	name   string
	schema *schema
}

// UnmarshalJSON keeps the order.
func (m *members) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		s := &schema{}
		if err := dec.Decode(s); err != nil {
			return err
		}
		*m = append(*m, member{name.(string), s})
	}
	return nil
}

// in notes in which file a schema and those within it stand.
func (s *schema) in(file string) {
	if s == nil {
		return
	}
	s.file = file
	for _, list := range [][]*schema{s.AllOf, s.AnyOf, s.OneOf, {s.AdditionalProperties, s.Items}} {
		for _, sub := range list {
			sub.in(file)
		}
	}
	for _, p := range s.Properties {
		p.schema.in(file)
	}
}

// place is where a reference leads.
func (s *schema) place() string {
	file, pointer, _ := strings.Cut(s.Ref, "#")
	if file == "" {
		file = s.file
	}
	return file + "#" + strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer)
}
