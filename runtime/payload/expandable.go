package payload

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNotExpanded is what Object returns when the object did not come along.
var ErrNotExpanded = errors.New("object not expanded")

// Expandable is a reference to an object of type T that comes as the object's id
// or as the whole object. The zero value is absent.
//
// Whether a schema calls the member required, optional or nullable, its field is
// a plain Expandable, never a pointer: ID is empty when there is nothing. An
// optional member's field carries the tag option omitzero, so absent stays
// absent and null stays null when encoded. The object is kept as received and
// decoded only by [Expandable.Object].
type Expandable[T any] struct{ reference }

// reference is what an Expandable holds, and what it can do without knowing T: a
// program that has an Expandable[T] and never asks for the object does not hold T,
// and all that T reaches.
type reference struct {
	raw string // the JSON text as received; empty: absent
	id  string
}

// Ref returns an Expandable that holds an id alone.
func Ref[T any](id string) Expandable[T] {
	return Expandable[T]{reference{raw: quote(id), id: id}}
}

// Expand returns an Expandable that holds the whole object. The id is the
// object's member "id".
func Expand[T any](object T) (Expandable[T], error) {
	var e Expandable[T]
	data, err := json.Marshal(object)
	if err != nil {
		return e, fmt.Errorf("expand object: %w", err)
	}
	return e, e.UnmarshalJSON(data)
}

// ID returns the id, or "" if there is none. An id that is a number is returned
// in its own digits.
func (e reference) ID() string { return e.id }

// Expanded reports whether the whole object came along.
func (e reference) Expanded() bool { return e.raw != "" && e.raw[0] == '{' }

// Object decodes the object. Each call decodes anew. The error is
// [ErrNotExpanded] if only the id came, or nothing.
func (e Expandable[T]) Object() (T, error) {
	var object T
	err := e.decode(&object)
	return object, err
}

// decode decodes the object into target.
func (e reference) decode(target any) error {
	if !e.Expanded() {
		return ErrNotExpanded
	}
	if err := Unmarshal([]byte(e.raw), target); err != nil {
		return fmt.Errorf("decode object %q: %w", e.id, err)
	}
	return nil
}

// Raw returns the JSON text as received, nil if the member is absent.
func (e reference) Raw() json.RawMessage {
	if e.raw == "" {
		return nil
	}
	return json.RawMessage(e.raw)
}

// IsNull reports whether the member is there and null.
func (e reference) IsNull() bool { return e.raw == "null" }

// IsZero reports whether the member is absent.
func (e reference) IsZero() bool { return e.raw == "" }

// String returns the id.
func (e reference) String() string { return e.id }

// MarshalJSON encodes what was received; an absent member is null.
func (e reference) MarshalJSON() ([]byte, error) {
	if e.raw == "" {
		return []byte("null"), nil
	}
	return []byte(e.raw), nil
}

// UnmarshalJSON keeps any JSON value, and takes the id out of it.
func (e *reference) UnmarshalJSON(data []byte) error {
	raw, err := validText(data)
	if err == nil {
		e.set(raw)
	}
	return err
}

// set keeps a valid text.
func (e *reference) set(raw string) {
	*e = reference{raw: raw}
	switch raw[0] {
	case '{':
		if id := member(raw, "id"); id != "" {
			e.id = text(id)
		}
	case '"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		e.id = text(raw)
	}
}
