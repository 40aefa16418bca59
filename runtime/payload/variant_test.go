package payload_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/restaq/restaq/runtime/payload"
)

type (
	animal  interface{ isAnimal() }
	cat     struct{ Lives int64 }
	dog     struct{ Barks bool }
	other   struct{ payload.Unknown }
	unnamed struct{}
)

func (cat) isAnimal()   {}
func (dog) isAnimal()   {}
func (other) isAnimal() {}

func TestKindIsTheTextOfAMember(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":{"kind":"x"},"kind":"cat"}`: "cat", `{"kind":"c\u0061t"}`: "cat", ` {"kind" : "cat" } `: "cat", `{"kind":1}`: "1", `{"kind":true}`: "true", `{"kind":false}`: "false",
		`{"kind":null}`: "", `{"kind":{}}`: "", `{"Kind":"cat"}`: "", `{}`: "", `null`: "", `[]`: "", `"kind"`: "", `1`: "", `{"kind":"a","kind":"b"}`: "b",
	} {
		if got := payload.Kind([]byte(in), "kind"); got != want {
			t.Errorf("%s is of kind %q, want %q", in, got, want)
		}
	}
}

func TestAVariantIsDecodedIntoItsInterface(t *testing.T) {
	var v animal = dog{}
	if err := payload.DecodeVariant[cat]([]byte(`{"Lives":9.0}`), &v); err != nil || v != animal(cat{9}) {
		t.Errorf("%#v, %v", v, err)
	}
	if err := payload.DecodeVariant[cat]([]byte(`null`), &v); err != nil || v != nil {
		t.Errorf("null: %#v, %v", v, err)
	}
	if err := payload.DecodeVariant[other]([]byte(` {"b":1,"a":1.0} `), &v); err != nil {
		t.Error(err)
	}
	if out, err := payload.EncodeVariant(v); err != nil || string(out) != `{"b":1,"a":1.0}` {
		t.Errorf("unknown: %s, %v", out, err)
	}
	if string(v.(other).Raw()) != `{"b":1,"a":1.0}` || v == animal(other{}) || (other{}).Raw() != nil {
		t.Errorf("raw: %#v", v)
	}
	if out, err := payload.EncodeVariant(nil); err != nil || string(out) != "null" {
		t.Errorf("nil: %s, %v", out, err)
	}
	if err := payload.DecodeVariant[cat]([]byte(`{"Lives":"nine"}`), &v); err == nil || v != nil {
		t.Errorf("a wrong type: %#v, %v", v, err)
	}
	if err := payload.DecodeVariant[unnamed]([]byte(`{}`), &v); err == nil {
		t.Error("a type that is no variant")
	}
}

type labels struct {
	ID    string           `json:"id"`
	Plus  *int64           `json:"+1,omitempty"`
	Extra map[string]int64 `json:"-"`
}

type plainLabels labels

func TestMembersBeyondTheFieldsAreKept(t *testing.T) {
	for in, want := range map[string]string{
		`{"id":"a","z":1,"b":9007199254740993}`: `{"id":"a","b":9007199254740993,"z":1}`, `{"x":1}`: `{"id":"","x":1}`, `{}`: `{"id":""}`, `null`: `{"id":""}`,
		`{"ID":5,"id":"a","+1":1}`: `{"id":"a","+1":1,"ID":5}`, `{"id":"a","x":1.0,"x":2}`: `{"id":"a","x":2}`, `{"id":null,"n":null}`: `{"id":"","n":0}`, `{"\u0078":1}`: `{"id":"","x":1}`,
	} {
		l := labels{Extra: map[string]int64{"old": 1}}
		if err := payload.DecodeExtra([]byte(in), (*plainLabels)(&l), &l.Extra); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		out, err := payload.EncodeExtra(plainLabels(l), l.Extra)
		if err != nil || string(out) != want {
			t.Errorf("%s became %s, %v; want %s", in, out, err, want)
		}
	}
	l := labels{ID: "a", Extra: map[string]int64{"id": 7, "<": 1}}
	if out, err := payload.EncodeExtra(plainLabels(l), l.Extra); err != nil || string(out) != `{"id":"a","<":1}` {
		t.Errorf("a member that has a field: %s, %v", out, err)
	}
	for _, bad := range []string{`[]`, `"x"`, `{`, `{"id":1}`} {
		if err := payload.DecodeExtra([]byte(bad), (*plainLabels)(&l), &l.Extra); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if err := payload.DecodeExtra([]byte(`{"x":"y","z":1}`), (*plainLabels)(&l), &l.Extra); err != nil || len(l.Extra) != 1 || l.Extra["z"] != 1 {
		t.Errorf("a member of another type: %v, %v", l.Extra, err)
	}
}

type counts struct {
	I    int64                   `json:"i"`
	U    uint64                  `json:"u"`
	N    payload.Number          `json:"n"`
	S    string                  `json:"s"`
	L    []int64                 `json:"l"`
	O    payload.Nullable[int64] `json:"o"`
	Deep *counts                 `json:"deep"`
	F    float64                 `json:"f"`
	M    map[string]int32        `json:"m"`
}

func TestAnIntegerMayBeWrittenWithAFraction(t *testing.T) {
	var c counts
	in := `{"n":1.0,"s":"1.0","i":1.0,"u":1.8446744073709551615e19,"l":[1.0,-2e0,3,1.0],"o":1e3,"deep":{"i":10E-1,"n":1.0},"f":1.0,"m":{"1.0":1.0},"l2":1.0}`
	if err := payload.Unmarshal([]byte(in), &c); err != nil {
		t.Fatal(err)
	}
	if c.I != 1 || c.U != math.MaxUint64 || c.N.String() != "1.0" || c.S != "1.0" || len(c.L) != 4 || c.L[1] != -2 || c.L[3] != 1 || c.O.Value() != 1000 || c.Deep.I != 1 || c.Deep.N.String() != "1.0" || c.M["1.0"] != 1 {
		t.Errorf("%+v", c)
	}
	for _, bad := range []string{`{"i":1.5}`, `{"i":"1.0"}`, `{"m":{"a":4294967296.0}}`, `{"s":1.0}`, `{"i":1.0`, `{"i":0.1e0}`} {
		if err := payload.Unmarshal([]byte(bad), new(counts)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if err := payload.Unmarshal([]byte(`{"i":1.5}`), new(counts)); err == nil {
		t.Error("1.5 is an integer")
	} else if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok || mismatch.Field != "i" {
		t.Errorf("the error does not name the member: %v", err)
	}
}
