package payload

import "encoding/json"

// Nullable is a member that may be absent, null, or a value of type T. The zero
// value is absent. Its field carries the tag option omitzero, so that an absent
// member stays absent when encoded.
type Nullable[T any] struct {
	value T
	state state
}

type state uint8

const (
	absent state = iota
	null
	present
)

// Of returns a Nullable that holds v.
func Of[T any](v T) Nullable[T] { return Nullable[T]{value: v, state: present} }

// Null returns a Nullable that is null.
func Null[T any]() Nullable[T] { return Nullable[T]{state: null} }

// Get returns the value, and whether there is one.
func (n Nullable[T]) Get() (T, bool) { return n.value, n.state == present }

// Value returns the value, or T's zero value if the member is absent or null.
func (n Nullable[T]) Value() T { return n.value }

// Or returns the value, or other if the member is absent or null.
func (n Nullable[T]) Or(other T) T {
	if n.state == present {
		return n.value
	}
	return other
}

// IsNull reports whether the member is there and null.
func (n Nullable[T]) IsNull() bool { return n.state == null }

// IsZero reports whether the member is absent.
func (n Nullable[T]) IsZero() bool { return n.state == absent }

// MarshalJSON encodes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if n.state != present {
		return []byte("null"), nil
	}
	return json.Marshal(n.value)
}

// UnmarshalJSON decodes null or a value of type T.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	*n = Nullable[T]{state: null}
	if string(data) == "null" {
		return nil
	}
	if err := Unmarshal(data, &n.value); err != nil {
		return err
	}
	n.state = present
	return nil
}
