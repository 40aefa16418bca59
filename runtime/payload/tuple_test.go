package payload_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/restaq/restaq/runtime/payload"
)

type triple struct {
	A string
	B *int64
	C payload.Nullable[[]string]

	Rest []payload.Number
}

func TestATupleIsAnArray(t *testing.T) {
	for in, want := range map[string]string{
		`["a",1,["x"],1.0,2]`: `["a",1,["x"],1.0,2]`, `["a",1.0,null]`: `["a",1,null]`, `["a"]`: `["a"]`, `["a",1]`: `["a",1]`,
		`["a",null,[]]`: `["a",null,[]]`, `[]`: `[""]`, `null`: `[""]`, `["a",null]`: `["a"]`,
	} {
		v := triple{A: "old", B: new(int64(7)), Rest: []payload.Number{payload.Int(1)}}
		if err := payload.DecodeTuple([]byte(in), &v.Rest, &v.A, &v.B, &v.C); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if out, err := payload.EncodeTuple(0, v.Rest, v.A, v.B, v.C); err != nil || string(out) != want {
			t.Errorf("%s became %s, %v; want %s", in, out, err, want)
		}
	}
	var at payload.Time
	if out, err := payload.EncodeTuple(0, nil, at); err != nil || string(out) != `[null]` {
		t.Errorf("a time that always comes: %s, %v", out, err)
	}
	if out, err := payload.EncodeTuple(2, nil, "a", (*int64)(nil), []string(nil)); err != nil || string(out) != `["a",null]` {
		t.Errorf("null that always comes: %s, %v", out, err)
	}
	var raw json.RawMessage
	if out, err := payload.EncodeTuple(0, nil, raw); err != nil || string(out) != `[]` {
		t.Errorf("nothing: %s, %v", out, err)
	}
	var v triple
	for in, want := range map[string]string{`{}`: "json:", `[1]`: "item 1", `["a",1,[1]]`: "item 3", `["a",1,[],{}]`: "item 4", `[`: "unexpected end"} {
		if err := payload.DecodeTuple([]byte(in), &v.Rest, &v.A, &v.B, &v.C); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
	if err := payload.DecodeTuple([]byte(`["a",1,2]`), nil, &v.A); err != nil || v.A != "a" {
		t.Errorf("items that nobody asked for: %v", err)
	}
}

type oddly struct {
	Plain string  `json:"plain"`
	Empty *string `json:"odd:Empty,omitempty"`

	Extra map[string]int64 `json:"-"`
}

func TestMembersOfOddNames(t *testing.T) {
	odd := []payload.Odd{{Tag: "odd:Empty", Name: ""}}
	type plain oddly
	for in, want := range map[string]string{
		`{"":"a","plain":"b","more":1}`: `{"plain":"b","":"a","more":1}`, `{"odd:Empty":"a"}`: `{"plain":""}`, `{"odd:Empty":1}`: `{"plain":"","odd:Empty":1}`, `null`: `{"plain":""}`,
	} {
		var v oddly
		if err := payload.DecodeExtra([]byte(in), (*plain)(&v), &v.Extra, odd...); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if out, err := payload.EncodeExtra(plain(v), v.Extra, odd...); err != nil || string(out) != want {
			t.Errorf("%s became %s, %v; want %s", in, out, err, want)
		}
		var w oddly
		if err := payload.DecodeOdd([]byte(in), (*plain)(&w), odd...); err != nil || w.Extra != nil {
			t.Errorf("%s: %v, %v", in, w, err)
		}
		if out, err := payload.EncodeOdd(plain(w), odd...); err != nil || strings.Contains(string(out), `"odd:`) {
			t.Errorf("%s became %s, %v", in, out, err)
		}
	}
}
