package codec_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/restaq/restaq/runtime/codec"
)

func TestEqualValuesHaveEqualFingerprints(t *testing.T) {
	groups := [][]string{
		{`null`, ` null `},
		{`true`}, {`false`},
		{`0`, `-0`, `0.0`, `0e7`, `-0.00E-3`},
		{`1`, `1.0`, `1e0`, `10e-1`, `0.1e1`, `1E+0`},
		{`-1`, `-1.000`},
		{`1200`, `1.2e3`, `12E2`, `1200.0`},
		{`9007199254740993`}, {`9007199254740992`},
		{`1e400`, `10e399`}, {`1e99999999999999999999`},
		{`""`}, {`"1"`, `"\u0031"`}, {`"null"`},
		{`"é"`, `"\u00e9"`, `"\u00E9"`}, {`"e\u0301"`},
		{`[]`, `[ ]`}, {`{}`, `{ }`}, {`[[]]`}, {`[null]`}, {`[0]`, `[0.0]`},
		{`[1,2]`, `[1.0, 2e0]`}, {`[2,1]`}, {`[[1],2]`}, {`[[1,2]]`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, "{\n\"b\": 2.0, \"\\u0061\": 1}"},
		{`{"a":2,"b":1}`}, {`{"a":{"b":1}}`}, {`{"a":1}`}, {`{"a":1,"b":null}`},
		{`[{"a":1},{"b":2}]`}, {`[{"a":1,"b":2}]`},
	}
	key := []byte("0123456789abcdef")
	seen := make(map[string]string)
	for _, group := range groups {
		first, err := codec.Fingerprint(key, []byte(group[0]))
		if err != nil {
			t.Fatalf("%s: %v", group[0], err)
		}
		if len(first) != 17 || first[0] != codec.FingerprintV1 {
			t.Fatalf("%s: fingerprint %x has the wrong form", group[0], first)
		}
		for _, text := range group[1:] {
			if got, err := codec.Fingerprint(key, []byte(text)); err != nil || !bytes.Equal(got, first) {
				t.Errorf("%s: %x, %v; want that of %s", text, got, err, group[0])
			}
		}
		if other, taken := seen[string(first)]; taken {
			t.Errorf("%s and %s share a fingerprint", group[0], other)
		}
		seen[string(first)] = group[0]
	}
}

func TestFingerprintDependsOnTheKey(t *testing.T) {
	a, _ := codec.Fingerprint([]byte("one"), []byte(`1`))
	b, _ := codec.Fingerprint([]byte("two"), []byte(`1`))
	if bytes.Equal(a, b) {
		t.Error("two keys give one fingerprint")
	}
}

func TestFingerprintRefusesWhatIsNotOneJSONValue(t *testing.T) {
	for _, text := range []string{``, ` `, `[`, `[1`, `{"a"`, `{"a":}`, `1 2`, `tru`, `[1]]`, `{"a":1}x`, `01`} {
		if got, err := codec.Fingerprint(nil, []byte(text)); err == nil {
			t.Errorf("%q: fingerprint %x, want an error", text, got)
		}
	}
}

// The fingerprints of algorithm 1 are stored: they must never change.
func TestFingerprintIsStable(t *testing.T) {
	got, err := codec.Fingerprint([]byte("key"), []byte(`["cus_1",2999,{"a":[true,null],"b":-1.50}]`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "01f5a8cab5d490eb5d8ed01abc8b20af95"
	if hex.EncodeToString(got) != want {
		t.Errorf("fingerprint %x, want %s", got, want)
	}
}

func TestFingerprintOfWhatIsAppendedIsThatOfTheText(t *testing.T) {
	text := []byte(`["cus_1",2999,{"a":[true,null],"b":-1.50}]`)
	want, err := codec.Fingerprint([]byte("key"), text)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // with a buffer that was used before
		got, err := codec.FingerprintOf([]byte("key"), func(dst []byte) ([]byte, error) { return append(dst, text...), nil })
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%x, %v; want %x", got, err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := codec.FingerprintOf(nil, func([]byte) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("%v, want the error of what appends", err)
	}
	huge := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	if _, err := codec.FingerprintOf(nil, func(dst []byte) ([]byte, error) { return append(dst, huge...), nil }); err != nil {
		t.Error(err)
	}
}

func TestEncodingsShareNoMemory(t *testing.T) {
	for _, size := range []int{0, 1, 100, 4095, 4096, 4097, 1 << 20} {
		appendTo := func(dst []byte, c *byte) ([]byte, error) { return append(dst, bytes.Repeat([]byte{*c}, size)...), nil }
		a, b := byte('a'), byte('b')
		one, err := codec.Encode(&a, appendTo)
		if err != nil {
			t.Fatal(err)
		}
		two, err := codec.Encode(&b, appendTo)
		if err != nil {
			t.Fatal(err)
		}
		if one == nil || !bytes.Equal(one, bytes.Repeat([]byte("a"), size)) || !bytes.Equal(two, bytes.Repeat([]byte("b"), size)) {
			t.Errorf("%d bytes: another encoding shows", size)
		}
	}
}

func TestTupleRoundTrip(t *testing.T) {
	data, err := codec.AppendTuple([]byte("x"), "a", 7, []int{1})
	if err != nil || string(data) != `x["a",7,[1]]` {
		t.Fatalf("AppendTuple: %s, %v", data, err)
	}
	var (
		s  string
		n  int
		is []int
	)
	if err := codec.DecodeTuple(data[1:], &s, &n, &is); err != nil || s != "a" || n != 7 || !reflect.DeepEqual(is, []int{1}) {
		t.Errorf("DecodeTuple: %q %d %v, %v", s, n, is, err)
	}
	for _, bad := range []string{``, `{}`, `[]`, `["a",7]`, `["a",7,[1],2]`, `["a",7,[1]] 1`, `["a","b",[1]]`, `["a",7,[1]`} {
		if err := codec.DecodeTuple([]byte(bad), &s, &n, &is); err == nil {
			t.Errorf("DecodeTuple(%q): no error", bad)
		}
	}
	if _, err := codec.AppendTuple(nil, make(chan int)); err == nil {
		t.Error("AppendTuple of a channel: no error")
	}
}
