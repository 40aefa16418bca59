package payload_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/restaq/restaq/runtime/payload"
)

type customer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type sample struct {
	N *int64                         `json:"n"`
	O payload.Nullable[string]       `json:"o,omitzero"`
	E payload.Expandable[customer]   `json:"e,omitzero"`
	R payload.Expandable[customer]   `json:"r"`
	D payload.Number                 `json:"d"`
	T payload.Nullable[payload.Time] `json:"t,omitzero"`
	U payload.Unix                   `json:"u"`
}

// What was decoded is encoded back byte for byte.
func TestRoundTripKeepsForm(t *testing.T) {
	for _, in := range []string{
		`{"n":null,"r":null,"d":0,"u":0}`,
		`{"n":1,"o":null,"e":null,"r":"cus_1","d":1.10,"t":null,"u":1700000000}`,
		`{"n":1,"o":"x","e":{"id":"cus_2","name":"n","extra":[1,{"id":"no"}]},"r":{"id":7},"d":100000000000000000000000000001.0,"t":"2020-01-01 00:00:00","u":-1}`,
		`{"n":1,"o":"","e":"","r":[],"d":"12.50","t":1700000000,"u":1}`,
		`{"n":1,"r":true,"d":"not a number","t":"soon","u":1}`,
	} {
		var s sample
		if err := json.Unmarshal([]byte(in), &s); err != nil {
			t.Errorf("decode %s: %v", in, err)
			continue
		}
		out, err := json.Marshal(s)
		if err != nil || string(out) != in {
			t.Errorf("got %s, %v\nwant %s", out, err, in)
		}
	}
}

func TestExpandable(t *testing.T) {
	for in, want := range map[string]struct {
		id       string
		expanded bool
	}{
		`null`: {}, `"cus_1"`: {id: "cus_1"}, `{"a":{"id":"x"},"id":"cus\u005f2","z":1}`: {"cus_2", true}, `{"id":12345678901234567890}`: {"12345678901234567890", true},
		`42`: {id: "42"}, `{}`: {expanded: true}, ` {"a" : "\"}" , "id" : "b" } `: {"b", true}, `{"id":null}`: {expanded: true}, `["id"]`: {}, `{"ID":"upper"}`: {expanded: true},
	} {
		var e payload.Expandable[customer]
		if err := e.UnmarshalJSON([]byte(in)); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if e.ID() != want.id || e.Expanded() != want.expanded {
			t.Errorf("%s: id %q expanded %v, want %+v", in, e.ID(), e.Expanded(), want)
		}
		if _, err := e.Object(); (err == nil) != want.expanded && in[0] == '{' && e.ID() != "12345678901234567890" {
			t.Errorf("%s: Object: %v", in, err)
		}
	}
	var zero payload.Expandable[customer]
	if zero.ID() != "" || !zero.IsZero() || zero.IsNull() || zero.Raw() != nil {
		t.Errorf("the zero value is not absent: %+v", zero)
	}
	if _, err := zero.Object(); !errors.Is(err, payload.ErrNotExpanded) {
		t.Errorf("Object of nothing: %v", err)
	}
	whole, err := payload.Expand(customer{"cus_3", "Ann <a@b>"})
	if err != nil || whole.ID() != "cus_3" {
		t.Fatalf("Expand: %v, id %q", err, whole.ID())
	}
	if got, err := whole.Object(); err != nil || got.Name != "Ann <a@b>" {
		t.Errorf("Object: %+v, %v", got, err)
	}
	var same payload.Expandable[customer]
	if err := same.UnmarshalJSON([]byte(`"a<b"`)); err != nil || same != payload.Ref[customer]("a<b") {
		t.Errorf("equal references differ: %+v, %v", same, err)
	}
}

func TestNullableStates(t *testing.T) {
	var n payload.Nullable[int]
	if _, ok := n.Get(); ok || !n.IsZero() || n.IsNull() || n.Or(3) != 3 {
		t.Errorf("absent: %+v", n)
	}
	n = payload.Null[int]()
	if _, ok := n.Get(); ok || n.IsZero() || !n.IsNull() || n.Or(3) != 3 {
		t.Errorf("null: %+v", n)
	}
	n = payload.Of(0)
	if v, ok := n.Get(); !ok || v != 0 || n.IsZero() || n.IsNull() || n.Or(3) != 0 || n.Value() != 0 {
		t.Errorf("value: %+v", n)
	}
	if err := json.Unmarshal([]byte(`"x"`), &n); err == nil {
		t.Error("a string is no int")
	}
}

func TestTimeReadsWhatProvidersSend(t *testing.T) {
	for in, want := range map[string]string{
		`"2018-11-13T20:20:39+00:00"`: "2018-11-13T20:20:39Z", `"2020-01-01 00:00:00"`: "2020-01-01T00:00:00Z", `"2020-01-01T00:00:00.5Z"`: "2020-01-01T00:00:00.5Z",
		`1700000000`: "2023-11-14T22:13:20Z", `1700000000.5`: "2023-11-14T22:13:20.5Z", `"2020-01-02"`: "2020-01-02T00:00:00Z", `"2019-05-15 15:20:41 UTC"`: "2019-05-15T15:20:41Z",
		`"2019-05-15T15:20:41+0200"`: "2019-05-15T13:20:41Z", `"soon"`: "0001-01-01T00:00:00Z", `""`: "0001-01-01T00:00:00Z", `null`: "0001-01-01T00:00:00Z", `1e300`: "0001-01-01T00:00:00Z",
	} {
		var at payload.Time
		if err := json.Unmarshal([]byte(in), &at); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if got := at.Time().UTC().Format(time.RFC3339Nano); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
	now := time.Unix(1700000000, 5)
	if !payload.TimeOf(now).Time().Equal(now) || payload.TimeAt(1700000000).Time().Unix() != 1700000000 {
		t.Error("a time that was built can't be read")
	}
	if payload.UnixOf(now).Time().Unix() != 1700000000 {
		t.Error("UnixOf")
	}
	var at payload.Time
	if err := at.UnmarshalJSON([]byte(`{}`)); err == nil {
		t.Error("an object is no time")
	}
}

func TestNumber(t *testing.T) {
	for in, want := range map[string]int64{`1`: 1, `1.0`: 1, `1e3`: 1000, `"12"`: 12, `9007199254740993`: 9007199254740993, `null`: 0} {
		var n payload.Number
		if err := json.Unmarshal([]byte(in), &n); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if got, err := n.Int64(); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{`1.5`, `1e300`, `"x"`, `99999999999999999999`} {
		var n payload.Number
		if err := json.Unmarshal([]byte(in), &n); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if got, err := n.Int64(); err == nil {
			t.Errorf("%s is the integer %d", in, got)
		}
	}
	if _, err := payload.ParseNumber("abc"); err == nil {
		t.Error("abc is a number")
	}
	if _, err := payload.ParseNumber(`"1"`); err == nil {
		t.Error("a quoted number is a number")
	}
	if n := payload.NumberText("7"); !n.IsString() || n.String() != "7" {
		t.Errorf("NumberText: %v", n)
	}
	if f, err := payload.Int(3).Float64(); err != nil || f != 3 {
		t.Errorf("Float64: %v, %v", f, err)
	}
}

func TestDecodeReturnsTheStruct(t *testing.T) {
	got, err := payload.Decode("acme.x", []byte(`{"id":"1","unknown":true}`), new(customer))
	if err != nil || got != any(customer{ID: "1"}) {
		t.Errorf("got %#v, %v", got, err)
	}
	if _, err := payload.Decode("acme.x", []byte(`{`), new(customer)); err == nil {
		t.Error("broken JSON decodes")
	}
	if err := payload.UnknownType("acme.y"); !errors.Is(err, payload.ErrUnknownType) {
		t.Errorf("%v", err)
	}
}

// Whatever bytes come, decoding neither panics nor changes a value that it took.
func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{`null`, `"x"`, `{"id":"a"}`, `{"id":{"id":1}}`, `1.0`, `[1]`, `{"":"a","plain":"b","more":1.0}`, `["a",1e3,["x"],1.0]`, `{"i":1.0,"n":1.0}`, `{"i":1E81111111,"n":0}`, `tru`, ` 1 `, `{"a":"\\","id":"\""}`, "\"\xff\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		check[payload.Expandable[customer]](t, data)
		check[payload.Nullable[payload.Number]](t, data)
		check[payload.Number](t, data)
		check[payload.Time](t, data)
		check[payload.Unknown](t, data)
		var c counts
		if err := payload.Unmarshal(data, &c); err == nil && !json.Valid(data) {
			t.Fatalf("%q is no JSON, and taken", data)
		}
		checkObject(t, data)
	})
}

func check[T comparable](t *testing.T, data []byte) {
	var first, second T
	if err := any(&first).(json.Unmarshaler).UnmarshalJSON(data); err != nil {
		return
	}
	if !json.Valid(data) {
		t.Fatalf("%T took %q", first, data)
	}
	out, err := json.Marshal(first)
	if err != nil {
		t.Fatalf("%T took %q and can't encode it: %v", first, data, err)
	}
	if err := json.Unmarshal(out, &second); err != nil {
		t.Fatalf("%T does not read its own %q: %v", first, out, err)
	}
	again, err := json.Marshal(second)
	if err != nil || string(again) != string(out) {
		t.Fatalf("%T: %q became %q (%v)", first, out, again, err)
	}
	switch v := any(first).(type) {
	case payload.Time:
		_, _ = v.Parse()
	case payload.Expandable[customer]:
		_, _ = v.Object()
	}
}

// checkObject holds structs with methods of their own to the same.
func checkObject(t *testing.T, data []byte) {
	type plain oddly
	odd := payload.Odd{Tag: "odd:Empty", Name: ""}
	var v, w oddly
	if payload.DecodeExtra(data, (*plain)(&v), &v.Extra, odd) == nil {
		out, err := payload.EncodeExtra(plain(v), v.Extra, odd)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%q became %q, %v", data, out, err)
		}
		if err := payload.DecodeExtra(out, (*plain)(&w), &w.Extra, odd); err != nil || !reflect.DeepEqual(v, w) {
			t.Fatalf("%q became %q, and that %+v: %v", data, out, w, err)
		}
	}
	var three triple
	if payload.DecodeTuple(data, &three.Rest, &three.A, &three.B, &three.C) == nil {
		if out, err := payload.EncodeTuple(0, three.Rest, three.A, three.B, three.C); err != nil || !json.Valid(out) {
			t.Fatalf("%q became %q, %v", data, out, err)
		}
	}
	var one animal
	if payload.DecodeVariant[other](data, &one) == nil {
		_ = payload.Kind(data, "kind")
	}
}
