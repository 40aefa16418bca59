package payload_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/restaq/restaq/runtime/codec"
	"github.com/restaq/restaq/runtime/payload"
)

type severalHolder struct {
	Names payload.OneOrMany[string]         `json:"names,omitzero"`
	Deep  payload.OneOrMany[severalHolder]  `json:"deep,omitzero"`
	Holes payload.OneOrMany[*int64]         `json:"holes,omitzero"`
	Exact payload.OneOrMany[payload.Number] `json:"exact"`
}

// A value comes back in the form in which it came, by encoding/json and by what
// generated codecs call.
func TestOneOrManyRemembersItsForm(t *testing.T) {
	for _, text := range []string{
		`{"exact":null}`,
		`{"names":"a","exact":1.50}`,
		`{"names":[],"exact":["1",2.0]}`,
		`{"names":["a"],"deep":{"names":"b","exact":null},"exact":[]}`,
		`{"names":null,"deep":[{"exact":1e400},{"names":["",""],"exact":0}],"holes":[1,null],"exact":-0}`,
		`{"holes":7,"exact":"x"}`,
	} {
		var v, w severalHolder
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		read := codec.EventReader(func(d *codec.Decoder, h *severalHolder) {
			fields := codec.Fields{Names: []string{"names", "deep", "holes", "exact"}}
			for i := d.Object(&fields); i >= 0; i = d.Next(&fields, i) {
				switch i {
				case 0:
					payload.DecodeValue(d, &h.Names)
				case 1:
					payload.DecodeValue(d, &h.Deep)
				case 2:
					payload.DecodeValue(d, &h.Holes)
				case 3:
					payload.DecodeValue(d, &h.Exact)
				}
			}
		})
		w, err := read("a.b", []byte(text))
		if err != nil || !reflect.DeepEqual(v, w) {
			t.Errorf("%s: codec %+v, %v; encoding/json %+v", text, w, err, v)
		}
		out, err := json.Marshal(v)
		if err != nil || string(out) != text {
			t.Errorf("%s became %s, %v", text, out, err)
		}
		sameEncoding(t, &v.Names)
		sameEncoding(t, &v.Deep)
		sameEncoding(t, &v.Holes)
		sameEncoding(t, &v.Exact)
	}
}

// sameEncoding compares a codec's encoding with that of encoding/json.
func sameEncoding[T any](t *testing.T, v *payload.OneOrMany[T]) {
	t.Helper()
	want, err := json.Marshal(v)
	if got, gotErr := codec.Appender(payload.EncodeValue[payload.OneOrMany[T]])(nil, v); err != nil || gotErr != nil || string(got) != string(want) {
		t.Errorf("codec encodes %s, %v; encoding/json %s, %v", got, gotErr, want, err)
	}
}

func TestOneOrManyOfAnotherTypeIsRefused(t *testing.T) {
	for _, text := range []string{`5`, `{"a":1}`, `[1]`, `["a"`, `"a`, ``, `x`} {
		var v payload.OneOrMany[string]
		if err := v.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
		read := codec.Reader(payload.DecodeValue[payload.OneOrMany[string]])
		if err := read([]byte(text), &v); err == nil || !v.IsZero() {
			t.Errorf("%s is taken by the codec: %v", text, v)
		}
	}
}

func TestOneOrManyReadsWideIntegersAsAnEventsAre(t *testing.T) {
	var v payload.OneOrMany[int64]
	if err := v.UnmarshalJSON([]byte(` [1.0, 99999999999999999999]`)); err != nil || !reflect.DeepEqual(v.Values(), []int64{1, math.MaxInt64}) {
		t.Errorf("%v, %v", v.Values(), err)
	}
}
