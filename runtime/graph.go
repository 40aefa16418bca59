package restaq

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// graphs are the handlers' graphs in a text, by name. All handlers of a package
// share the text, which is therefore read once.
type graphs struct {
	text     string
	handlers map[string]json.RawMessage
}

// graph returns the graph of a handler: text, or if that has the graphs of
// several handlers, the one of that name. It is nil if there is none.
func (r *registry) graph(name, text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	if r.graphs.text != text {
		var file struct{ Handlers map[string]json.RawMessage }
		if err := json.Unmarshal([]byte(text), &file); err != nil {
			return nil, fmt.Errorf("is no JSON: %w: run go generate", err)
		}
		r.graphs = graphs{text, file.Handlers}
	}
	graph := json.RawMessage(text)
	if r.graphs.handlers != nil {
		graph = r.graphs.handlers[name]
	}
	if graph == nil {
		return nil, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, graph); err != nil {
		return nil, fmt.Errorf("is no JSON: %w", err)
	}
	return compact.Bytes(), nil
}
