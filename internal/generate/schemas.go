package generate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/restaq/restaq/internal/check"
	"github.com/restaq/restaq/internal/load"
	"github.com/restaq/restaq/internal/problem"
	"github.com/restaq/restaq/internal/shape"
)

// Schemas are the JSON Schemas of what packages declare.
type Schemas struct {
	Events []EventSchema
	Steps  []StepSchema
}

// EventSchema is the schema of an event type whose struct a person wrote.
type EventSchema struct {
	Type   string // acme.order.shipped
	Schema json.RawMessage
}

// StepSchema has the schemas of what a step takes and returns.
type StepSchema struct {
	Package, Step string
	Input         json.RawMessage // an array of the inputs in their order
	Output        json.RawMessage // nil for a step without output
}

// dialect is the version of JSON Schema that schemas are written in.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// ReadSchemas returns the schemas of the packages that cfg names, by package and
// in the order of the source. With problems there are none.
func ReadSchemas(ctx context.Context, cfg load.Config) (Schemas, problem.List) {
	loaded, problems := load.Load(ctx, cfg)
	packages, more := check.Packages(loaded.Packages, loaded.Dependencies)
	problems = append(problems, more...)
	var found Schemas
	for _, p := range packages {
		var shaper shape.Shaper
		for _, e := range p.Events {
			schema, err := shaper.Schema(e.Obj.Type(), p.Types, false)
			if err == nil {
				_, name, _ := strings.Cut(e.Type, ".")
				schema.Version, schema.Comments = dialect, "Written by restaqgen schema."
				schema.Extras = map[string]any{"x-restaq-events": []string{name}}
			}
			text, err := encodeSchema(schema, err)
			if err != nil {
				problems.Add(problem.Problem{Pos: e.Pos, Subject: "event " + e.Type, Reason: err.Error()})
			}
			found.Events = append(found.Events, EventSchema{e.Type, text})
		}
		for _, s := range p.Steps() {
			step := StepSchema{Package: p.Path, Step: s.Record}
			var inputs []shape.Value
			for _, in := range s.Inputs {
				inputs = append(inputs, shape.Value{Name: in.Name, Type: in.Type})
			}
			var err error
			if step.Input, err = encodeSchema(shaper.Array(inputs, p.Types)); err == nil && s.Output != nil {
				step.Output, err = encodeSchema(shaper.Schema(s.Output, p.Types, true))
			}
			if err != nil {
				problems.Add(problem.Problem{Pos: s.Pos, Subject: "step " + s.Record, Reason: err.Error()})
			}
			found.Steps = append(found.Steps, step)
		}
	}
	if problems.Sort(); len(problems) > 0 {
		return Schemas{}, problems
	}
	return found, nil
}

// encodeSchema encodes a schema, unless there is an error already.
func encodeSchema(schema any, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	return text, nil
}

// Text returns all schemas as one JSON object: "events" by event type, "steps" by
// package and step.
func (s Schemas) Text() ([]byte, error) {
	type step struct {
		Input  json.RawMessage `json:"input"`
		Output json.RawMessage `json:"output,omitempty"`
	}
	whole := struct {
		Comment string                     `json:"//"`
		Events  map[string]json.RawMessage `json:"events,omitempty"`
		Steps   map[string]map[string]step `json:"steps,omitempty"`
	}{"Written by restaqgen schema.", map[string]json.RawMessage{}, map[string]map[string]step{}}
	for _, e := range s.Events {
		whole.Events[e.Type] = e.Schema
	}
	for _, st := range s.Steps {
		if whole.Steps[st.Package] == nil {
			whole.Steps[st.Package] = map[string]step{}
		}
		whole.Steps[st.Package][st.Step] = step{st.Input, st.Output}
	}
	return indent(whole)
}

// Text returns the schema as a file.
func (e EventSchema) Text() ([]byte, error) { return indent(e.Schema) }

func indent(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}
