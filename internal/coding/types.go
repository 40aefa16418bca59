package coding

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/restaq/restaq/internal/shape"
)

const payloadPath = "github.com/restaq/restaq/runtime/payload"

// coder returns the coder of t, making it at the first time.
func (p *Plan) coder(t types.Type) *Coder {
	t = types.Unalias(t)
	key := types.TypeString(t, nil)
	if c, ok := p.coders[key]; ok {
		return c
	}
	c := &Coder{Type: t}
	p.coders[key] = c
	p.list = append(p.list, c)
	p.decide(c)
	return c
}

// decide sets the kind of c and what belongs to it.
func (p *Plan) decide(c *Coder) {
	if named, ok := c.Type.(*types.Named); ok && p.known(c, named) {
		return
	}
	if !shape.CanGuard(p.from, c.Type) {
		c.leave("generated code cannot name it or all of its fields")
		return
	}
	named, isNamed := c.Type.(*types.Named)
	switch u := c.Type.Underlying().(type) {
	case *types.Basic:
		c.basic(u)
	case *types.Interface:
		switch {
		case !u.Empty():
			c.leave("is an interface with methods")
		case isNamed:
			c.leave("is a named interface")
		default:
			c.Kind = Any
		}
	case *types.Pointer:
		if isNamed {
			c.leave("is a named pointer type")
			return
		}
		p.elem(c, Pointer, u.Elem())
	case *types.Slice:
		p.slice(c, u)
	case *types.Array:
		p.elem(c, Array, u.Elem())
	case *types.Map:
		p.mapping(c, u)
	case *types.Struct:
		if p.structure(c, u); c.Kind == Struct {
			c.Name = p.name(p.typeName(c.Type, named))
		}
	default:
		c.leave("has no JSON form")
	}
}

// leave leaves c's type to encoding/json.
func (c *Coder) leave(why string) {
	c.Kind, c.Why, c.Elem, c.Fields, c.Name = JSON, why, nil, nil, ""
}

func (p *Plan) elem(c *Coder, kind Kind, elem types.Type) {
	c.Kind = kind
	c.Elem = p.coder(elem)
}

// known decides on a type by its name or its methods.
func (p *Plan) known(c *Coder, named *types.Named) bool {
	pkg := named.Obj().Pkg()
	if pkg == nil {
		return false
	}
	switch pkg.Path() + "." + named.Obj().Name() {
	case "time.Time":
		c.Kind = Time
		return true
	case "encoding/json.RawMessage", "encoding/json/jsontext.Value":
		c.Kind = Raw
		return true
	case "encoding/json.Number":
		c.Kind = Number
		return true
	case payloadPath + ".Nullable":
		if elem := named.TypeArgs().At(0); needsAddress(elem, map[types.Type]bool{}) {
			c.leave("holds a type with methods that only pointers have")
		} else {
			p.elem(c, Nullable, elem)
		}
		return true
	}
	if pkg.Path() == payloadPath && hasMethods(named, "EncodeJSON", "DecodeJSON") && shape.CanName(p.from, named) {
		c.Kind = Own
		return true
	}
	methods := shape.Methods(named)
	if len(methods) > 0 {
		p.methods(c, named, methods)
	} else if name := newMethod(named); name != "" {
		c.leave("has " + name)
	} else {
		return false
	}
	return true
}

// methods decides on a type with methods for JSON or text.
func (p *Plan) methods(c *Coder, named *types.Named, methods []shape.Method) {
	var names []string
	for _, m := range methods {
		names = append(names, m.Name)
	}
	why := "has " + strings.Join(names, ", ")
	switch {
	case newMethod(named) != "":
		c.leave(why + ", " + newMethod(named))
	case types.IsInterface(named) || !shape.CanName(p.from, named):
		c.leave(why)
	case strings.HasPrefix(why, "has MarshalJSON, UnmarshalJSON"):
		c.Kind = Methods
	case why == "has MarshalText, UnmarshalText":
		c.Kind = Text
	default:
		c.leave(why)
	}
}

// newMethod returns a method of a type that encoding/json calls on its new
// engine only, "" if there is none.
func newMethod(named *types.Named) string {
	for _, name := range []string{"MarshalJSONTo", "UnmarshalJSONFrom"} {
		if hasMethods(named, name) {
			return name
		}
	}
	return ""
}

// hasMethods reports whether a type, or a pointer to it, has methods of these
// names.
func hasMethods(named *types.Named, names ...string) bool {
	for _, name := range names {
		obj, _, _ := types.LookupFieldOrMethod(named, true, nil, name)
		if _, ok := obj.(*types.Func); !ok {
			return false
		}
	}
	return true
}

func (c *Coder) basic(u *types.Basic) {
	switch info := u.Info(); {
	case info&types.IsBoolean != 0:
		c.Kind = Bool
	case info&types.IsUnsigned != 0:
		c.Kind = Uint
	case info&types.IsInteger != 0:
		c.Kind = Int
	case u.Kind() == types.Float32:
		c.Kind = Float32
	case u.Kind() == types.Float64:
		c.Kind = Float64
	case info&types.IsString != 0:
		c.Kind = String
	default:
		c.leave("has no JSON form")
	}
}

func (p *Plan) slice(c *Coder, u *types.Slice) {
	if b, ok := u.Elem().Underlying().(*types.Basic); ok && b.Kind() == types.Uint8 {
		if _, named := types.Unalias(u.Elem()).(*types.Named); named {
			c.leave("is a slice of a byte type of its own")
			return
		}
		c.Kind = Bytes
		return
	}
	p.elem(c, Slice, u.Elem())
}

func (p *Plan) mapping(c *Coder, u *types.Map) {
	key, isBasic := u.Key().Underlying().(*types.Basic)
	methods := shape.Methods(u.Key())
	switch {
	case needsAddress(u.Elem(), map[types.Type]bool{}):
		c.leave("is a map whose elements have methods that only pointers have")
	case p.textKey(u.Key()):
		p.elem(c, TextMap, u.Elem())
	case len(methods) > 0:
		c.leave("is a map whose keys have methods for JSON, or strings with methods for text, which releases of Go write differently")
	case !isBasic:
		c.leave("is a map with keys of another kind than strings and integers")
	case key.Info()&types.IsString != 0:
		p.elem(c, Map, u.Elem())
	case key.Info()&types.IsUnsigned != 0:
		p.elem(c, UintMap, u.Elem())
	case key.Info()&types.IsInteger != 0:
		p.elem(c, IntMap, u.Elem())
	default:
		c.leave("is a map with keys of another kind than strings and integers")
	}
}

// textKey reports whether the keys of a map are texts by methods of their own.
func (p *Plan) textKey(key types.Type) bool {
	named, ok := types.Unalias(key).(*types.Named)
	if !ok || types.IsInterface(key) || !shape.CanName(p.from, key) || newMethod(named) != "" {
		return false
	}
	if basic, ok := key.Underlying().(*types.Basic); ok && basic.Info()&types.IsString != 0 {
		return false
	}
	return isMethodOf(key, "MarshalText") && hasMethods(named, "UnmarshalText")
}

// needsAddress reports whether encoding a value of type t is another thing when
// the value has no address, as a map's elements have none.
func needsAddress(t types.Type, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	for _, m := range shape.Methods(t) {
		if m.Pointer && strings.HasPrefix(m.Name, "Marshal") {
			return true
		}
	}
	if zeroMethod(t) == ByMethod && !isMethodOf(t, "IsZero") {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return needsAddress(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if needsAddress(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// isMethodOf reports whether t itself, not only a pointer to it, has a method.
func isMethodOf(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	return obj != nil
}

// zeroMethod says how a value of type t is found to be zero.
func zeroMethod(t types.Type) Zero {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "IsZero")
	if fn, ok := obj.(*types.Func); ok {
		sig := fn.Signature()
		if sig.Params().Len() == 0 && sig.Results().Len() == 1 && types.Identical(sig.Results().At(0).Type(), types.Typ[types.Bool]) {
			return ByMethod
		}
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return ByReflection
	}
	return ByValue
}

// structure plans for a struct's fields.
func (p *Plan) structure(c *Coder, s *types.Struct) {
	if why := oddTag(s, 0); why != "" {
		c.leave(why)
		return
	}
	c.Kind = Struct
	for _, f := range shape.Fields(s) {
		path, ok := p.path(c.Type, s, f.Index)
		if !ok {
			c.leave(fmt.Sprintf("generated code cannot reach its field %s", f.Name))
			return
		}
		field := Field{Name: f.Name, Path: path, Option: f.Option, ZeroMethod: zeroMethod(f.Type)}
		field.Coder = p.coder(f.Type)
		if f.Option.OmitZero && field.ZeroMethod == ByMethod {
			if _, isPointer := f.Type.Underlying().(*types.Pointer); isPointer || types.IsInterface(f.Type) {
				c.leave(fmt.Sprintf("its field %s is left out by a method that may be called on nil", f.Name))
				return
			}
		}
		c.Fields = append(c.Fields, field)
	}
}

// oddTag returns why the tags of a struct, or of those embedded in it, are
// better read by encoding/json; "" if they are not.
func oddTag(s *types.Struct, depth int) string {
	for i := range s.NumFields() {
		text, ok := reflect.StructTag(s.Tag(i)).Lookup("json")
		if !ok && strings.Contains(s.Tag(i), "json") || strings.ContainsAny(text, "'\"`\\") {
			return fmt.Sprintf("the tag of its field %s is one that releases of Go read differently", s.Field(i).Name())
		}
		name, options, _ := strings.Cut(text, ",")
		if text != "-" && name != "" && !shape.ValidName(name) || strings.Contains(options, " ") {
			return fmt.Sprintf("the tag of its field %s is one that releases of Go read differently", s.Field(i).Name())
		}
		if s.Field(i).Embedded() && depth < 100 {
			t := s.Field(i).Type()
			if ptr, ok := t.Underlying().(*types.Pointer); ok {
				t = ptr.Elem()
			}
			if inner, ok := t.Underlying().(*types.Struct); ok && inner != s {
				if why := oddTag(inner, depth+1); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// path returns the way to a field, by names that p's package can write.
func (p *Plan) path(t types.Type, s *types.Struct, index []int) ([]Step, bool) {
	var path []Step
	reachable := true
	for n, i := range index {
		f := s.Field(i)
		reachable = reachable && (f.Exported() || f.Pkg() == p.from)
		step := Step{Name: f.Name()}
		if n < len(index)-1 {
			inner := f.Type()
			if ptr, ok := inner.Underlying().(*types.Pointer); ok {
				step.Pointer = true
				inner = ptr.Elem()
				if !f.Exported() {
					return nil, false // encoding/json refuses to make one
				}
			}
			s = inner.Underlying().(*types.Struct)
		}
		path = append(path, step)
	}
	if reachable {
		return path, true
	}
	last := path[len(path)-1]
	for _, step := range path {
		if step.Pointer {
			return nil, false
		}
	}
	// Go may promote the field through structs that have no name here.
	obj, found, _ := types.LookupFieldOrMethod(t, true, p.from, last.Name)
	if obj == nil || len(found) != len(index) {
		return nil, false
	}
	for i := range found {
		if found[i] != index[i] {
			return nil, false
		}
	}
	return []Step{last}, true
}
