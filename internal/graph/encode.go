package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
)

const explanation = "What this package's handlers do, step by step, as their source says. Written by restaqgen; commit it."

// Encode returns the text of the package's restaq.graph.json: the same for equal
// graphs, sorted, one fact a line. It is nil for a package without handlers.
func (g *Graph) Encode() ([]byte, error) {
	if len(g.Handlers) == 0 {
		return nil, nil
	}
	return encode(struct {
		Explanation string              `json:"//"`
		Handlers    map[string]*Handler `json:"handlers"`
	}{explanation, g.Handlers})
}

// JSON returns the graphs of several packages as one JSON object.
func JSON(graphs []*Graph) ([]byte, error) {
	packages := map[string]any{}
	for _, g := range graphs {
		if len(g.Handlers) > 0 {
			packages[g.Package] = struct {
				Handlers map[string]*Handler `json:"handlers"`
			}{g.Handlers}
		}
	}
	return encode(struct {
		Packages map[string]any `json:"packages"`
	}{packages})
}

func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write graph: %w", err)
	}
	return buf.Bytes(), nil
}
