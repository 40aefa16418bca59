package payload

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/restaq/restaq/runtime/codec"
)

// ErrUnknownType says that an event package has no type for an event type. The
// errors of a generated Decode wrap it.
var ErrUnknownType = errors.New("unknown event type")

// UnknownType is the error of a generated Decode for an event type that its
// package does not know. It wraps [ErrUnknownType].
func UnknownType(eventType string) error {
	return fmt.Errorf("decode event %q: %w", eventType, ErrUnknownType)
}

// Decode decodes data into target, a non-nil pointer to an event struct, and
// returns the struct itself. Generated Decode functions call it. Unknown members
// are ignored, a member with null keeps its zero value. The error names
// eventType and wraps that of [Unmarshal].
func Decode(eventType string, data []byte, target any) (any, error) {
	if err := Unmarshal(data, target); err != nil {
		return nil, fmt.Errorf("decode event %q: %w", eventType, err)
	}
	return reflect.ValueOf(target).Elem().Interface(), nil
}

// Unmarshal is json.Unmarshal, except that an integer may be written with a
// fraction or exponent that does not matter, as in 1.0 or 1e3: JSON Schema calls
// them integers, and some providers' languages know no others.
func Unmarshal(data []byte, v any) error { return codec.Unmarshal(data, v) }
