package restaq

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Record is a step's output, or its permanent failure, that counts for the next
// attempt of an execution: the step does not run again.
type Record struct {
	Name string `json:"name"` // record name: the step's name, plus its key in brackets
	Func string `json:"func"` // the step's function

	// Shape is the fingerprint of the output's shape, and ReadBy are those of
	// other shapes whose types read it, as the build that made the record says.
	// Both are empty for a step without output.
	Shape  string   `json:"shape,omitempty"`
	ReadBy []string `json:"readBy,omitempty"`

	// Was are record names under which the step's record would have stood before
	// it was renamed, the oldest first.
	Was []string `json:"was,omitempty"`

	// Permanent says that the record is a permanent failure.
	Permanent bool `json:"permanent,omitempty"`
}

// Step returns the step's name: the record name without its key.
func (r *Record) Step() string {
	name, _, _ := strings.Cut(r.Name, "[")
	return name
}

// Records returns the records that count for an execution's next attempt, by
// name, should nobody restart it or retry the failure that ended it. ErrNotFound
// says that there is no such execution.
func (rt *Runtime) Records(ctx context.Context, id string) ([]Record, error) {
	if checkIdentifier(id) != nil {
		return nil, fmt.Errorf("read records of execution %q: %w", id, ErrNotFound)
	}
	h, err := rt.store.History(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read records of execution %s: %w", id, err)
	}
	next, kind := h.Execution.Attempts+1, Automatic
	if h.Execution.Status == Running {
		next, kind = h.Execution.Attempts, h.Kind
	}
	p := remember(h, next, kind)
	for i := range h.Steps {
		if h.Steps[i].Attempt >= next { // of the attempt under way
			p.apply(&h.Steps[i])
		}
	}
	rows := make(map[string]*StepRow)
	for _, row := range p.records { // by each of its names
		rows[row.Name] = row
	}
	records := make([]Record, 0, len(rows))
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		row := rows[name]
		d := decodeDetail[stepDetail](row.Detail)
		records = append(records, Record{
			Name: name, Func: row.Func, Shape: row.Shape, ReadBy: d.ReadBy, Was: d.Was, Permanent: row.Status == StepPermanent,
		})
	}
	return records, nil
}
