// Package coding decides how values of types are encoded as JSON and decoded
// again: by which function of the runtime's package codec, by a function that
// is generated for the type, or by encoding/json, and why.
//
// It only plans; the emitters write the functions. encoding/json takes over
// wherever its meaning depends on what generated code cannot see or must not
// rely on: methods of the type's own, fields that cannot be named or guarded,
// what releases of Go do differently. It takes over for that part alone.
package coding

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/restaq/restaq/internal/shape"
)

// Kind says how a type is encoded.
type Kind int

// The kinds. Those up to JSON have a function in package codec.
const (
	Bool Kind = iota
	Int
	Uint
	Float32
	Float64
	String
	Bytes    // a slice of bytes, in base64
	Time     // time.Time
	Raw      // json.RawMessage
	Any      // the empty interface
	Number   // json.Number
	Methods  // by MarshalJSON and UnmarshalJSON of its own
	Text     // by MarshalText and UnmarshalText of its own
	JSON     // left to encoding/json
	Own      // of runtime/payload, by methods of its own
	Nullable // payload.Nullable of Elem
	Pointer  // to Elem
	Slice    // of Elem
	Array    // of Elem
	Map      // of Elem by strings
	IntMap   // of Elem by signed integers
	UintMap  // of Elem by unsigned integers
	TextMap  // of Elem by a type that is Text
	Struct
	Family // an event of Members, with its type beside it
)

// A Coder says how values of one type are encoded and decoded.
type Coder struct {
	Type   types.Type
	Kind   Kind
	Elem   *Coder  // of Nullable, Pointer, Slice, Array and maps
	Fields []Field // of Struct

	Members []Member // of Family

	// Name is what the functions and the table of the type are named after, if
	// it has any: encode<Name>, decode<Name>, <name>Fields. A struct has, and a
	// family, with read<Name>; a kind with an Elem has where a function stands
	// for it.
	Name string

	// Recursive says that a value of the type can hold another.
	Recursive bool

	// Encodes and Decodes say which functions are wanted, NilEncodes that
	// the one that encodes may get a nil pointer.
	Encodes, Decodes, NilEncodes bool

	// Why says why encoding/json takes the type.
	Why string
}

// A Field is a member of a struct's object.
type Field struct {
	Name       string
	Path       []Step // from the struct to the field
	Coder      *Coder
	Option     shape.Option
	ZeroMethod Zero
}

// LeftOut reports whether the member may be left out, by a tag option.
func (f *Field) LeftOut() bool { return f.Option.OmitEmpty || f.Option.OmitZero }

// A Step is a field on the way to another.
type Step struct {
	Name    string
	Pointer bool // to an embedded struct: what is behind it may not be there
}

// Zero says how a value is found to be zero, for the tag option omitzero.
type Zero int

// The ways.
const (
	ByValue      Zero = iota // by comparing with the type's zero value
	ByMethod                 // by IsZero
	ByReflection             // by reflection
)

// A Plan holds the coders of a package's types.
type Plan struct {
	from     *types.Package
	coders   map[string]*Coder
	families map[*types.TypeName]*Coder
	list     []*Coder // in the order in which they were met
	wanted   []wanted
	taken    func(name string) bool
	used     map[string]bool
}

// New returns a plan for code in the package from. Taken tells the names that
// are not free at its package level.
func New(from *types.Package, taken func(name string) bool) *Plan {
	return &Plan{
		from: from, coders: map[string]*Coder{}, families: map[*types.TypeName]*Coder{}, taken: taken, used: map[string]bool{},
	}
}

// Add plans for values of type t: to encode them, to decode them, or both.
func (p *Plan) Add(t types.Type, encodes, decodes bool) {
	p.wanted = append(p.wanted, wanted{p.coder(t), encodes, decodes})
}

type wanted struct {
	coder            *Coder
	encodes, decodes bool
}

// Finish is called when all types have been added.
func (p *Plan) Finish() {
	p.findRecursive()
	for _, w := range p.wanted {
		p.function(w.coder)
		p.want(w.coder, w.encodes, w.decodes)
		w.coder.nilable()
	}
}

// Of returns the coder of a type that was added.
func (p *Plan) Of(t types.Type) *Coder {
	if named, ok := types.Unalias(t).(*types.Named); ok && p.families[named.Obj()] != nil {
		return p.families[named.Obj()]
	}
	return p.coders[types.TypeString(types.Unalias(t), nil)]
}

// function says that a function shall stand for c, if its kind has elements.
func (p *Plan) function(c *Coder) {
	if c.Elem != nil && c.Name == "" {
		c.Name = p.name(describe(c.Type))
	}
}

// Coders returns all coders with a name, in a fixed order.
func (p *Plan) Coders() []*Coder {
	var named []*Coder
	for _, c := range p.list {
		if c.Name != "" && (c.Encodes || c.Decodes) {
			named = append(named, c)
		}
	}
	return named
}

// Delegated returns the coders of types that encoding/json takes, and of fields
// that it puts in a string.
func (p *Plan) Delegated() []*Coder {
	var found []*Coder
	for _, c := range p.list {
		if !c.Encodes && !c.Decodes {
			continue
		}
		if c.Kind == JSON {
			found = append(found, c)
		}
		for _, f := range c.Fields {
			if f.Option.Quoted && f.Coder.Kind != Int && f.Coder.Kind != Uint {
				why := fmt.Sprintf("is put in a string by the tag of %s", f.Path[len(f.Path)-1].Name)
				found = append(found, &Coder{Type: f.Coder.Type, Why: why})
			}
		}
	}
	return found
}

// Structs returns the named structs that generated code looks into.
func (p *Plan) Structs() []*types.Named {
	var found []*types.Named
	for _, c := range p.list {
		if named, ok := types.Unalias(c.Type).(*types.Named); ok && c.Kind == Struct && (c.Encodes || c.Decodes) {
			found = append(found, named)
		}
	}
	return found
}

// want marks what is needed of c and below it.
func (p *Plan) want(c *Coder, encodes, decodes bool) {
	if (!encodes || c.Encodes) && (!decodes || c.Decodes) {
		return
	}
	c.Encodes, c.Decodes = c.Encodes || encodes, c.Decodes || decodes
	if c.Recursive {
		p.function(c)
	}
	if c.Elem != nil {
		c.Elem.nilable()
		p.function(c.Elem)
		p.want(c.Elem, encodes, decodes)
	}
	for _, m := range c.Members {
		p.function(m.Coder)
		p.want(m.Coder, encodes, decodes)
	}
	for _, f := range c.Fields {
		if !f.Option.Quoted {
			p.want(f.Coder, encodes, decodes)
			if !f.LeftOut() {
				f.Coder.nilable()
			}
		}
	}
}

// nilable says that a value of c's type is encoded even if it is a nil pointer.
func (c *Coder) nilable() {
	if c.Kind == Pointer {
		c.Elem.NilEncodes = true
	}
}

// below returns the coders that c's functions use.
func (c *Coder) below() []*Coder {
	if c.Elem != nil {
		return []*Coder{c.Elem}
	}
	var list []*Coder
	for _, f := range c.Fields {
		list = append(list, f.Coder)
	}
	for _, m := range c.Members {
		list = append(list, m.Coder)
	}
	return list
}

// findRecursive marks the named types whose values can hold others of their
// type, by Tarjan's algorithm: those in a strongly connected component.
func (p *Plan) findRecursive() {
	order, low := map[*Coder]int{}, map[*Coder]int{}
	var stack []*Coder
	var visit func(c *Coder)
	visit = func(c *Coder) {
		order[c] = len(order) + 1
		low[c] = order[c]
		stack = append(stack, c)
		self := false
		for _, next := range c.below() {
			self = self || next == c
			if order[next] == 0 {
				visit(next)
			}
			low[c] = min(low[c], low[next])
		}
		if low[c] < order[c] {
			return
		}
		n := slices.Index(stack, c)
		for _, member := range stack[n:] {
			_, named := member.Type.(*types.Named)
			member.Recursive = named && (self || len(stack)-n > 1)
			low[member] = len(p.list) + 1 // of a component that is done
		}
		stack = stack[:n]
	}
	for _, c := range p.list {
		if order[c] == 0 {
			visit(c)
		}
	}
}
