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
	if e, err := codec.DecodeEvent[opened]("door.opened", []byte(`{"N":1.0}`)); err != nil || e.N != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := codec.DecodeEvent[opened]("door.opened", []byte(`{"N":1.5}`)); err == nil || !strings.HasPrefix(err.Error(), "decode door.opened: json: ") {
		t.Errorf("1.5: %v", err)
	}
}
