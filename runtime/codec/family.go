package codec

import "fmt"

// FamilyReader returns the function that reads an event's payload for a handler
// of the family F, a sealed interface of an event package. Read is generated: it
// reads an event of the types that the package had then, and returns nil for
// another one, which goes to the package's own Decode. Integers are read as
// EventReader reads them.
func FamilyReader[F any](
	read func(d *Decoder, eventType string) F, decode func(eventType string, payload []byte) (any, error),
) func(eventType string, payload []byte) (F, error) {
	return func(eventType string, payload []byte) (F, error) {
		known := true
		one := func(d *Decoder, v *F) {
			*v = read(d, eventType)
			known = any(*v) != nil
		}
		if event, err := readEvent(one, eventType, payload); known {
			return event, err
		}
		return decodeOther[F](decode, eventType, payload)
	}
}

// decodeOther reads an event of a type that generated code does not know.
func decodeOther[F any](decode func(eventType string, payload []byte) (any, error), eventType string, payload []byte) (F, error) {
	event, err := decode(eventType, payload)
	if err != nil {
		return *new(F), err
	}
	member, ok := event.(F)
	if !ok {
		return *new(F), fmt.Errorf("decode %s: %T is not of the family", eventType, event)
	}
	return member, nil
}

// Read reads a value.
func Read[T any](d *Decoder, decode func(d *Decoder, v *T)) T { return *ReadPointer(d, decode) }

// ReadPointer reads a value and returns a pointer to it.
func ReadPointer[T any](d *Decoder, decode func(d *Decoder, v *T)) *T {
	v := new(T)
	decode(d, v)
	return v
}

// EncodeMember encodes an event of a family, a T or a pointer to one, with its
// type, as {"type":…,"payload":…}.
func EncodeMember[T any](e *Encoder, key, eventType string, event any, encode func(e *Encoder, key string, v *T)) {
	const payload = `,"payload":`
	start := e.Open(key)
	e.String(`,"type":`, eventType)
	switch x := event.(type) {
	case T:
		encode(e, payload, &x)
	case *T:
		if x == nil {
			e.Null(payload)
		} else {
			encode(e, payload, x)
		}
	}
	e.Close(start)
}

// EncodeNoMember encodes nil in the place of a family's event as null. A value
// that generated code does not know is an error: nothing could read it back.
func EncodeNoMember(e *Encoder, key string, event any) {
	if event != nil {
		e.fail(fmt.Errorf("encode an event: generated code knows no event type of %T: run go generate, and pass events as their package declares them", event))
		return
	}
	e.Null(key)
}

var memberFields = Fields{Names: []string{"type", "payload"}}

// DecodeMember reads what EncodeMember and EncodeNoMember write, with the
// functions that FamilyReader has.
func DecodeMember[F any](
	d *Decoder, v *F, read func(d *Decoder, eventType string) F, decode func(eventType string, payload []byte) (any, error),
) {
	*v = *new(F)
	if d.Null() {
		return
	}
	eventType, waiting := "", 0
	for i := d.Object(&memberFields); i >= 0; i = d.Next(&memberFields, i) {
		switch {
		case i == 0:
			DecodeString(d, &eventType)
		case eventType != "":
			*v, waiting = readMember(d, eventType, read, decode), 0
		default: // the type comes later
			waiting = d.pos
			d.skip()
		}
	}
	if end := d.pos; waiting > 0 && eventType != "" && d.err == nil {
		d.pos = waiting
		d.depth++
		*v = readMember(d, eventType, read, decode)
		d.depth--
		if d.err == nil {
			d.pos = end
		}
	}
	if any(*v) == nil {
		d.fail("want an event's type and payload")
	}
}

func readMember[F any](
	d *Decoder, eventType string, read func(d *Decoder, eventType string) F, decode func(eventType string, payload []byte) (any, error),
) F {
	event := read(d, eventType)
	if any(event) != nil {
		return event
	}
	text := d.value()
	if text == nil {
		return event
	}
	event, err := decodeOther[F](decode, eventType, text)
	if err != nil {
		d.unfit(text, err)
	}
	return event
}
