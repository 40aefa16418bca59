package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Odd is a member whose name a struct tag can't hold: the tag has Tag, the JSON
// Name.
type Odd struct{ Tag, Name string }

// EncodeExtra encodes object, a struct, and behind its members those of extra,
// sorted by name. A member that object has a field for is encoded from there
// alone. Generated code calls it.
func EncodeExtra[T any](object any, extra map[string]T, odd ...Odd) ([]byte, error) {
	data, err := EncodeOdd(object, odd...)
	if err != nil || len(extra) == 0 {
		return data, err
	}
	known := fieldNames(reflect.TypeOf(object))
	data = data[:len(data)-1]
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if _, own := tagOf(name, known, odd); own {
			continue
		}
		value, err := json.Marshal(extra[name])
		if err != nil {
			return nil, fmt.Errorf("encode member %q: %w", name, err)
		}
		data = appendMember(data, name, value)
	}
	return append(data, '}'), nil
}

// EncodeOdd encodes object, a struct some of whose members have odd names.
// Generated code calls it.
func EncodeOdd(object any, odd ...Odd) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil || len(odd) == 0 {
		return data, err
	}
	members, err := membersOf(data)
	if err != nil {
		return nil, err
	}
	renamed := []byte{'{'}
	for _, m := range members {
		if i := slices.IndexFunc(odd, func(o Odd) bool { return o.Tag == m.name }); i >= 0 {
			m.name = odd[i].Name
		}
		renamed = appendMember(renamed, m.name, m.value)
	}
	return append(renamed, '}'), nil
}

// appendMember appends a member to an object that is not closed yet.
func appendMember(object []byte, name string, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(append(append(object, quote(name)...), ':'), value...)
}

// tagOf returns the name that a struct's tag has for a member, and whether there
// is one.
func tagOf(name string, known map[string]bool, odd []Odd) (string, bool) {
	for _, o := range odd {
		switch name {
		case o.Name:
			return o.Tag, true
		case o.Tag:
			return "", false
		}
	}
	return name, known[name]
}

// DecodeOdd decodes data into object, a pointer to a struct some of whose members
// have odd names. Generated code calls it.
func DecodeOdd(data []byte, object any, odd ...Odd) error {
	return DecodeExtra[json.RawMessage](data, object, nil, odd...)
}

// DecodeExtra decodes data into object, a pointer to a struct, and the members
// that the struct has no field for into a new map, nil if there are none. A
// member that is no T is ignored: a provider may have added it since. Generated
// code calls it.
//
// The struct sees its own members only: encoding/json would take a member that
// differs in case for one of them.
func DecodeExtra[T any](data []byte, object any, extra *map[string]T, odd ...Odd) error {
	if extra != nil {
		*extra = nil
	}
	members, err := membersOf(data)
	if err != nil || members == nil {
		return errors.Join(err, Unmarshal(data, object))
	}
	known := fieldNames(reflect.TypeOf(object).Elem())
	own := []byte{'{'}
	beyond := members[:0:0]
	for _, m := range members {
		if tag, ok := tagOf(m.name, known, odd); ok {
			own = appendMember(own, tag, m.value)
		} else {
			beyond = append(beyond, m)
		}
	}
	if err := Unmarshal(append(own, '}'), object); err != nil || extra == nil {
		return err
	}
	for _, m := range beyond {
		var value T
		if Unmarshal(m.value, &value) != nil {
			continue
		}
		if *extra == nil {
			*extra = map[string]T{}
		}
		(*extra)[m.name] = value
	}
	return nil
}

// objectMember is a member of an object, its value as received.
type objectMember struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of a JSON object in their order, nil if data is
// no object.
func membersOf(data []byte) ([]objectMember, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, err
	}
	members := []objectMember{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := objectMember{}
		m.name, _ = token.(string)
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	_, err := dec.Token() // the closing brace
	return members, err
}

// names holds the JSON names of structs' fields, by type.
var names sync.Map

// fieldNames returns the names that the tags of a generated struct give its
// fields.
func fieldNames(t reflect.Type) map[string]bool {
	if known, ok := names.Load(t); ok {
		return known.(map[string]bool)
	}
	known := map[string]bool{}
	for i := range t.NumField() {
		tag := t.Field(i).Tag.Get("json")
		if name, _, _ := strings.Cut(tag, ","); tag != "-" {
			known[name] = true
		}
	}
	names.Store(t, known)
	return known
}
