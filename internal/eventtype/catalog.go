package eventtype

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/marker"
	"github.com/restaq/restaq/internal/model"
)

// claim is a struct that stands for an event type.
type claim struct {
	obj       *types.TypeName
	eventType string
	constant  string // the name of the constant in obj's package
}

// eventPackage is what a package says about event types.
type eventPackage struct {
	claims []claim // by the structs' names
	decode bool    // has Decode(eventType string, payload []byte) (any, error)
}

// byType returns the claim on an event type.
func (p *eventPackage) byType(eventType string) (claim, bool) {
	for _, c := range p.claims {
		if c.eventType == eventType {
			return c, true
		}
	}
	return claim{}, false
}

// byStruct returns the claim of a struct.
func (p *eventPackage) byStruct(obj *types.TypeName) (claim, bool) {
	for _, c := range p.claims {
		if c.obj == obj {
			return c, true
		}
	}
	return claim{}, false
}

// Catalog knows which structs stand for which event types: by the constants
// <Struct>Type of compiled packages, and by the markers of those read from
// source, whose generated constants are not looked at. It is not safe for
// concurrent use.
type Catalog struct {
	marked   map[*types.Package]map[string]string // struct name to event type
	packages map[*types.Package]*eventPackage
}

// NewCatalog returns a catalog that has seen no markers.
func NewCatalog() *Catalog {
	return &Catalog{marked: map[*types.Package]map[string]string{}, packages: map[*types.Package]*eventPackage{}}
}

// Mark adds the structs marked //restaq:event in a file of package p. All files
// of a package are added before the first question about it.
func (c *Catalog) Mark(p *types.Package, file *ast.File) {
	decls, _ := marker.Find(file)
	for _, d := range decls {
		if d.Type == nil || d.Marker == nil || d.Marker.Verb != marker.Event || len(d.Marker.Types) == 0 {
			continue
		}
		if c.marked[p] == nil {
			c.marked[p] = map[string]string{}
		}
		c.marked[p][d.Type.Name.Name] = d.Marker.Types[0].Text
	}
}

// IsFamily reports whether t is a sealed interface of an event package.
func (c *Catalog) IsFamily(t types.Type) bool { return len(c.family(t)) > 0 }

// Members returns the structs of a sealed interface of an event package, by
// name; none for another type.
func (c *Catalog) Members(t types.Type) []model.Member {
	var members []model.Member
	for _, claimed := range c.family(t) {
		value := types.Implements(claimed.obj.Type(), t.Underlying().(*types.Interface))
		members = append(members, model.Member{Obj: claimed.obj, Const: claimed.constant, Pointer: !value})
	}
	return members
}

// of returns what p says about event types.
func (c *Catalog) of(p *types.Package) *eventPackage {
	if found := c.packages[p]; found != nil {
		return found
	}
	found := &eventPackage{}
	c.packages[p] = found
	for _, name := range p.Scope().Names() {
		obj, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		if _, ok := obj.Type().Underlying().(*types.Struct); !ok {
			continue
		}
		if eventType := c.marked[p][name]; eventType != "" {
			found.claims = append(found.claims, claim{obj, eventType, name + "Type"})
		} else if value, ok := stringConstant(p, name+"Type"); ok && strings.Contains(value, ".") {
			found.claims = append(found.claims, claim{obj, value, name + "Type"})
		}
	}
	if decode, ok := p.Scope().Lookup("Decode").(*types.Func); ok {
		bytes, empty := types.NewSlice(types.Typ[types.Byte]), types.NewInterfaceType(nil, nil)
		params, results := decode.Signature().Params(), decode.Signature().Results()
		found.decode = params.Len() == 2 && results.Len() == 2 &&
			types.Identical(params.At(0).Type(), types.Typ[types.String]) && types.Identical(params.At(1).Type(), bytes) &&
			types.Identical(types.Unalias(results.At(0).Type()), empty) && types.Identical(types.Unalias(results.At(1).Type()), types.Universe.Lookup("error").Type())
	}
	return found
}

// stringConstant returns the value of a string constant of p.
func stringConstant(p *types.Package, name string) (string, bool) {
	c, ok := p.Scope().Lookup(name).(*types.Const)
	if !ok || c.Val().Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(c.Val()), true
}

// family returns the structs of an event package that implement one of its
// sealed interfaces, nil if t is no such interface.
func (c *Catalog) family(t types.Type) []claim {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	iface, ok := named.Underlying().(*types.Interface)
	if !ok || !sealed(iface) {
		return nil
	}
	p := c.of(named.Obj().Pkg())
	if !p.decode {
		return nil
	}
	var members []claim
	for _, claimed := range p.claims {
		if t := claimed.obj.Type(); types.Implements(t, iface) || types.Implements(types.NewPointer(t), iface) {
			members = append(members, claimed)
		}
	}
	return members
}

// sealed reports whether only the interface's own package can implement it.
func sealed(iface *types.Interface) bool {
	for method := range iface.Methods() {
		if !method.Exported() {
			return true
		}
	}
	return false
}

// Comes reports whether an event of type t, a struct of a family or a pointer to
// one, can come to a handler of that family that is subscribed to the event types
// and patterns wanted. If not, it says why. It knows of families in event packages
// that restaqgen generated, whose events come as values; fset has the positions.
func (c *Catalog) Comes(fset *token.FileSet, family, t types.Type, wanted []string) (bool, Misfit) {
	members := c.family(family)
	if len(members) == 0 || !isGenerated(fset, members[0].obj.Pkg()) {
		return true, Misfit{}
	}
	target, isPointer := types.Unalias(t), false
	if pointer, ok := target.(*types.Pointer); ok {
		target, isPointer = types.Unalias(pointer.Elem()), true
	}
	named, ok := target.(*types.Named)
	if !ok {
		return true, Misfit{}
	}
	i := slices.IndexFunc(members, func(m claim) bool { return m.obj == named.Obj() })
	if i < 0 {
		return true, Misfit{}
	}
	name := members[i].obj.Pkg().Name() + "." + named.Obj().Name()
	if !slices.ContainsFunc(wanted, func(w string) bool { return matches(w, members[i].eventType) }) {
		return false, Misfit{
			Reason: fmt.Sprintf("asks for %s, and is not subscribed to %s", name, members[i].eventType),
			Hint:   "add the event type to //restaq:on, or remove what waits for it",
		}
	}
	if isPointer {
		return false, Misfit{Reason: fmt.Sprintf("asks for *%s, and events come as values", name), Hint: "ask for " + name, Pointer: true}
	}
	return true, Misfit{}
}

// isGenerated reports whether restaqgen wrote p's function Decode.
func isGenerated(fset *token.FileSet, p *types.Package) bool {
	decode := p.Scope().Lookup("Decode")
	return decode != nil && filepath.Base(fset.Position(decode.Pos()).Filename) == "decode_gen.go"
}
