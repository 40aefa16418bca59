package coding

import "go/types"

// A Member is a struct of a family.
type Member struct {
	Obj     *types.TypeName
	Const   string // the constant that holds its event type, in its package
	Pointer bool   // only pointers to it are of the family
	Coder   *Coder // is set by AddFamily
}

// AddFamily plans for events of a family, a sealed interface of an event
// package, as Add does for values of a type. Nowhere else has an event its type
// beside it: as a part of another type a family is what encoding/json makes of
// an interface.
func (p *Plan) AddFamily(t types.Type, members []Member, encodes, decodes bool) {
	named := types.Unalias(t).(*types.Named)
	c := p.families[named.Obj()]
	if c == nil {
		c = &Coder{Type: named, Kind: Family, Name: p.name(p.typeName(named, named), "read")}
		for _, m := range members {
			m.Coder = p.coder(m.Obj.Type())
			c.Members = append(c.Members, m)
		}
		p.families[named.Obj()] = c
		p.list = append(p.list, c)
	}
	p.wanted = append(p.wanted, wanted{c, encodes, decodes})
}
