package codecs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
	"time"
)

// Sample is a value of T as a provider might have sent it: with something in
// most fields, and little in those that may be left out. All of it is made up.
func Sample[T any]() T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), "", 0)
	return v
}

// SampleReceipt is an output of some 200 bytes.
func SampleReceipt() Receipt {
	return Receipt{
		ChargeID: "ch_3Qk20xKt9wBBu1zy0", Customer: "cus_Rf81kPq02mMz", Amount: 129900, Fee: 3277, Currency: "eur", Paid: true,
		Lines: []Line{{"shirt-blue-m", 2}, {"mug-white", 1}}, At: time.Date(2026, 3, 1, 12, 30, 15, 250_000_000, time.UTC),
	}
}

// maxFill is how deep objects are filled.
const maxFill = 6

func fill(v reflect.Value, name string, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(name))
	case reflect.Int64:
		v.SetInt(int64(hash(name)%900_000_000) + 1000)
	case reflect.Float64:
		v.SetFloat(float64(hash(name)%1000) / 8)
	case reflect.Bool:
		v.SetBool(hash(name)%2 == 0)
	case reflect.Pointer:
		// A third of what may be null is.
		if depth < maxFill && hash(name)%3 != 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), name, depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if options == "" || isThere(name) {
				fill(v.Field(i), name, depth+1)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`null`))
		} else if depth < maxFill {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), name, depth+1)
		}
	case reflect.Map:
		if depth < maxFill {
			key, value := reflect.ValueOf("order_id").Convert(v.Type().Key()), reflect.New(v.Type().Elem()).Elem()
			fill(value, name, depth+1)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		}
	}
}

// isThere says whether a member that may be left out is there: a payment by card,
// and one in sixteen of the others.
func isThere(name string) bool { return name == "card" || hash(name)%16 == 0 }

func hash(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// text is a text that suits a member's name.
func text(name string) string {
	switch {
	case name == "url" || strings.HasSuffix(name, "_url") || name == "href":
		return "https://api.example.com/repos/acme-widgets/storefront/" + strings.TrimSuffix(name, "_url") + "{/number}"
	case strings.HasSuffix(name, "_at"):
		return "2026-03-01T12:30:15Z"
	case strings.HasSuffix(name, "id"):
		return fmt.Sprintf("obj_%08x%08x", hash(name), hash(name+"2"))
	case name == "body" || name == "description":
		return "Adds a page for orders.\n\nIt lists them by day, \"newest first\" – and leaves out what was cancelled."
	case name == "sha":
		return "9f0c6d1e2b7a4c53d8e1f0a2b4c6d8e0f1a3b5c7"
	}
	return "storefront-" + name
}

// Shuffled returns an object's text with the members of every object in an
// order of their own, as a provider's order is not that of a schema.
func Shuffled(data []byte) []byte {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return data
	}
	if data[0] == '[' {
		var list []json.RawMessage
		must(json.Unmarshal(data, &list))
		for i := range list {
			list[i] = Shuffled(list[i])
		}
		return Encoded(list)
	}
	var members map[string]json.RawMessage
	must(json.Unmarshal(data, &members))
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	sortBy(names, hash)
	out := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, Encoded(name)...), ':'), Shuffled(members[name])...)
	}
	return append(out, '}')
}

func sortBy(names []string, key func(string) uint32) {
	for i := range names {
		for j := i; j > 0 && key(names[j]) < key(names[j-1]); j-- {
			names[j], names[j-1] = names[j-1], names[j]
		}
	}
}

// Encoded returns v's JSON, by encoding/json.
func Encoded(v any) []byte {
	data, err := json.Marshal(v)
	must(err)
	return data
}

// must is for what cannot fail.
func must(err error) {
	if err != nil {
		panic("codecs: " + err.Error())
	}
}
