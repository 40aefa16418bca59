package restaqtest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
)

// Recording is an execution that happened, to be run again in a test: why did
// it fail, and does it still?
//
//	r := restaqtest.Load(t, "testdata/dead.json") // by restaq export ID
//	var event stripe.ChargeSucceeded
//	err := json.Unmarshal(r.Event.Payload, &event)
//	…
//	err = b.ChargeSucceeded(r.Context(t), event)
type Recording struct {
	// Execution is as it was when it was exported.
	Execution restaq.Execution

	// Event is what it worked on.
	Event restaq.Event

	records map[string]record // by record name
}

// record is what a step's call returns that is not run.
type record struct {
	output []byte
	err    error
}

// Load reads a file that restaq export has written. It ends the test if it
// cannot.
func Load(t testing.TB, file string) *Recording {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("load execution: %v", err)
	}
	var h struct {
		restaq.History
		Payload json.RawMessage `json:"payload"`
		Base64  []byte          `json:"payloadBase64"`
	}
	if err := json.Unmarshal(data, &h); err != nil {
		t.Fatalf("load execution %s: %v", file, err)
	}
	if h.ID == "" {
		t.Fatalf("load execution %s: it is no file of restaq export", file)
	}
	ref := h.Execution.Event
	r := &Recording{
		Execution: h.Execution,
		Event: restaq.Event{
			Source: ref.Source, Provider: ref.Provider, ID: ref.ID, Type: ref.Type, ReceivedAt: ref.ReceivedAt,
			Header: h.Header, Payload: h.Payload,
		},
	}
	if r.Event.Payload == nil {
		r.Event.Payload = h.Base64
	}
	r.records = records(h.Tries)
	return r
}

// records returns what the next attempt would find: the outcomes of steps since
// the last restart.
func records(tries []restaq.AttemptRecord) map[string]record {
	found := make(map[string]record)
	for i := range tries {
		if tries[i].Kind == restaq.Restarted.String() {
			clear(found)
		}
		for j := range tries[i].Steps {
			s := &tries[i].Steps[j]
			switch s.Status {
			case restaq.StepCompleted:
				found[s.Name] = record{output: s.Output}
			case restaq.StepPermanent:
				found[s.Name] = record{err: &restaq.StepError{Step: s.Name, Permanent: true, Err: errors.New(s.Error)}}
			}
		}
	}
	return found
}

// Context returns a context in which the handler runs as in its next attempt:
// steps that have a record return it, and all others run. A permanent failure is
// an outcome, too: forget it with Forget to run the step. Each call returns a new
// context.
func (r *Recording) Context(t testing.TB) context.Context {
	return restaq.WithEngine(t.Context(), &engine{calls: make(map[string]*call), records: r.records}, restaq.Scope{
		ExecutionID: r.Execution.ID, Handler: r.Execution.Handler, Attempt: r.Execution.Attempts + 1, Event: r.Event,
	})
}

// Forget makes steps run that have a record. It ends the test if one has none.
// It must not be called while a handler runs.
func (r *Recording) Forget(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, ok := r.records[name]; !ok {
			t.Fatalf("forget step %s: there is no record of it", name)
		}
		delete(r.records, name)
	}
}
