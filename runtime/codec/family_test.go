package codec_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/restaq/restaq/runtime/codec"
)

// A family of three events, as its package declares them. The last came after
// the code below was generated, which knows the others.
type (
	family interface{ sealed() }
	opened struct{ N int }
	closed struct{ N int }
	jammed struct{ N int }
	other  struct{}
)

func (opened) sealed()  {}
func (*closed) sealed() {}
func (jammed) sealed()  {}

func decode(eventType string, payload []byte) (any, error) {
	switch eventType {
	case "door.jammed":
		var e jammed
		err := json.Unmarshal(payload, &e)
		return e, err
	case "other":
		return other{}, nil
	}
	return nil, errors.New("unknown event type")
}

func encodeFamily(e *codec.Encoder, key string, v *family) {
	switch x := (*v).(type) {
	case opened, *opened:
		codec.EncodeMember(e, key, "door.opened", x, encodeOpened)
	case *closed:
		codec.EncodeMember(e, key, "door.closed", x, codec.EncodeJSON[closed])
	default:
		codec.EncodeNoMember(e, key, x)
	}
}

func decodeFamily(d *codec.Decoder, v *family) { codec.DecodeMember(d, v, readFamily, decode) }

func readFamily(d *codec.Decoder, eventType string) family {
	switch eventType {
	case "door.opened":
		return codec.Read(d, decodeOpened)
	case "door.closed":
		return codec.ReadPointer(d, codec.DecodeJSON[closed])
	}
	return nil
}

var openedFields = codec.Fields{Names: []string{"N"}}

func encodeOpened(e *codec.Encoder, key string, v *opened) {
	start := e.Open(key)
	e.Int(`,"N":`, int64(v.N))
	e.Close(start)
}

func decodeOpened(d *codec.Decoder, v *opened) {
	for i := d.Object(&openedFields); i >= 0; i = d.Next(&openedFields, i) {
		codec.DecodeInt(d, &v.N)
	}
}

func TestAFamilysEventRoundTripsWithItsType(t *testing.T) {
	for _, tt := range []struct {
		in, out family
		text    string
	}{
		{opened{1}, opened{1}, `{"type":"door.opened","payload":{"N":1}}`},
		{&opened{1}, opened{1}, `{"type":"door.opened","payload":{"N":1}}`},
		{(*opened)(nil), opened{}, `{"type":"door.opened","payload":null}`},
		{&closed{2}, &closed{2}, `{"type":"door.closed","payload":{"N":2}}`},
		{nil, nil, `null`},
	} {
		data, err := codec.Appender(encodeFamily)(nil, &tt.in)
		if err != nil || string(data) != tt.text {
			t.Errorf("%#v: encoded %s, %v; want %s", tt.in, data, err, tt.text)
			continue
		}
		var out family = jammed{9}
		if err := codec.Reader(decodeFamily)(data, &out); err != nil || !same(out, tt.out) {
			t.Errorf("%s: decoded %#v, %v; want %#v", data, out, err, tt.out)
		}
	}
}

func same(a, b family) bool {
	if x, ok := a.(*closed); ok {
		y, ok := b.(*closed)
		return ok && *x == *y
	}
	return a == b
}

// A record is read whatever the order of its members, also if its type is one
// that generated code does not know.
func TestAFamilysRecordIsReadInAnyOrder(t *testing.T) {
	for text, want := range map[string]family{
		` { "payload" : { "N" : 1 } , "x":[{}], "type" : "door.opened" } `: opened{1},
		`{"type":"door.jammed","payload": {"N":3}}`:                        jammed{3},
		`{"payload":{"N":3},"type":"door.jammed","payload":{"N":4}}`:       jammed{4},
	} {
		var e family
		if err := codec.Reader(decodeFamily)([]byte(text), &e); err != nil || e != want {
			t.Errorf("%s: %#v, %v", text, e, err)
		}
	}
	deep := strings.Repeat("[", 9_998) + strings.Repeat("]", 9_998)
	for text, fails := range map[string]bool{
		`{"payload":{"N":1,"x":` + deep + `},"type":"door.opened"}`:   false,
		`{"payload":{"N":1,"x":[` + deep + `]},"type":"door.opened"}`: true,
		`{"type":"door.opened","payload":{"N":1,"x":` + deep + `}}`:   false,
		`{"type":"door.opened","payload":{"N":1,"x":[` + deep + `]}}`: true,
	} {
		var e family
		if err := codec.Reader(decodeFamily)([]byte(text), &e); (err != nil) != fails {
			t.Errorf("%.60s: %#v, %v", text, e, err)
		}
	}
}

func TestWhatIsNoMemberOfAFamilyIsAnError(t *testing.T) {
	for _, v := range []family{jammed{1}, struct{ opened }{}} {
		if data, err := codec.Appender(encodeFamily)(nil, &v); err == nil || len(data) > 0 || !strings.Contains(err.Error(), "run go generate") {
			t.Errorf("%#v: encoded %s, %v", v, data, err)
		}
	}
	for text, want := range map[string]string{
		``:                                    "unexpected end",
		`{}`:                                  "want an event's type and payload",
		`{"type":"door.opened"}`:              "want an event's type and payload",
		`{"payload":{"N":1}}`:                 "want an event's type and payload",
		`[]`:                                  "want an object",
		`{"type":"other","payload":{}}`:       "offset 26: decode other: codec_test.other is not of the family",
		`{"type":"x","payload":{}}`:           "unknown event type",
		`{"payload":{},"type":"x"}`:           "offset 11: unknown event type",
		`{"type":"door.opened","payload":{]}`: "want a member's name",
		`{"payload":{"N":""},"type":"door.opened"}`:  "payload.N: offset 16",
		`{"type":"door.opened","payload":{"N":1.0}}`: "payload.N",
	} {
		var e family = opened{1}
		if err := codec.Reader(decodeFamily)([]byte(text), &e); err == nil || !strings.Contains(err.Error(), want) || e != nil {
			t.Errorf("%s: %v, %v; want an error with %q", text, e, err, want)
		}
	}
}

func TestAHandlerOfAFamilyReadsItsEvents(t *testing.T) {
	read := codec.FamilyReader(readFamily, decode)
	for eventType, want := range map[string]family{"door.opened": opened{1}, "door.jammed": jammed{1}} {
		if e, err := read(eventType, []byte(`{"N":1}`)); err != nil || e != want {
			t.Errorf("%s: %#v, %v", eventType, e, err)
		}
	}
	if e, err := read("door.opened", []byte(`{"N":1.0}`)); err != nil || e != (opened{1}) {
		t.Errorf("an integer with a fraction: %#v, %v", e, err)
	}
	e, err := read("door.opened", []byte(`{"N":1e30}`))
	if _, ok := err.(*codec.RangeError); !ok || e != (opened{math.MaxInt}) {
		t.Errorf("an integer beyond 64 bits: %#v, %v", e, err)
	}
	for eventType, want := range map[string]string{
		"other":       "decode other: codec_test.other is not of the family",
		"door.opened": "decode door.opened: read JSON value: offset 0: unexpected end",
		"door.jammed": "unexpected end",
		"x":           "unknown event type",
	} {
		if e, err := read(eventType, nil); err == nil || !strings.Contains(err.Error(), want) || e != nil {
			t.Errorf("%s: %v, %v; want an error with %q", eventType, e, err, want)
		}
	}
}

func TestAnEventsIntegersMayBeWrittenWithAFraction(t *testing.T) {
	read := codec.EventReader(decodeOpened)
	for text, want := range map[string]int{"1.0": 1, "-2e3": -2000, "0.0": 0, "0.12e2": 12, "100e-2": 1} {
		if e, err := read("door.opened", []byte(`{"N":`+text+`}`)); err != nil || e.N != want {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
	}
	for _, text := range []string{"1.5", "1e-1", "1e-400", "1e-99999999999999999999", "1.", "01.0"} {
		if _, err := read("door.opened", []byte(`{"N":`+text+`}`)); err == nil || !strings.HasPrefix(err.Error(), "decode door.opened: read JSON value: N: offset 5: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnEventsIntegerBeyond64BitsIsTheNearest(t *testing.T) {
	type wide struct {
		N     int64
		U     uint64
		Small int8
		Tiny  uint8
		List  []int64
		JSON  struct{ A, B int64 }
	}
	read := codec.EventReader(func(d *codec.Decoder, e *wide) {
		fields := codec.Fields{Names: []string{"N", "U", "Small", "List", "JSON", "Tiny"}}
		for i := d.Object(&fields); i >= 0; i = d.Next(&fields, i) {
			switch i {
			case 0:
				codec.DecodeInt(d, &e.N)
			case 1:
				codec.DecodeUint(d, &e.U)
			case 2:
				codec.DecodeInt(d, &e.Small)
			case 3:
				codec.DecodeSlice(d, &e.List, codec.DecodeInt)
			case 4:
				codec.DecodeJSON(d, &e.JSON)
			case 5:
				codec.DecodeUint(d, &e.Tiny)
			}
		}
	})
	zeros := strings.Repeat("0", 100)
	for _, c := range []struct {
		text  string
		want  wide
		path  string
		count int
	}{
		{`{"N":9223372036854775807,"U":18446744073709551615}`, wide{N: math.MaxInt64, U: math.MaxUint64}, "", 0},
		{`{"N":-9223372036854775808}`, wide{N: math.MinInt64}, "", 0},
		{`{"N":9223372036854775808}`, wide{N: math.MaxInt64}, "N", 1},
		{`{"N":-9223372036854775809}`, wide{N: math.MinInt64}, "N", 1},
		{`{"N":123456789012345678901234567890}`, wide{N: math.MaxInt64}, "N", 1},
		{`{"N":-1e300,"U":1e19}`, wide{N: math.MinInt64, U: 1e19}, "N", 1},
		{`{"N":1.5e99999999999999999999}`, wide{N: math.MaxInt64}, "N", 1},
		{`{"N":0.0E99999999999999999999,"U":0.` + zeros + `}`, wide{}, "", 0},
		{`{"N":7.` + zeros + `,"U":` + "8" + zeros + "e-100" + `}`, wide{N: 7, U: 8}, "", 0},
		{`{"U":18446744073709551616}`, wide{U: math.MaxUint64}, "U", 1},
		{`{"U":-1}`, wide{}, "U", 1},
		{`{"U":-0,"Tiny":-0}`, wide{}, "", 0},
		{`{"List":[1,99999999999999999999,-99999999999999999999]}`, wide{List: []int64{1, math.MaxInt64, math.MinInt64}}, "List[1]", 2},
		{`{"JSON":{"A":99999999999999999999,"B":2.0}}`, wide{JSON: struct{ A, B int64 }{math.MaxInt64, 2}}, "JSON", 1},
	} {
		event, err := read("door.opened", []byte(c.text))
		if !reflect.DeepEqual(event, c.want) {
			t.Errorf("%s: %+v", c.text, event)
		}
		beyond, ok := err.(*codec.RangeError)
		if ok != (c.count > 0) || !ok && err != nil || ok && (beyond.Path != c.path || beyond.Count != c.count) {
			t.Errorf("%s: %v", c.text, err)
		}
		var same wide // encoding/json reads the same
		if err := codec.Unmarshal([]byte(c.text), &same); err != nil || !reflect.DeepEqual(same, c.want) {
			t.Errorf("%s: Unmarshal: %+v, %v", c.text, same, err)
		}
		plain := codec.Reader(func(d *codec.Decoder, n *int64) { // a record
			codec.DecodeInt(d, n)
		})
		if err := plain([]byte("9223372036854775808"), new(int64)); err == nil {
			t.Error("a record is read as the nearest")
		}
	}
	for _, text := range []string{`{"Small":128}`, `{"Small":1e30}`, `{"Tiny":-1}`, `{"Tiny":-1e30}`, `{"Tiny":256}`, `{"N":1.5}`, `{"N":"1"}`} {
		if _, err := read("door.opened", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "decode door.opened: ") {
			t.Errorf("%s: %v", text, err)
		}
		if err := codec.Unmarshal([]byte(text), new(wide)); err == nil {
			t.Errorf("%s: Unmarshal takes it", text)
		}
	}
}
