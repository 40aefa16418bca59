package codec

// EncodeAny encodes what an interface holds. What encoding/json makes of JSON
// text, and plain Go values, are encoded here; encoding/json takes the rest.
func EncodeAny(e *Encoder, key string, v *any) {
	switch x := (*v).(type) {
	case nil:
		e.Null(key)
	case bool:
		e.Bool(key, x)
	case string:
		e.String(key, x)
	case float64:
		e.Float64(key, x)
	case int:
		e.Int(key, int64(x))
	case int64:
		e.Int(key, x)
	case map[string]any:
		if e.enter() {
			EncodeMap(e, key, &x, EncodeAny)
			e.Leave()
			return
		}
		e.JSON(key, x)
	case []any:
		if e.enter() {
			EncodeSlice(e, key, &x, EncodeAny)
			e.Leave()
			return
		}
		e.JSON(key, x)
	default:
		e.JSON(key, x)
	}
}

// DecodeAny reads any value: null, a bool, a float64, a string, a []any or a
// map[string]any. A pointer that *v holds is read into.
func DecodeAny(d *Decoder, v *any) {
	if *v != nil {
		d.anyInto(v)
		return
	}
	*v = d.any()
}

// anyInto reads into what encoding/json may use of *v.
func (d *Decoder) anyInto(v *any) {
	switch (*v).(type) {
	case bool, float64, string, []any, map[string]any:
		*v = d.any()
	default:
		d.JSON(v)
	}
}

func (d *Decoder) any() any {
	switch d.peek() {
	case '{':
		m := map[string]any{}
		for name, ok := d.firstName(); ok; name, ok = d.nextName() {
			m[name] = d.any()
		}
		return m
	case '[':
		list := []any{}
		for more := d.array(); more; more = d.more() {
			list = append(list, d.any())
		}
		return list
	case '"':
		s, _ := d.string()
		return s
	case 't':
		return d.literal("true")
	case 'f':
		return !d.literal("false")
	case 'n':
		d.literal("null")
		return nil
	}
	f, _ := d.float(64)
	return f
}
