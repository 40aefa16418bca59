package codec

import (
	"encoding/json"
	"fmt"
)

// DecodeFamily reads an event's payload by its event package's Decode, for a
// handler of the family F, a sealed interface of that package.
func DecodeFamily[F any](decode func(eventType string, payload []byte) (any, error), eventType string, payload []byte) (F, error) {
	var none F
	event, err := decode(eventType, payload)
	if err != nil {
		return none, err
	}
	member, ok := event.(F)
	if !ok {
		return none, fmt.Errorf("decode %s: %T is not of the handler's family", eventType, event)
	}
	return member, nil
}

// Member is a pointer to an event of the family F that can be encoded and
// decoded, with the event's type beside it. See [NewMember].
type Member[F any] struct {
	event  *F
	typeOf func(event F) string
	decode func(eventType string, payload []byte) (any, error)
}

// NewMember returns event in a form that can be encoded and decoded: typeOf
// names an event's type, "" for nil, and decode is the event package's Decode.
func NewMember[F any](event *F, typeOf func(event F) string, decode func(eventType string, payload []byte) (any, error)) *Member[F] {
	return &Member[F]{event, typeOf, decode}
}

// member is the JSON form of a Member.
type member struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// MarshalJSON returns the event and its type, or null for a nil event.
func (m *Member[F]) MarshalJSON() ([]byte, error) {
	eventType := m.typeOf(*m.event)
	if eventType == "" {
		return []byte("null"), nil
	}
	payload, err := json.Marshal(*m.event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(member{eventType, payload})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Member[F]) UnmarshalJSON(data []byte) error {
	var read *member
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	if read == nil {
		*m.event = *new(F)
		return nil
	}
	event, err := DecodeFamily[F](m.decode, read.Type, read.Payload)
	if err != nil {
		return err
	}
	*m.event = event
	return nil
}
