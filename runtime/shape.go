package restaq

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
)

// shapeOf fingerprints what encoding/json can see of a type, for steps that no
// generator described: kinds, field names and tags.
func shapeOf(t reflect.Type) string {
	var text strings.Builder
	writeShape(&text, t, make(map[reflect.Type]int))
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:8])
}

// writeShape writes a type's structure. A type that contains itself is written
// as its position on the way down.
func writeShape(w *strings.Builder, t reflect.Type, above map[reflect.Type]int) {
	if depth, ok := above[t]; ok {
		fmt.Fprintf(w, "^%d", depth)
		return
	}
	above[t] = len(above)
	defer delete(above, t)
	w.WriteString(t.Kind().String())
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		writeShape(w, t.Elem(), above)
	case reflect.Array:
		fmt.Fprintf(w, "%d", t.Len())
		writeShape(w, t.Elem(), above)
	case reflect.Map:
		writeShape(w, t.Key(), above)
		writeShape(w, t.Elem(), above)
	case reflect.Struct:
		w.WriteByte('{')
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() && !f.Anonymous {
				continue
			}
			fmt.Fprintf(w, "%s %q ", f.Name, f.Tag.Get("json"))
			writeShape(w, f.Type, above)
			w.WriteByte(';')
		}
		w.WriteByte('}')
	}
}
