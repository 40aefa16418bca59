// Package validate tells how a payload deviates from its provider's schema.
//
// Decoding an event is tolerant: a receiver has to work with what comes. This
// package is the strict counterpart, for tests and alerts. Generated event
// packages keep their schemas as a [Table], data that is read when it is first
// asked; there is no code per type or field.
//
// # The table
//
// A table is a JSON object with two members. "events" has the number of the
// schema of each event type, and "nodes" the schemas, which refer to each other
// by number. Equal schemas stand there once. The members of a node are
//
//	no         nothing is admitted
//	t          types, joined by |
//	null       null is admitted, whatever else the node says
//	fit        int64 or uint64, the Go type: an integer must fit it, which JSON Schema
//	           has no keyword for; it is reported as the format
//	e c        enum, const
//	p          properties: name, number, name, number … of a required one -1-number
//	r          names that are required without being properties
//	pp a       patternProperties, as p; additionalProperties
//	x i        prefixItems, items
//	all any one        allOf, anyOf, oneOf
//	not if then else   as in JSON Schema; as are
//	contains names     names is propertyNames
//	up ui      unevaluatedProperties, unevaluatedItems
//	min max xmin xmax mul      bounds of numbers, exclusive ones with an x, and multipleOf
//	len items members found    pairs of least and most, -1 for no limit: of characters,
//	                           items, members, and of items that contains is for
//	uniq re    uniqueItems, pattern
//	dr ds      dependentRequired, dependentSchemas
//
// Formats of texts are not checked, as in JSON Schema since 2019-09: providers' own
// payloads break them.
package validate

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Table holds the schemas of a provider's events. It may be used by many
// goroutines at once.
type Table struct {
	// Text is the table as the package comment describes it. It is read once,
	// when the table is first used.
	Text string

	once   sync.Once
	err    error
	nodes  []node
	events map[string]int
}

// Payload reports how a payload deviates from the schema of its event type. It
// returns nil if it does not, an [*Error] if it does, and another error if data
// is not JSON or the table has no such event type.
func (t *Table) Payload(eventType string, data []byte) error {
	t.once.Do(t.read)
	if t.err != nil {
		return fmt.Errorf("validate %s: %w", eventType, t.err)
	}
	root, ok := t.events[eventType]
	if !ok {
		return fmt.Errorf("validate %s: unknown event type", eventType)
	}
	value, err := parse(data)
	if err != nil {
		return fmt.Errorf("validate %s: %w", eventType, err)
	}
	c := checker{table: t}
	if c.check(root, value, ""); len(c.found) > 0 {
		return &Error{EventType: eventType, Deviations: c.found}
	}
	return nil
}

// Event is [Table.Payload] for the struct of an event, encoded.
//
// A struct can't tell everything: a required member that was missing, or null in
// place of a text, is the empty text in the struct. Payload tells.
func (t *Table) Event(eventType string, event any) error {
	data, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("validate %s: %w", eventType, err)
	}
	return t.Payload(eventType, data)
}

// Error is how a payload deviates from its schema.
type Error struct {
	EventType  string
	Deviations []Deviation // at least one; at most some hundred are looked for
}

// Error lists the deviations, a line each.
func (e *Error) Error() string {
	lines := []string{fmt.Sprintf("%s deviates from its schema:", e.EventType)}
	for _, d := range e.Deviations {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n\t")
}

// Deviation is one thing in which a payload deviates from its schema.
type Deviation struct {
	Pointer string // where, as a JSON pointer; "" is the whole payload
	Keyword string // what of the schema it is about, "required", say
	Found   string // what is there, shortened
	Want    string // what the schema asks for
}

// String returns pointer: found, want …
func (d Deviation) String() string {
	at := d.Pointer
	if at == "" {
		at = "/"
	}
	return at + ": found " + d.Found + ", want " + d.Want
}
