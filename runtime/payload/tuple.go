package payload

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// EncodeTuple encodes items as a JSON array, and behind them those of rest, a
// slice or nil. Items at the end that are absent are left out, but for the first
// least ones, which are null then: nil pointers, slices and maps, and zero
// Nullables. Generated code calls it.
func EncodeTuple(least int, rest any, items ...any) ([]byte, error) {
	if r := reflect.ValueOf(rest); rest != nil {
		for i := range r.Len() {
			items = append(items, r.Index(i).Interface())
		}
	}
	for len(items) > least && isAbsent(items[len(items)-1]) {
		items = items[:len(items)-1]
	}
	if items == nil {
		items = []any{}
	}
	return json.Marshal(items)
}

// isAbsent reports whether an item stands for none.
func isAbsent(item any) bool {
	switch v := reflect.ValueOf(item); v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return v.IsNil()
	case reflect.Invalid:
		return true
	}
	zero, ok := item.(interface{ IsZero() bool })
	_, isTime := item.(Time)
	return ok && !isTime && zero.IsZero()
}

// DecodeTuple decodes a JSON array into the values that items point to, in their
// order, and what comes behind them into rest, a pointer to a slice, unless that
// is nil. Items that do not come are set to zero, as all are by null. Generated
// code calls it.
func DecodeTuple(data []byte, rest any, items ...any) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	for i, item := range items {
		reflect.ValueOf(item).Elem().SetZero()
		if i >= len(raw) {
			continue
		}
		if err := Unmarshal(raw[i], item); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	if rest == nil {
		return nil
	}
	more := reflect.ValueOf(rest).Elem()
	more.SetZero()
	for i := len(items); i < len(raw); i++ {
		item := reflect.New(more.Type().Elem())
		if err := Unmarshal(raw[i], item.Interface()); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
		more.Set(reflect.Append(more, item.Elem()))
	}
	return nil
}
