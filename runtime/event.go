package restaq

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Event is one thing that happened, as the provider numbers it. Source and ID
// together identify it: a second delivery of the same pair is a duplicate.
//
// A handler whose parameter is an Event gets the raw event; it must not change
// Payload or Header.
type Event struct {
	// Source is the receiving endpoint's name; it defaults to Provider. Two
	// accounts of one provider are two sources.
	Source string `json:"source"`

	// Provider is who sent the event, such as "stripe".
	Provider string `json:"provider"`

	// ID is the provider's id of the event, unique within the source.
	ID string `json:"id"`

	// Type is "<provider>.<type>", such as "stripe.charge.succeeded".
	Type string `json:"type"`

	// Payload is the event as the provider sent it, byte for byte (for a form
	// delivery, the JSON text inside the form). A stored event's Payload is nil
	// if it was not kept, and empty if the provider sent nothing.
	Payload []byte `json:"-"`

	// Header holds the request's headers without signatures, cookies and
	// authorization. It is empty for events that did not come over HTTP.
	Header http.Header `json:"header,omitempty"`

	// ReceivedAt is when the event was stored, by the store's clock, in UTC.
	ReceivedAt time.Time `json:"receivedAt"`

	sealed error // why the payload cannot be opened; the engine's own
}

// EventRef names a stored event without its payload.
type EventRef struct {
	Source     string    `json:"source"`
	Provider   string    `json:"provider"`
	ID         string    `json:"id"`
	Type       string    `json:"type"`
	ReceivedAt time.Time `json:"receivedAt"`
}

// Ref returns the event's reference.
func (e *Event) Ref() EventRef {
	return EventRef{Source: e.Source, Provider: e.Provider, ID: e.ID, Type: e.Type, ReceivedAt: e.ReceivedAt}
}

// Receipt says what a delivery did.
type Receipt struct {
	// Duplicate reports that the event had been stored before; nothing new was
	// started.
	Duplicate bool

	// Executions are the event's original executions, one per handler, in no
	// particular order. It is empty for an event that nobody subscribes to.
	Executions []Execution
}

// maxIdentifier bounds sources, event ids, event types and names, in bytes.
// Providers stay below 255; the bound keeps them indexable on every store.
const maxIdentifier = 1024

// validate fills in the event's defaults and reports what makes it unusable.
func (e *Event) validate() error {
	if e.Provider == "" {
		e.Provider, _, _ = strings.Cut(e.Type, ".")
	}
	if e.Source == "" {
		e.Source = e.Provider
	}
	for _, f := range []struct{ name, value string }{
		{"id", e.ID}, {"type", e.Type}, {"provider", e.Provider}, {"source", e.Source},
	} {
		if err := checkIdentifier(f.value); err != nil {
			return fmt.Errorf("event %s: %w", f.name, err)
		}
	}
	if len(e.Payload) > maxPayload {
		return fmt.Errorf("event payload has %d bytes, at most %d are stored", len(e.Payload), maxPayload)
	}
	if !strings.HasPrefix(e.Type, e.Provider+".") || len(e.Type) == len(e.Provider)+1 {
		return fmt.Errorf("event type %q: want %q followed by the provider's own type", e.Type, e.Provider+".")
	}
	return nil
}

// checkIdentifier reports why s cannot name something in a store.
func checkIdentifier(s string) error {
	switch {
	case s == "":
		return errors.New("is empty")
	case len(s) > maxIdentifier:
		return fmt.Errorf("has %d bytes, at most %d are allowed", len(s), maxIdentifier)
	case !utf8.ValidString(s):
		return errors.New("is not valid UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("holds a control character")
	}
	return nil
}

// checkPattern reports why pattern cannot be subscribed to. A pattern is an
// event type, or one whose whole last segment is "*".
func checkPattern(pattern string) error {
	if err := checkIdentifier(pattern); err != nil {
		return err
	}
	head, last := pattern, ""
	if i := strings.LastIndexByte(pattern, '.'); i >= 0 {
		head, last = pattern[:i], pattern[i+1:]
	} else {
		head, last = "", pattern
	}
	if strings.Contains(head, "*") || (strings.Contains(last, "*") && last != "*") {
		return errors.New(`"*" may stand only as the whole last segment`)
	}
	if slices.Contains(strings.Split(pattern, "."), "") {
		return errors.New("has an empty segment")
	}
	return nil
}

// matchPattern reports whether an event type is one that pattern subscribes
// to. A last segment "*" matches one segment or more.
func matchPattern(pattern, eventType string) bool {
	head, ok := strings.CutSuffix(pattern, "*")
	if !ok {
		return pattern == eventType
	}
	return len(eventType) > len(head) && strings.HasPrefix(eventType, head)
}

// matchesAny reports whether one of the patterns subscribes to an event type.
func matchesAny(patterns []string, eventType string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matchPattern(p, eventType) })
}
