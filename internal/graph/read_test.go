package graph_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/restaq/restaq/internal/graph"
	reader "github.com/restaq/restaq/runtime/graph"
)

// The runtime's half reads what this one writes: nothing is lost on the way.
func TestTheRuntimeReadsGraphs(t *testing.T) {
	all, _ := graphs(t, "testdata", "./...")
	for _, g := range append(all, every("x")...) {
		for name, h := range g.Handlers {
			h.Version = graph.Version
			text, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			read, err := reader.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(read)
			if err != nil || string(again) != string(text) {
				t.Errorf("%s: %v\n%s\nbecame\n%s", name, err, text, again)
			}
			seen := map[string]bool{}
			for _, row := range read.Rows() {
				if row.Step != "" {
					seen[row.Step] = true
				}
			}
			want := map[string]bool{}
			for step := range graph.Steps(h.Flow) {
				if step != "" {
					want[step] = true
				}
			}
			if !reflect.DeepEqual(seen, want) {
				t.Errorf("%s: rows have steps %v, not %v", name, seen, want)
			}
		}
	}
}
