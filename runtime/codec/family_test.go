package codec_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/restaq/restaq/runtime/codec"
)

type (
	family interface{ sealed() }
	opened struct{ N int }
	closed struct{ N int }
	other  struct{}
)

func (opened) sealed() {}
func (closed) sealed() {}

func typeOf(f family) string {
	switch f.(type) {
	case opened, *opened:
		return "door.opened"
	case closed, *closed:
		return "door.closed"
	}
	return ""
}

func decode(eventType string, payload []byte) (any, error) {
	switch eventType {
	case "door.opened":
		var e opened
		err := json.Unmarshal(payload, &e)
		return e, err
	case "door.closed":
		var e closed
		err := json.Unmarshal(payload, &e)
		return e, err
	case "other":
		return other{}, nil
	}
	return nil, errors.New("unknown event type")
}

func TestAFamilysEventRoundTripsWithItsType(t *testing.T) {
	for _, tt := range []struct {
		in, out family
		text    string
	}{
		{opened{1}, opened{1}, `[{"type":"door.opened","payload":{"N":1}}]`},
		{&closed{2}, closed{2}, `[{"type":"door.closed","payload":{"N":2}}]`},
		{nil, nil, `[null]`},
	} {
		data, err := codec.AppendTuple(nil, codec.NewMember(&tt.in, typeOf, decode))
		if err != nil || string(data) != tt.text {
			t.Errorf("%#v: encoded %s, %v; want %s", tt.in, data, err, tt.text)
			continue
		}
		var out family = other2{}
		if err := codec.DecodeTuple(data, codec.NewMember(&out, typeOf, decode)); err != nil || out != tt.out {
			t.Errorf("%s: decoded %#v, %v; want %#v", data, out, err, tt.out)
		}
	}
}

type other2 struct{ opened }

func TestDecodeFamilyRefusesWhatIsNoMember(t *testing.T) {
	for eventType, want := range map[string]string{
		"other":       "decode other: codec_test.other is not of the handler's family",
		"door.opened": "unexpected end",
		"x":           "unknown event type",
	} {
		if e, err := codec.DecodeFamily[family](decode, eventType, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want an error with %q", eventType, e, err, want)
		}
	}
	var e family
	for _, broken := range []string{``, `{}`, `{"type":"x"}`, `[]`, `{"type":"other","payload":{}}`} {
		if err := codec.Decode([]byte(broken), codec.NewMember(&e, typeOf, decode)); err == nil {
			t.Errorf("%s: decoded as %v", broken, e)
		}
	}
}

func TestAnEventsIntegersMayBeWrittenWithAFraction(t *testing.T) {
	read := codec.EventReader(func(d *codec.Decoder, e *opened) {
		fields := codec.Fields{Names: []string{"N"}}
		for i := d.Object(&fields); i >= 0; i = d.Next(&fields, i) {
			codec.DecodeInt(d, &e.N)
		}
	})
	for text, want := range map[string]int{"1.0": 1, "-2e3": -2000, "0.0": 0, "0.12e2": 12, "100e-2": 1} {
		if e, err := read("door.opened", []byte(`{"N":`+text+`}`)); err != nil || e.N != want {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
	}
	for _, text := range []string{"1.5", "1e400", "1e19", "1e-1", "1.", "01.0"} {
		if _, err := read("door.opened", []byte(`{"N":`+text+`}`)); err == nil || !strings.HasPrefix(err.Error(), "decode door.opened: read JSON value: N: offset 5: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
