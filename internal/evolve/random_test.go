package evolve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/restaq/restaq/internal/shape"
)

// form is a type that is made up: as Go writes it, and to make values of.
type form struct {
	source string
	typ    reflect.Type
	fields []formField // of a struct
	elem   *form       // of pointers, slices, arrays, maps
	wrap   string      // what stands in front of elem
}

type formField struct {
	name, options string
	form          *form
}

var leaves = []*form{
	leaf[bool]("bool"), leaf[string]("string"), leaf[int]("int"), leaf[int8]("int8"), leaf[int32]("int32"), leaf[int64]("int64"),
	leaf[uint8]("uint8"), leaf[uint32]("uint32"), leaf[uint64]("uint64"), leaf[float32]("float32"), leaf[float64]("float64"),
	leaf[[]byte]("[]byte"), leaf[time.Time]("time.Time"), leaf[json.RawMessage]("json.RawMessage"), leaf[json.Number]("json.Number"), leaf[any]("any"),
}

func leaf[T any](source string) *form { return &form{source: source, typ: reflect.TypeFor[T]()} }

// around returns the type with wrap in front of elem.
func around(wrap string, elem *form) *form {
	f := &form{source: wrap + elem.source, wrap: wrap, elem: elem}
	switch wrap {
	case "*":
		f.typ = reflect.PointerTo(elem.typ)
	case "[]":
		f.typ = reflect.SliceOf(elem.typ)
	case "[2]":
		f.typ = reflect.ArrayOf(2, elem.typ)
	case "[3]":
		f.typ = reflect.ArrayOf(3, elem.typ)
	case "map[string]":
		f.typ = reflect.MapOf(reflect.TypeFor[string](), elem.typ)
	case "map[int8]":
		f.typ = reflect.MapOf(reflect.TypeFor[int8](), elem.typ)
	case "map[int64]":
		f.typ = reflect.MapOf(reflect.TypeFor[int64](), elem.typ)
	}
	return f
}

var wraps = []string{"*", "[]", "[2]", "[3]", "map[string]", "map[int8]", "map[int64]"}

func structOf(fields []formField) *form {
	f := &form{fields: fields}
	var source strings.Builder
	var list []reflect.StructField
	for i, field := range fields {
		tag := fmt.Sprintf(`json:"%s%s"`, field.name, field.options)
		name := fmt.Sprintf("F%d", i)
		fmt.Fprintf(&source, "%s %s `%s`; ", name, field.form.source, tag)
		list = append(list, reflect.StructField{Name: name, Type: field.form.typ, Tag: reflect.StructTag(tag)})
	}
	f.source, f.typ = "struct{ "+source.String()+"}", reflect.StructOf(list)
	return f
}

var options = []string{"", "", ",omitempty", ",omitzero", ",string", ",omitempty,string"}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// randomForm makes up a type.
func randomForm(r *rand.Rand, depth int) *form {
	switch n := r.IntN(10); {
	case depth == 0 || n < 3:
		return pick(r, leaves)
	case n < 6:
		return around(pick(r, wraps), randomForm(r, depth-1))
	}
	var fields []formField
	for _, name := range []string{"a", "b", "c"}[:1+r.IntN(3)] {
		fields = append(fields, formField{name, pick(r, options), randomForm(r, depth-1)})
	}
	return structOf(fields)
}

// change returns a type that differs from f in one place, or two.
func change(r *rand.Rand, f *form) *form {
	switch {
	case r.IntN(6) == 0:
		return around(pick(r, wraps), f)
	case f.elem != nil && r.IntN(6) == 0:
		return f.elem
	case f.elem != nil && r.IntN(3) == 0:
		return around(pick(r, wraps), f.elem)
	case f.elem != nil:
		return around(f.wrap, change(r, f.elem))
	case f.fields == nil:
		return pick(r, leaves)
	}
	fields := append([]formField(nil), f.fields...)
	i := r.IntN(len(fields))
	switch r.IntN(6) {
	case 0:
		fields = append(fields, formField{"d", pick(r, options), randomForm(r, 1)})
	case 1:
		fields = append(fields[:i], fields[i+1:]...)
	case 2:
		fields[i].name = strings.ToUpper(fields[i].name)
	case 3, 4:
		fields[i].options = pick(r, options)
	default:
		fields[i].form = change(r, fields[i].form)
	}
	return structOf(fields)
}

// fill sets v to a random value.
func fill(r *rand.Rand, v reflect.Value) {
	if r.IntN(4) == 0 {
		v.SetZero()
		return
	}
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(4e9), r.Int64N(1e9)).In(time.FixedZone("", 3600*r.IntN(5)))))
		return
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(pick(r, []string{`null`, `18446744073709551615`, `"x"`, `{"a":1.50}`, `[]`, `true`})))
		return
	case reflect.TypeFor[json.Number]():
		v.SetString(pick(r, []string{"0", "-1", "12345678901234567890123", "1.5e300", "0.1"}))
		return
	case reflect.TypeFor[any]():
		v.Set(reflect.ValueOf(pick(r, []any{"x", 1.5, int64(math.MaxInt64), true, []any{nil, "y"}, map[string]any{"a": 1}})))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(pick(r, []string{"", "x", "1", "null", "2026-01-02T03:04:05Z", "AAAA", "é\n<"}))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(pick(r, []int64{0, 1, -1, math.MaxInt64, math.MinInt64, r.Int64()}) >> (64 - v.Type().Bits()))
		if n := pick(r, []int64{5, 1<<24 + 1, 1<<53 + 1}); r.IntN(2) == 0 && !v.OverflowInt(n) {
			v.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(pick(r, []uint64{0, 1, math.MaxUint64, 1<<63 + 1, r.Uint64()}) >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		f := pick(r, []float64{0, 1, -0.1, 1e21, 1e-7, 16777217, 0.3, math.MaxFloat32, float64(r.Float32()), r.NormFloat64() * 1e30})
		if v.Kind() == reflect.Float64 && r.IntN(2) == 0 {
			f = r.NormFloat64() * 1e300
		}
		v.SetFloat(f)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(3) {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key)
			fill(r, elem)
			v.SetMapIndex(key, elem)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	}
}

// keeps reports whether b holds what a does: a is what the old build makes of a
// record, b what the new build does.
func keeps(a, b reflect.Value) bool {
	isNull := func(v reflect.Value) bool {
		if v.Type() == reflect.TypeFor[json.RawMessage]() && string(v.Bytes()) == "null" {
			return true
		}
		switch v.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
			return v.IsNil()
		}
		return false
	}
	switch {
	case isNull(a) && isNull(b):
		return true
	case b.Type() == reflect.TypeFor[json.RawMessage](): // the text is there: the old type reads it
		again := reflect.New(a.Type())
		return json.Unmarshal(b.Bytes(), again.Interface()) == nil && sameJSON(a, again.Elem())
	case b.Kind() == reflect.Interface:
		return sameJSON(a, b)
	case isNull(a) || isNull(b):
		return false
	case a.Kind() == reflect.Pointer:
		return keeps(a.Elem(), b)
	case b.Kind() == reflect.Pointer:
		return keeps(a, b.Elem())
	}
	number := func(v reflect.Value) bool {
		return v.CanInt() || v.CanUint() || v.CanFloat() || v.Type() == reflect.TypeFor[json.Number]()
	}
	if a.Type() == reflect.TypeFor[json.Number]() && a.String() == "" || b.Type() == reflect.TypeFor[json.Number]() && b.String() == "" {
		return a.Type() == b.Type() && a.String() == b.String()
	}
	switch {
	case a.Type() == reflect.TypeFor[time.Time]() || b.Type() == reflect.TypeFor[time.Time]():
		return sameJSON(a, b)
	case number(a) != number(b):
		return false
	case number(a):
		return sameJSON(a, b)
	case a.Kind() == reflect.Struct && b.Kind() == reflect.Struct:
		return keepsMembers(a, b)
	case (a.Kind() == reflect.Slice || a.Kind() == reflect.Array) && (b.Kind() == reflect.Slice || b.Kind() == reflect.Array):
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !keeps(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case a.Kind() == reflect.Map && b.Kind() == reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		found := map[string]reflect.Value{}
		for _, key := range b.MapKeys() {
			found[fmt.Sprint(key)] = b.MapIndex(key)
		}
		for _, key := range a.MapKeys() {
			if other, ok := found[fmt.Sprint(key)]; !ok || !keeps(a.MapIndex(key), other) {
				return false
			}
		}
		return true
	}
	return a.Kind() == b.Kind() && a.Equal(b)
}

func keepsMembers(a, b reflect.Value) bool {
	members := map[string]int{}
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		members[name] = i + 1
	}
	count := 0
	for i := range b.NumField() {
		name, options, _ := strings.Cut(b.Type().Field(i).Tag.Get("json"), ",")
		if at := members[name]; at > 0 {
			count++
			if !keeps(a.Field(at-1), b.Field(i)) {
				return false
			}
		} else if !strings.Contains(options, "omit") || !b.Field(i).IsZero() {
			return false
		}
	}
	return count == a.NumField()
}

// sameJSON reports whether both are the same JSON value; numbers are compared
// by their exact value.
func sameJSON(a, b reflect.Value) bool {
	read := func(v reflect.Value) (x any, ok bool) {
		data, err := json.Marshal(v.Interface())
		if err != nil {
			return nil, false
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		err = dec.Decode(&x)
		return x, err == nil
	}
	x, ok1 := read(a)
	y, ok2 := read(b)
	return ok1 && ok2 && equalJSON(x, y)
}

func equalJSON(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, ok1 := new(big.Rat).SetString(a.String())
		y, ok2 := new(big.Rat).SetString(b.String())
		return ok1 && ok2 && x.Cmp(y) == 0
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equalJSON(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key := range a {
			if other, ok := b[key]; !ok || !equalJSON(a[key], other) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// shapesOf returns the shapes of forms.
func shapesOf(t *testing.T, forms []*form) []Shape {
	t.Helper()
	var src strings.Builder
	src.WriteString("package p\nimport (\"encoding/json\"; \"time\")\nvar _ json.Number; var _ time.Time\n")
	for i, f := range forms {
		fmt.Fprintf(&src, "type T%d = %s\n", i, f.source)
	}
	return declared(t, src.String(), len(forms))
}

var (
	fset = token.NewFileSet()
	std  = importer.ForCompiler(fset, "source", nil)
)

// declared returns the shapes of the types T0, T1, … that a source declares.
func declared(t *testing.T, src string, n int) []Shape {
	t.Helper()
	file, err := parser.ParseFile(fset, "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: std}
	pkg, err := conf.Check("example.com/p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var shaper shape.Shaper
	shapes := make([]Shape, n)
	for i := range shapes {
		s, err := shaper.Of(pkg.Scope().Lookup(fmt.Sprintf("T%d", i)).Type(), pkg)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(s.Schema)
		if err != nil {
			t.Fatal(err)
		}
		if shapes[i], err = ParseShape(data); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	}
	return shapes
}

// What is said to be read is read: whatever a record of the old type holds, the
// new type makes the same of it.
func TestNothingIsLostOrInventedWhereItIsSaidToBeRead(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	const pairs = 1500
	var forms []*form
	for range pairs {
		f := randomForm(r, 3)
		forms = append(forms, f, change(r, f))
	}
	shapes := shapesOf(t, forms)
	safe, cautious := 0, 0
	for i := 0; i < len(forms); i += 2 {
		for _, p := range [][2]int{{i, i + 1}, {i + 1, i}} {
			old, new := forms[p[0]], forms[p[1]]
			reads := Reads(shapes[p[0]], shapes[p[1]])
			lost := lossOf(t, r, old, new, reads)
			if reads {
				safe++
			} else if !lost {
				cautious++
			}
		}
	}
	t.Logf("%d pairs, %d read, %d not read although no value was found that differs", 2*pairs, safe, cautious)
	if safe < pairs/10 {
		t.Errorf("only %d of %d pairs are read", safe, 2*pairs)
	}
}

// lossOf tries values. It reports whether one was found that new does not read;
// that is an error if it was said to.
func lossOf(t *testing.T, r *rand.Rand, old, new *form, reads bool) bool {
	for range 30 {
		v := reflect.New(old.typ)
		fill(r, v.Elem())
		record, err := json.Marshal(v.Interface())
		if err != nil {
			continue // of a time, say
		}
		was, is := reflect.New(old.typ), reflect.New(new.typ)
		if err := json.Unmarshal(record, was.Interface()); err != nil {
			continue // nor does the old build read it
		}
		err = json.Unmarshal(record, is.Interface())
		if err == nil && keeps(was.Elem(), is.Elem()) {
			continue
		}
		if reads {
			t.Errorf("%s\nis said to be read by\n%s\nbut %s becomes %+v (%v)", old.source, new.source, record, is.Elem(), err)
		}
		return true
	}
	return false
}
