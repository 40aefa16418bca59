package codectest

import (
	"encoding"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// maxFill is how deep a random value goes.
const maxFill = 6

// strs are strings that are worth trying.
var strs = []string{
	"", "a", "id", "name", "null", "0", "1.0", "<b>&amp;\u2028\u2029", "\x00\x01\b\f\n\r\t\x1f\x7f\"\\/", "grüße, 世界 🙂", "\xff", "a\xe2\x82", "\xed\xa0\x80", "é\xffé",
	"seven77", "eight888", "nine99999", "exactly sixteen!", "seventeen chars..", strings.Repeat("long ", 40), strings.Repeat("x", 600), "2020-01-02T03:04:05Z", "<", "&", "'",
}

var ints = []int64{0, 1, -1, 9, 10, 127, 128, -128, -129, 255, 256, 32767, 65535, 1 << 31, -1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 53, math.MaxInt64, math.MinInt64, 999999999999999999, 1000000000000000000}

var floats = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.1, 1e20, 1e21, 1e22, 1e-6, 1e-7, 9.999e-7, 5e-324, math.MaxFloat64, 123456.789, 1e100, -1e-100, float64(float32(0.1)), 3.4e38, 16777216, 100,
}

// fill sets v to a random value that encoding/json can encode, most of the time.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	if !v.CanSet() {
		return
	}
	if fillKnown(r, v) || r.IntN(5) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(pick(r, ints))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(pick(r, ints)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(pick(r, floats))
		if r.IntN(200) == 0 {
			v.SetFloat(math.Inf(1))
		}
	case reflect.String:
		v.SetString(pick(r, strs))
	case reflect.Interface:
		if v.NumMethod() == 0 && depth < maxFill {
			if x := anything(r, depth); x != nil {
				v.Set(reflect.ValueOf(x))
			}
		}
	case reflect.Pointer:
		if depth < maxFill {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth+1)
		}
	default:
		fillMany(r, v, depth)
	}
}

// fillMany fills what has elements.
func fillMany(r *rand.Rand, v reflect.Value, depth int) {
	n := r.IntN(4)
	if depth > maxFill {
		n = 0
	}
	switch v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range n {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key, maxFill)
			fill(r, value, depth+1)
			v.SetMapIndex(key, value)
		}
	}
}

// fillKnown fills types that cannot be filled by what they are made of.
func fillKnown(r *rand.Rand, v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Unix(r.Int64N(4e9), r.Int64N(2)*r.Int64N(1e9)).In(time.FixedZone("", 60*(r.IntN(1000)-500)))
		if r.IntN(30) == 0 {
			*p = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		}
	case *json.RawMessage:
		*p = pick(r, []json.RawMessage{nil, nil, json.RawMessage(`null`), json.RawMessage(` { "a" : [ 1 , "<\u2028 \\\"" ] } `), json.RawMessage(`1`), json.RawMessage("\"\xff\""), json.RawMessage(`"é<"`)})
		if r.IntN(100) == 0 {
			*p = json.RawMessage(`[1,]`)
		}
	case *json.Number:
		*p = pick(r, []json.Number{"", "0", "-1.5e9", "12345678901234567890"})
	case json.Unmarshaler:
		for range 5 {
			if p.UnmarshalJSON(pick(r, samples)) == nil {
				break
			}
		}
	case encoding.TextUnmarshaler:
		_ = p.UnmarshalText([]byte(pick(r, strs)))
	default:
		return false
	}
	return true
}

// samples are JSON texts of all kinds.
var samples = [][]byte{
	[]byte(`null`), []byte(`true`), []byte(`"x"`), []byte(`""`), []byte(`0`), []byte(`-1.5e9`), []byte(`12`), []byte(`{}`), []byte(`[]`), []byte(`{"id":"x_1","a":[1,{"b":"<"}]}`),
	[]byte(`[1,2,3]`), []byte(`"2020-01-02T03:04:05Z"`), []byte(`1.0`), []byte(`{"kind":"x"}`), []byte(`"gr\u00fc\ud83d\ude00\ud83d\\"`), []byte(`1e400`), []byte(`"AAEC"`), []byte(`{"\u0069d":1}`),
}

// anything is a random value for an interface.
func anything(r *rand.Rand, depth int) any {
	switch r.IntN(12) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return pick(r, floats)
	case 3:
		return pick(r, strs)
	case 4:
		m := map[string]any{}
		for range r.IntN(3) {
			m[pick(r, strs)] = anything(r, depth+2)
		}
		return m
	case 5:
		list := []any{}
		for range r.IntN(3) {
			list = append(list, anything(r, depth+2))
		}
		return list
	case 6:
		return int(pick(r, ints))
	case 7:
		return pick(r, ints)
	case 8:
		return json.Number("1e5")
	case 9:
		return []string{"a", "<"}
	case 10:
		return map[int]string{2: "b", 10: "a"}
	}
	return struct {
		A string `json:"a,omitempty"`
		B []byte
	}{strconv.Itoa(r.IntN(10)), []byte("b")}
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
