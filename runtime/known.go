package restaq

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// knownErrors are the sentinels and types of Config.Errors, which survive
// being recorded.
type knownErrors struct {
	sentinels map[string]error        // by text
	types     map[string]reflect.Type // by qualified name
}

// knownRecord is one known error found in a recorded failure.
type knownRecord struct {
	Sentinel string          `json:"sentinel,omitempty"`
	Type     string          `json:"type,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
}

func newKnownErrors(list []error) (*knownErrors, error) {
	k := &knownErrors{sentinels: make(map[string]error), types: make(map[string]reflect.Type)}
	const field = "Errors" // of Config, as messages name it
	for i, err := range list {
		v := reflect.ValueOf(err)
		switch {
		case !v.IsValid():
			return nil, fmt.Errorf("%s[%d]: is nil", field, i)
		case v.IsZero():
			k.types[typeName(v.Type())] = v.Type()
			continue
		}
		text := storable(err.Error())
		if _, taken := k.sentinels[text]; taken {
			return nil, fmt.Errorf("%s[%d]: another sentinel has the text %q too", field, i, text)
		}
		k.sentinels[text] = err
	}
	return k, nil
}

// typeName is the name under which an error's type is recorded.
func typeName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return "*" + typeName(t.Elem())
	}
	return t.PkgPath() + "." + t.Name()
}

// record returns the known errors that err is or wraps.
func (k *knownErrors) record(err error) []knownRecord {
	var found []knownRecord
	for _, text := range slices.Sorted(maps.Keys(k.sentinels)) {
		if errors.Is(err, k.sentinels[text]) {
			found = append(found, knownRecord{Sentinel: text})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.types)) {
		target := reflect.New(k.types[name])
		if !errors.As(err, target.Interface()) {
			continue
		}
		if value, err := json.Marshal(target.Elem().Interface()); err == nil {
			found = append(found, knownRecord{Type: name, Value: value})
		}
	}
	return found
}

// recordedError is a failure as a record gives it back.
type recordedError struct {
	text   string
	causes []error
}

func (e *recordedError) Error() string   { return e.text }
func (e *recordedError) Unwrap() []error { return e.causes }

// restore rebuilds a failure. What this process does not know any more stays
// text.
func (k *knownErrors) restore(text string, records []knownRecord) error {
	e := &recordedError{text: text}
	for _, r := range records {
		if sentinel, ok := k.sentinels[r.Sentinel]; ok && r.Sentinel != "" {
			e.causes = append(e.causes, sentinel)
		}
		if t, ok := k.types[r.Type]; ok {
			value := reflect.New(t)
			err := guard(func() error { return json.Unmarshal(r.Value, value.Interface()) })
			if err == nil && !(t.Kind() == reflect.Pointer && value.Elem().IsNil()) {
				e.causes = append(e.causes, value.Elem().Interface().(error))
			}
		}
	}
	return e
}

// failure is what the engine needs to know of an error. Finding out may call
// methods of the user's error types, which may panic: then it is a plain error.
type failure struct {
	permanent bool
	step      *StepError       // a permanent one if there is one; nil if err wraps no step's failure
	after     *retryAfterError // nil for the backoff
	stack     []byte           // of a panic
	known     []knownRecord
	stopped   StopReason // if it is permanent
}

// stop says why the execution is dead that failed so.
func (f *failure) stop() StopReason {
	if f.permanent {
		return f.stopped
	}
	return StoppedByAttempts
}

func (k *knownErrors) classify(err error) failure {
	var f failure
	if guard(func() error {
		var p *panicError
		if errors.As(err, &p) {
			f.stack = p.stack
		}
		if f.step = permanentStep(err); f.step == nil {
			errors.As(err, &f.step)
		}
		errors.As(err, &f.after)
		f.known = k.record(err)
		f.permanent = IsPermanent(err)
		var shape *ShapeError
		var sealed *SealError
		switch {
		case errors.As(err, &shape):
			f.stopped = StoppedBySchema
		case errors.As(err, &sealed):
			f.stopped = StoppedByKey
		case errors.Is(err, errInputChanged):
			f.stopped = StoppedByChangedInput
		default:
			f.stopped = StoppedByPermanent
		}
		return nil
	}) != nil {
		return failure{stack: f.stack}
	}
	return f
}
