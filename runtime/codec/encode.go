package codec

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// Signed are the signed integers.
type Signed interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64
}

// Unsigned are the unsigned integers.
type Unsigned interface {
	~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// EncodeBool encodes *v, nil as null.
func EncodeBool[T ~bool](e *Encoder, key string, v *T) {
	if v == nil {
		e.Null(key)
		return
	}
	e.Bool(key, bool(*v))
}

// EncodeInt encodes *v, nil as null.
func EncodeInt[T Signed](e *Encoder, key string, v *T) {
	if v == nil {
		e.Null(key)
		return
	}
	e.Int(key, int64(*v))
}

// EncodeUint encodes *v, nil as null.
func EncodeUint[T Unsigned](e *Encoder, key string, v *T) {
	if v == nil {
		e.Null(key)
		return
	}
	e.Uint(key, uint64(*v))
}

// EncodeFloat32 encodes *v, nil as null. Infinities and NaN are an error.
func EncodeFloat32[T ~float32](e *Encoder, key string, v *T) {
	if v == nil {
		e.Null(key)
		return
	}
	e.Float32(key, float32(*v))
}

// EncodeFloat64 encodes *v, nil as null. Infinities and NaN are an error.
func EncodeFloat64[T ~float64](e *Encoder, key string, v *T) {
	if v == nil {
		e.Null(key)
		return
	}
	e.Float64(key, float64(*v))
}

// EncodeString encodes *v, nil as null.
func EncodeString[T ~string](e *Encoder, key string, v *T) {
	if v == nil {
		e.Null(key)
		return
	}
	e.String(key, string(*v))
}

// EncodeBytes encodes *v in base64.
func EncodeBytes[T ~[]byte](e *Encoder, key string, v *T) { e.Bytes(key, *v) }

// EncodeTime encodes *v.
func EncodeTime(e *Encoder, key string, v *time.Time) { e.Time(key, v) }

// EncodeRaw encodes a json.RawMessage.
func EncodeRaw[T ~[]byte](e *Encoder, key string, v *T) { e.Raw(key, *v) }

// EncodeNumber encodes *v, which is an error unless it is a number as JSON has
// it; "" is 0.
func EncodeNumber(e *Encoder, key string, v *json.Number) {
	if *v == "" {
		e.Int(key, 0)
		return
	}
	d := Decoder{data: []byte(*v)}
	if len(d.number()) < len(*v) {
		e.JSON(key, v) // an error
		return
	}
	e.add(key)
	e.add(string(*v))
}

// EncodeJSON leaves *v to encoding/json.
func EncodeJSON[T any](e *Encoder, key string, v *T) { e.JSON(key, v) }

// EncodePointer encodes **v, or null.
func EncodePointer[T any](e *Encoder, key string, v **T, encode func(e *Encoder, key string, v *T)) {
	if *v == nil {
		e.Null(key)
		return
	}
	encode(e, key, *v)
}

// EncodePresent encodes *v, or nothing if v is nil.
func EncodePresent[T any](e *Encoder, key string, v *T, encode func(e *Encoder, key string, v *T)) {
	if v != nil {
		encode(e, key, v)
	}
}

// EncodeSlice encodes *v as an array, nil as null.
func EncodeSlice[S ~[]T, T any](e *Encoder, key string, v *S, encode func(e *Encoder, key string, v *T)) {
	if *v == nil {
		e.Null(key)
		return
	}
	EncodeArray(e, key, *v, encode)
}

// EncodeArray encodes all elements of an array.
func EncodeArray[T any](e *Encoder, key string, v []T, encode func(e *Encoder, key string, v *T)) {
	start := e.Open(key)
	for i := range v {
		encode(e, ",", &v[i])
	}
	e.CloseArray(start)
}

// EncodeMap encodes *v as an object whose members are in the order of their
// names, nil as null.
func EncodeMap[M ~map[K]T, K ~string, T any](e *Encoder, key string, v *M, encode func(e *Encoder, key string, v *T)) {
	encodeMap(e, key, v, func(k K) string { return string(k) }, func(name string) K { return K(name) }, encode)
}

// EncodeIntMap is EncodeMap for a map whose keys are signed integers.
func EncodeIntMap[M ~map[K]T, K Signed, T any](e *Encoder, key string, v *M, encode func(e *Encoder, key string, v *T)) {
	encodeMap(e, key, v, func(k K) string { return strconv.FormatInt(int64(k), 10) }, func(name string) K {
		n, _ := strconv.ParseInt(name, 10, 64)
		return K(n)
	}, encode)
}

// EncodeUintMap is EncodeMap for a map whose keys are unsigned integers.
func EncodeUintMap[M ~map[K]T, K Unsigned, T any](e *Encoder, key string, v *M, encode func(e *Encoder, key string, v *T)) {
	encodeMap(e, key, v, func(k K) string { return strconv.FormatUint(uint64(k), 10) }, func(name string) K {
		n, _ := strconv.ParseUint(name, 10, 64)
		return K(n)
	}, encode)
}

// encodeMap encodes a map; name and back turn its keys into text and back.
func encodeMap[M ~map[K]T, K cmp.Ordered, T any](
	e *Encoder, key string, v *M, name func(K) string, back func(string) K, encode func(e *Encoder, key string, v *T),
) {
	if *v == nil {
		e.Null(key)
		return
	}
	from := len(e.keys)
	for k := range *v {
		e.keys = append(e.keys, name(k))
	}
	slices.Sort(e.keys[from:])
	start := e.Open(key)
	var value T
	for i := from; i < len(e.keys) && e.err == nil; i++ {
		k := e.keys[i]
		value = (*v)[back(k)]
		e.String(",", k)
		e.buf = append(e.buf, ':')
		encode(e, "", &value)
	}
	e.keys = e.keys[:from]
	e.Close(start)
}

// IsZero reports whether *v is its type's zero value as the tag option omitzero
// means it, for a type that cannot say so itself.
func IsZero[T any](v *T) bool { return reflect.ValueOf(v).Elem().IsZero() }

// EncodeNone encodes the inputs of a step that has none: an empty array.
func EncodeNone(e *Encoder, key string, _ *struct{}) { e.CloseArray(e.Open(key)) }
