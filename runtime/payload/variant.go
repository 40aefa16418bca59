package payload

import (
	"encoding/json"
	"fmt"
)

// Unknown is an object of a kind that a schema does not know, as received. The
// zero value is null. Generated packages embed it.
type Unknown struct{ raw string }

// Raw returns the JSON text as received, nil for null.
func (u Unknown) Raw() json.RawMessage {
	if u.raw == "" {
		return nil
	}
	return json.RawMessage(u.raw)
}

// MarshalJSON encodes what was received.
func (u Unknown) MarshalJSON() ([]byte, error) {
	if u.raw == "" {
		return []byte("null"), nil
	}
	return []byte(u.raw), nil
}

// UnmarshalJSON keeps any JSON value.
func (u *Unknown) UnmarshalJSON(data []byte) error {
	raw, err := validText(data)
	if err != nil {
		return err
	}
	if raw == "null" {
		raw = ""
	}
	u.raw = raw
	return nil
}

// Kind returns what the member called tag of a valid JSON object says: the text
// of a string, a number or boolean as it stands. It is "" if there is no such
// member or data is no object. Generated code calls it.
func Kind(data []byte, tag string) string {
	s := string(data)
	start := skipSpace(s, 0)
	if start == len(s) || s[start] != '{' {
		return ""
	}
	raw := member(s[start:], tag)
	if raw == "true" || raw == "false" {
		return raw
	}
	return text(raw)
}

// DecodeVariant decodes data into a new T and sets *value, a variable of an
// interface that T implements, to it. Null is nil. Generated code calls it.
func DecodeVariant[T, I any](data []byte, value *I) error {
	var none I
	*value = none
	if string(data) == "null" {
		return nil
	}
	var v T
	if err := Unmarshal(data, &v); err != nil {
		return err
	}
	member, ok := any(v).(I)
	if !ok {
		return fmt.Errorf("decode variant: %T is none", v)
	}
	*value = member
	return nil
}

// EncodeVariant encodes the value of an interface, or null. Generated code calls
// it.
func EncodeVariant(value any) ([]byte, error) { return json.Marshal(value) }
