package restaq

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxKey   = 200       // bytes of a key that are recorded as they are
	maxError = 64 * 1024 // bytes of an error or a stack that are recorded
)

// RecordName returns the name of the call's record: the step's name, plus its
// key in brackets if it has one. A key over 200 bytes, or one that is not
// printable text, is given by its hash. Computing the key may panic.
func (c *StepCall) RecordName() string { return c.Name + c.recordKey() }

// recordKey is what stands behind the step's name in its record's name.
func (c *StepCall) recordKey() string {
	if c.Key == nil {
		return ""
	}
	key := c.Key()
	if len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) {
		sum := sha256.Sum256([]byte(key))
		key = "sha256:" + hex.EncodeToString(sum[:16])
	}
	return "[" + key + "]"
}

// packageOf returns the package of a qualified function name, up to the first
// dot of its last path element.
func packageOf(fn string) string {
	start := strings.LastIndexByte(fn, '/') + 1
	if dot := strings.IndexByte(fn[start:], '.'); dot >= 0 {
		return fn[:start+dot]
	}
	return fn
}

// stepDetail is what a step's row holds for the engine alone.
type stepDetail struct {
	Stack        string        `json:"stack,omitempty"`
	Errors       []knownRecord `json:"errors,omitempty"`
	InputChanged bool          `json:"inputChanged,omitempty"`
	ReadBy       []string      `json:"readBy,omitempty"`  // other shapes whose types read the output
	Earlier      []string      `json:"earlier,omitempty"` // all others that the writer knows of
	Was          []string      `json:"was,omitempty"`     // record names under which the call would have stood, the oldest first
	Timeout      bool          `json:"timeout,omitempty"`
}

// attemptDetail is what an attempt's row holds for the engine alone.
type attemptDetail struct {
	Stack string `json:"stack,omitempty"`

	// OwnBudget says that the failing step has attempts of its own, so that
	// the failure uses none of the handler's.
	OwnBudget bool `json:"ownBudget,omitempty"`

	// Unused are the records that count but that the attempt, which
	// completed, did not ask for.
	Unused []string `json:"unused,omitempty"`

	// Trace is what the observer made of the attempt.
	Trace string `json:"trace,omitempty"`
}

// encodeDetail returns a detail's JSON, or nil if it is zero.
func encodeDetail[T any](d *T) []byte {
	data, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("restaq: encode detail: %v", err)) // strings and raw JSON only
	}
	if string(data) == "{}" {
		return nil
	}
	return data
}

// decodeDetail reads a detail. Written by a newer version, it may hold more.
func decodeDetail[T any](data []byte) T {
	var d T
	if len(data) > 0 {
		_ = json.Unmarshal(data, &d) // an unreadable detail is no detail
	}
	return d
}

// storable makes any text storable: valid UTF-8 without NUL, at most 64 KiB.
func storable(text string) string {
	if len(text) > maxError {
		text = text[:maxError] + " … (cut)"
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.ReplaceAll(text, "\x00", "\uFFFD")
}

// errorText is storable(err.Error()), even if Error panics.
func errorText(err error) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("error of type %T, whose Error method panics", err)
		}
	}()
	return storable(err.Error())
}

// firstLine returns text's first line, at most n runes, without control
// characters.
func firstLine(text string, n int) string {
	text, _, _ = strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	runes := []rune(strings.TrimRight(text, "\r"))
	if len(runes) > n {
		runes = append(runes[:n-1], '…')
	}
	for i, r := range runes {
		if !unicode.IsPrint(r) {
			runes[i] = '\uFFFD'
		}
	}
	return string(runes)
}

// past is what an execution's earlier attempts left for the next one.
//
// A call counts under its record name and under those that it was known by
// before its step was renamed. So a build finds it under the oldest name that it
// knows, whether an older or a newer build made it.
type past struct {
	records  map[string]*StepRow // the outcomes that count, by record name
	attempts int                 // of the handler's budget, used up since it was last fresh
	failures map[string]int      // tries of steps that failed since then, by record name
	lost     bool                // the last attempt was lost
	traces   []string            // what the observer made of them
	sealed   error               // why something that decides cannot be opened

	begunAt time.Time // when this attempt was begun, by the store's clock
	leftAt  time.Time // when the execution was first left to other builds; zero if it is not
}

// leftFor is for how long the execution has been left to other builds.
func (p *past) leftFor() time.Duration {
	if p.leftAt.IsZero() {
		return 0
	}
	return p.begunAt.Sub(p.leftAt)
}

// remember works out what counts for attempt number next of kind. A restart
// makes all earlier records void; a retry by a person voids the permanent
// failure that ended the attempt before it.
func remember(h *StoredExecution, next int, kind AttemptKind) *past {
	p := &past{records: make(map[string]*StepRow), failures: make(map[string]int), begunAt: h.StartedAt, sealed: h.sealed}
	steps := h.Steps
	lastStep := ""
	begin := func(kind AttemptKind) {
		if kind == Automatic {
			return
		}
		p.attempts, p.leftAt = 0, time.Time{}
		clear(p.failures)
		if kind == Restarted {
			clear(p.records)
		} else if r := p.records[lastStep]; r != nil && r.Status == StepPermanent {
			maps.DeleteFunc(p.records, func(_ string, other *StepRow) bool { return other == r })
		}
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		if a.Number >= next {
			break
		}
		begin(a.Kind)
		for len(steps) > 0 && steps[0].Attempt <= a.Number {
			p.apply(&steps[0])
			steps = steps[1:]
		}
		lastStep = a.Step
		p.lost = a.Outcome == AttemptLost
		switch a.Outcome {
		case AttemptReleased:
			if p.leftAt.IsZero() {
				p.leftAt = a.EndedAt
			}
		case AttemptFailed, AttemptCompleted:
			p.leftAt = time.Time{}
		}
		detail := decodeDetail[attemptDetail](a.Detail)
		if detail.Trace != "" {
			p.traces = append(p.traces, detail.Trace)
		}
		if p.lost || a.Outcome == AttemptFailed && !detail.OwnBudget {
			p.attempts++
		}
	}
	begin(kind)
	return p
}

func (p *past) apply(row *StepRow) {
	if row.Status == StepSkipped {
		return
	}
	p.count(row.Name, row)
	for _, name := range decodeDetail[stepDetail](row.Detail).Was {
		p.count(name, row)
	}
}

func (p *past) count(name string, row *StepRow) {
	if row.Status == StepFailed {
		p.failures[name]++
	} else {
		p.records[name] = row
	}
}

// unused returns the names of records that no call asked for, sorted.
func (p *past) unused(calls map[string]*stepRun) []string {
	asked := make(map[*StepRow]bool)
	for name, r := range calls {
		asked[p.records[name]], asked[p.records[r.oldest()]] = true, true
	}
	var names []string
	for name, row := range p.records {
		if name == row.Name && !asked[row] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// inputChanged reports whether the record was made from other inputs.
// Fingerprints of two algorithms cannot be compared.
func (r *StepRow) inputChanged(inputs []byte) bool {
	return len(r.Inputs) > 0 && len(inputs) > 0 && r.Inputs[0] == inputs[0] && !bytes.Equal(r.Inputs, inputs)
}
