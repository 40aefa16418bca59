package corpus

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/restaq/restaq/runtime/codec"
	"github.com/restaq/restaq/runtime/codec/codectest"
	"github.com/restaq/restaq/runtime/codec/codectest/corpus/foreign"
)

// The cases of the kinds on which codecs leave encoding/json, by what they are
// about: each text is decoded, and what it gives is encoded again, by the
// generated codec and by encoding/json.
func TestTextsMeanWhatTheyMeanToEncodingJSON(t *testing.T) {
	var (
		omitted  = codectest.Of("Omitted", encodeOmitted, decodeOmitted)
		zeros    = codectest.Of("Zeros", encodeZeros, decodeZeros)
		commas   = codectest.Of("Commas", encodeCommas, decodeCommas)
		numbers  = codectest.Of("Numbers", encodeNumbers, decodeNumbers)
		texts    = codectest.Of("Texts", encodeTexts, decodeTexts)
		quoted   = codectest.Of("Quoted", encodeQuoted, decodeQuoted)
		outer    = codectest.Of("Outer", encodeOuter, decodeOuter)
		clash    = codectest.Of("Clash", encodeClash, decodeClash)
		pointers = codectest.Of("Pointers", encodePointers, decodePointers)
		many     = codectest.Of("Many", encodeMany, decodeMany)
		maps     = codectest.Of("Maps", encodeMaps, decodeMaps)
		plain    = codectest.Of("Plain", encodePlain, decodePlain)
		custom   = codectest.Of("Custom", encodeCustom, decodeCustom)
		payloads = codectest.Of("Payload", encodePayload, decodePayload)
		node     = codectest.Of("Node", encodeNode, decodeNode)
	)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct {
		about string
		of    codectest.Case
		texts []string
	}{
		{"what is left out when empty", omitted, []string{`{}`, `{"int":0,"float":-0,"string":"","slice":[],"map":{},"any":null,"raw":null,"flag":false}`, `{"float":-0.0,"float32":-0,"raw":0,"RawPtr":null,"none":[1],"two":[1]}`}},
		{"what is left out when zero", zeros, []string{`{}`, `{"slice":[],"map":{},"two":[0,-0],"both":{},"day":{"when":"1999-01-01T00:00:00Z"},"maybe":{"N":7},"choice":null}`, `{"maybe":{"N":0},"choice":0}`}},
		{"commas where the first, middle, last or all are left out", commas, []string{`{}`, `{"a":1}`, `{"b":1}`, `{"c":1}`, `{"e":1}`, `{"a":1,"b":2,"c":3,"d":4,"e":5}`}},
		{"embedding", outer, []string{`{"id":"a","Shade":"b","Deep":1,"left":1,"Right":2,"shown":3,"named":{"id":"c"},"tagged":{"T":1},"Level":4,"D":9,"id2":"x"}`, `{"left":null}`, `{"tagged":null}`, `{"ID":"case","SHADE":"x"}`}},
		{"a clash of names", clash, []string{`{"Name":"a"}`, `{"name":"a"}`, `{"Other":"a"}`}},
		{"values in strings", quoted, []string{
			`{"int":"1"}`, `{"int":1}`, `{"int":"01"}`, `{"int":"-0"}`, `{"int":"-5"}`, `{"int":"+5"}`, `{"int":"1.0"}`, `{"int":"1e2"}`, `{"int":""}`, `{"int":"-"}`, `{"int":"1`, `{"int":"\u0031"}`, `{"int":"9223372036854775807"}`, `{"int":"9223372036854775808"}`, `{"level":"32768"}`, `{"uint":"-1"}`, `{"uint":"255"}`, `{"int":"5","int":null}`, `{"int":"5","int":"null"}`, `{"omit":"0"}`, `{"int":" 1"}`, `{"int":"1 "}`, `{"int":"x"}`, `{"int":null}`, `{"int":"null"}`, `{"uint":"256"}`, `{"float":"1e400"}`, `{"bool":"true"}`, `{"bool":true}`,
			`{"string":"\"a\""}`, `{"string":"a"}`, `{"ptr":"null"}`, `{"ptr":null}`, `{"ptr":"5"}`, `{"level":"7","text":"\"w\"","f32":"0.1"}`,
		}},
		{"members twice", pointers, []string{`{"leaf":{"id":"a","score":1},"leaf":{"id":"b"}}`, `{"int":1,"int":2}`, `{"twice":{"id":"a"},"twice":null,"twice":{"score":2}}`, `{"map":{"a":{"id":"x"}},"map":{"a":{"score":1},"b":null}}`}},
		{"slices twice", many, []string{`{"Leaves":[{"id":"a","score":1},{"id":"b"}],"Leaves":[{"score":2}],"Leaves":[{},{"id":"c"},{}]}`, `{"Strings":["a","b"],"Strings":[]}`, `{"Three":[{"id":"a"},{"id":"b"}],"Three":[{"score":1}]}`, `{"Ptrs":[{"id":"a"},null],"Ptrs":[null,{"score":1}]}`}},
		{"what strings escape", texts, []string{`{"Plain":"<>&\u2028\u2029\u007f\b\f\n\r\t\u0001\"\\\/"}`, "{\"Plain\":\"\u2028<\u00e9\"}", `{"<&>":"x","\u003c\u0026\u003e":"y"}`, `{"GRÜSSE":"a","GRÜßE":"b","Grüße":"c"}`, `{"k":"a","K":"b","` + "\u212a" + `":"c"}`, `{"ſ":"x","iD":"y","id":"z","ID":"w"}`}},
		{"bytes that are no UTF-8", texts, []string{"{\"Plain\":\"\xff\"}", "{\"Plain\":\"\xed\xa0\x80\"}", "{\"Plain\":\"a\xe2\x82\"}", "{\"\xff\":\"a\"}", `{"Plain":"\ud800"}`, `{"Plain":"\ud83d\ude00\ude00\ud83dx"}`, `{"Plain":"\ud83d\u0041"}`}},
		{"numbers", numbers, []string{
			`{"I":1.0}`, `{"I":1e2}`, `{"I":01}`, `{"I":+1}`, `{"I":-}`, `{"I":-0}`, `{"I64":9223372036854775807}`, `{"I64":9223372036854775808}`, `{"I64":-9223372036854775808}`, `{"I64":-9223372036854775809}`, `{"I8":128}`, `{"I8":-129}`, `{"U":-1}`, `{"U":-0}`, `{"U64":18446744073709551615}`, `{"U64":18446744073709551616}`,
			`{"F64":1e400}`, `{"F64":-1e-400}`, `{"F32":3.5e38}`, `{"F32":0.1,"F64":0.1}`, `{"F64":1e20}`, `{"F64":1e21}`, `{"F64":1e-6}`, `{"F64":1e-7}`, `{"F64":-0}`, `{"F64":5e-324}`, `{"F64":1.7976931348623157e308}`, `{"F32":16777217}`, `{"F32":1e-7}`, `{"F32":1e21}`, `{"F64":.5}`, `{"F64":1.}`, `{"F64":1e}`, `{"F64":0x1}`,
			`{"Num":1.10}`, `{"Num":"1.10"}`, `{"Num":"x"}`, `{"Num":null}`, `{"Num":1,"Num":null}`, `{"Num":-0.0e+1}`, `{"Num":1,"Num":"2"}`, `{"Num":""}`, `{"Num":" 1"}`, `{"Num":true}`, `{"Nums":[1,"2",null],"NumP":null}`, `{"NumP":1e400}`, `{"I":"1"}`, `{"I":true}`, `{"Dur":1500000000,"Rune":65}`, `{"I":100000000000000000000}`, `{"I":000000000000000000000}`,
		}},
		{"keys of maps", maps, []string{
			`{"Ints":{"1":"a","10":"b","2":"c","-1":"d"}}`, `{"Ints":{"x":"a"}}`, `{"Ints":{"1.0":"a"}}`, `{"Ints":{"+1":"a","01":"b","-0":"c"}}`, `{"Small":{"128":true}}`, `{"Uints":{"256":1}}`, `{"Uints":{"-1":1}}`, `{"Colors":{"red":1,"BLUE":2}}`, `{"Colors":{"bad":1}}`,
			`{"Strings":null}`, `{"Strings":{"b":"1","a":"2","":"3","<":"4","\u0000":"5"}}`, `{"Strings":{"a":"1"},"Strings":{"b":"2"}}`, `{"Words":{"a":{"id":"x"},"a":{"score":1}}}`, "{\"Strings\":{\"\xff\":\"a\",\"\xfe\":\"b\"}}", `{"Levels":{"32768":[]}}`, `{"Structs":{"a":{"A":1}}}`,
			`{"Addrs":{"::2":"b","::1":"a","1.2.3.4":"c"}}`, `{"Addrs":{"x":"b"}}`, `{"Addrs":{"":"b"},"Addrs":null}`, `{"Keys":{"0a0b0c0d":{"id":"a"},"01020304":null},"Keys":{"0A0B0C0D":{"score":1}}}`, `{"Keys":{"x":1}}`, `{"Codes":{"\u003c1>":1,"1":2,"10":3,"9":4}}`, `{"Codes":{"127":1}}`, `{"Codes":{"128":1}}`, `{"Big":{"b":1,"a":null}}`,
		}},
		{"raw texts", plain, []string{`{"Raw": [ 1 , "<\u2028" ] }`, `{"Raw":null}`, `{"Raw":"<"}`, `{"Raw":{"a":1,"a":2}}`, `{"Raw":tru}`, "{\"Raw\":\"\xff\"}", `{"Raw":1,"Raw":[]}`, `{"list":[1,"a",null,true,{"b":[]}],"rest":{"a":{}}}`, `{"Any":1,"Any":{"a":1},"Any":{"b":2}}`}},
		{"types that encode themselves", custom, []string{`{"Cents":1.5,"Ptr":2}`, `{"Cents":null,"Ptr":null}`, `{"Shy":["a"],"ShyPtr":["b"],"List":[["c"],["d"]]}`, `{"Shy":1}`, `{"Color":"red"}`, `{"Color":"bad"}`, `{"Color":null}`, `{"Color":1}`, `{"Closed":{"seen":1,"hidden":2}}`, `{"Embeds":{"base_id":"a","Depth":2,"Name":"c"}}`, `{"Half":"a"}`, `{"Broken":{"N":2}}`, `{"Broken":null}`, `{"Broken":[]}`,
			`{"big":12345678901234567890,"big_ptr":-1}`, `{"big":"1"}`, `{"big":null,"big_ptr":null}`, `{"big":1.0}`, `{"big":5,"big":null}`, `{"level":"INFO+2"}`, `{"level":null}`, `{"Open":{"id":"a","inner":{"level":3}}}`}},
		{"types that are texts by methods", custom, []string{
			`{"key":"0a0b0c0d","key_ptr":"00000000","keys":["01020304",null]}`, `{"key":"\u0030a0b0c0d"}`, `{"key":"x"}`, `{"key":""}`, `{"key":1}`, `{"key":[1,2,3,4]}`, `{"key":"0a0b0c0d","key":null}`, `{"key_ptr":"0a0b0c0d","key_ptr":null}`, `{"key":"0a0b0c0d`, `{"key":"\x"}`,
			`{"code":"<7>"}`, `{"code":7}`, `{"code":null}`, `{"code":"7"}`, "{\"code\":\"\xff\"}", `{"addr":"::1","prefix":"10.0.0.0/8"}`, `{"addr":"::1","addr":null,"prefix":null}`, `{"addr":""}`, `{"ip":"1.2.3.4"}`, `{"ip":"1.2.3.4","ip":null}`, `{"ip":"AQIDBA=="}`, `{"float":"1.5"}`, `{"float":1.5}`,
		}},
		{"times", custom, []string{`{"Time":"2020-01-02T03:04:05.123456789Z"}`, `{"Time":"2020-01-02T03:04:05+01:00"}`, `{"Time":"2020-01-02t03:04:05z"}`, `{"Time":"2020-01-02T03:04:05,5Z"}`, `{"Time":"2020-01-02 03:04:05Z"}`, `{"Time":null}`, `{"Time":1}`, `{"Time":""}`, `{"Time":"2020-01-02T03:04:05\u005a"}`, `{"Time":"10000-01-01T00:00:00Z"}`}},
		{"bytes", many, []string{`{"Bytes":null}`, `{"Bytes":""}`, `{"Bytes":"AA=="}`, `{"Bytes":"AAE="}`, `{"Bytes":"AAEC"}`, `{"Bytes":"AA\nEC"}`, `{"Bytes":"-_-_"}`, `{"Bytes":"AA"}`, `{"Bytes":[1,2,255]}`, `{"Bytes":[256]}`, `{"Named":"AAEC"}`, `{"Octets":"AAEC"}`, `{"Octets":[1]}`, `{"Fixed":[1,2,3,4]}`, `{"Fixed":"AAEC"}`, `{"Bytes":"AAEC","Bytes":[9]}`}},
		{"null", pointers, []string{`null`, `{"int":null,"string":null,"leaf":null,"twice":null,"slice":null,"map":null,"any":null,"time":null,"array":null,"cents":null,"color":null,"null":null}`, `{"leaf":{"id":null,"score":null}}`, `{"any":null,"any":1}`}},
		{"null in values", numbers, []string{`{"I":null,"U8":null,"F64":null,"Num":null,"L":null}`, ` null `}},
		{"nesting", plain, []string{`{"Any":` + deep(9_998) + `}`, `{"Any":` + deep(9_999) + `}`, `{"Any":` + deep(10_000) + `}`, `{"unknown":` + deep(9_999) + `}`, `{"unknown":` + deep(10_000) + `}`, `{"Raw":` + deep(9_999) + `}`, `{"Raw":` + deep(10_000) + `}`, `{"unknown":` + strings.Repeat("[", 1_000_000) + `}`}},
		{"what stands around the value", commas, []string{"{} \t\r\n", `{}x`, `{}{}`, "\ufeff{}", ``, `  `, `{`, "{}\x00", "\x00{}", `[]`, `1`, `"a"`, `true`}},
		{"unknown members", commas, []string{
			`{"x":tru}`, `{"x":01}`, `{"x":1.}`, `{"x":[}]}`, `{"x":{"a":}}`, `{"x":"\x"}`, `{"x":"\u12"}`, `{"x":nul}`, `{"x":1e+}`, "{\"x\":\"\x01\"}", `{"x":[1,]}`, `{"x":{,}}`, `{"x":{"a" 1}}`, `{"x" 1}`, `{x:1}`, `{"x":1,}`,
			`{"x":[{"y":"}"},-1.5e+3,"\"\\",null],"b":7}`, `{"x":{},"y":[],"b":7,"z":"\ud800"}`,
		}},
		{"types that contain themselves", node, []string{`{"name":"a","next":{"next":{}},"kids":[{},null],"by":{"x":{"peer":{"peers":[{}]}}}}`}},
		{"types of package payload", payloads, []string{`{}`, `{"null":null,"leaf":null,"list":null,"ref":null,"time":null,"time_ptr":null}`, `{"null":"","leaf":{},"list":[1,"x",null],"ref":"a\u0062","raw_ref":{"id":"x","a":[ 1 ]},"number":"1.50","time":"soon","ints":{"a":1.0}}`, `{"number":{}}`, `{"time":true}`, `{"list":["x",{}]}`}},
	} {
		t.Run(tt.about, func(t *testing.T) {
			for _, text := range tt.texts {
				if err := tt.of.Text(text); err != nil {
					t.Errorf("%.300v", err)
				}
			}
		})
	}
}

// A text that ends too soon, at whatever byte, is an error and no panic.
func TestATruncatedTextIsAnError(t *testing.T) {
	whole := `{"name":"a\u00e9\n","kids":[{"name":"b","any":[1.5e3,true,{"x":null}]}],"by":{"k":{"peer":{"node":null,"peers":[]}}},"unknown":[-1,"\ud83d\ude00"]}`
	read := codec.Reader(decodeNode)
	for n := range len(whole) {
		var v Node
		err := read([]byte(whole[:n]), &v)
		var where *codec.Error
		if !errors.As(err, &where) || where.Offset > n || v.Name != "" || v.Kids != nil {
			t.Errorf("%s: %v, %+v", whole[:n], err, v)
		}
	}
	if err := read([]byte(whole), new(Node)); err != nil {
		t.Error(err)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	read := codec.Reader(decodeNode)
	for text, want := range map[string]string{
		`{"name":1}`: "read JSON value: name: offset 8: have '1', want a string",
		`{"kids":[{},{"by":{"a":{"peer":{"peers":[{},{"node":7}]}}}}]}`: "read JSON value: kids[1].by.a.peer.peers[1].node: offset 52: have '7', want an object",
		`{"kids":[{}{}]}`:         "read JSON value: kids[0]: offset 11: have an object, want , or ]",
		`[]`:                      "read JSON value: offset 0: have an array, want an object",
		`{"other":{"level":"x"}}`: "read JSON value: other.level: offset 18: have a string, want an integer",
		`{} 1`:                    "read JSON value: offset 3: data after the JSON value",
	} {
		if err := read([]byte(text), new(Node)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// What cannot be encoded is an error, and nothing is left of it.
func TestValuesWithoutAJSONFormAreErrors(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		values := []any{f, []any{f}, map[string]any{"a": f}, float32(f), []float64{f}}
		for _, v := range values {
			if err := codectest.Value(encodePlain, &Plain{Any: v}); err != nil {
				t.Error(err)
			}
		}
		if err := codectest.Value(encodeNumbers, &Numbers{F32: float32(f)}); err != nil {
			t.Error(err)
		}
		if _, err := codec.Appender(encodeLeaf)(nil, &Leaf{Score: f}); err == nil {
			t.Errorf("%v is encoded", f)
		}
	}
	for _, raw := range []string{`[1,]`, ``, ` `, `1 2`, `tru`, "\"\x01\""} {
		if err := codectest.Value(encodePlain, &Plain{Raw: json.RawMessage(raw)}); err != nil {
			t.Error(err)
		}
	}
	for _, at := range []time.Time{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2020, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3661)), time.Date(2020, 1, 1, 0, 0, 0, 0, time.FixedZone("", 25*3600))} {
		if err := codectest.Value(encodeCustom, &Custom{Time: at}); err != nil {
			t.Error(err)
		}
	}
}

// A value that contains itself is an error; one that is merely deep is not.
func TestValuesThatContainThemselvesAreErrors(t *testing.T) {
	node := &Node{Name: "a"}
	node.Kids = []*Node{node, node}
	tree := Tree{}
	tree["a"], tree["b"] = tree, tree
	forest := Forest{nil, nil}
	forest[0], forest[1] = forest, forest
	list := []any{nil, nil}
	list[0], list[1] = list, list
	if _, err := codec.Appender(encodeNode)(nil, node); err == nil {
		t.Error("a pointer")
	}
	if _, err := codec.Appender(encodeTree)(nil, &tree); err == nil {
		t.Error("a map")
	}
	if _, err := codec.Appender(encodeForest)(nil, &forest); err == nil {
		t.Error("a slice")
	}
	if _, err := codec.Appender(encodePlain)(nil, &Plain{Any: list}); err == nil {
		t.Error("an interface")
	}
	deep := &Node{}
	for range 5000 {
		deep = &Node{Next: deep}
	}
	if err := codectest.Value(encodeNode, deep); err != nil {
		t.Errorf("%.300v", err)
	}
}

// Methods that only a pointer has are called where encoding/json calls them, and
// what they return is checked.
func TestMethodsAreCalledWhereEncodingJSONCallsThem(t *testing.T) {
	for _, v := range []*Custom{
		{}, {Shy: foreign.Shy{S: "a"}, ShyPtr: &foreign.Shy{S: "b"}, List: []foreign.Shy{{S: "c"}}, Ptr: &foreign.Cents{N: 5}, Closed: foreign.Hide(3)},
	} {
		if err := codectest.Value(encodeCustom, v); err != nil {
			t.Error(err)
		}
	}
	for n := range 256 {
		for _, v := range []*Custom{{Broken: foreign.Broken{N: n}}, {Code: foreign.Code(n)}, {Key: foreign.Key{byte(n)}}, {Half: foreign.Half{S: string([]byte{byte(n)})}}} {
			if err := codectest.Value(encodeCustom, v); err != nil {
				t.Error(err)
			}
		}
		if err := codectest.Value(encodeMaps, &Maps{Codes: map[foreign.Code]int{foreign.Code(n): n, 10: 1, 9: 2}}); err != nil {
			t.Error(err)
		}
	}
	for _, n := range []json.Number{"", "0", "-", "-0", "01", "1.", "1.5", "1e", "1E+5", " 1", "1 ", "1 2", "NaN", "x", "+1", "\"1\"", "1\n", "-1e-400"} {
		if err := codectest.Value(encodeNumbers, &Numbers{Num: n, Nums: []json.Number{n}, NumP: &n}); err != nil {
			t.Error(err)
		}
	}
	if err := codectest.Value(encodeMaps, &Maps{Shy: map[string]foreign.Shy{"a": {S: "x"}}, Colors: map[foreign.Color]int{"b": 1, "a": 2}}); err != nil {
		t.Error(err)
	}
}
