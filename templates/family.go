package templates

import (
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/coding"
	"github.com/restaq/restaq/internal/model"
)

// family returns the named interface that t is, nil if it is none.
func family(t types.Type) *types.Named {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	if i, ok := named.Underlying().(*types.Interface); !ok || i.Empty() {
		return nil
	}
	return named
}

// membersOf returns the structs of a family, as p knows them.
func membersOf(p *model.Package, family *types.Named) []coding.Member {
	var members []coding.Member
	for _, m := range p.Families[family.Obj()] {
		members = append(members, coding.Member{Obj: m.Obj, Const: m.Const, Pointer: m.Pointer})
	}
	return members
}

// familyReader is the function that decodes an event of a handler's family:
//
//	codec.FamilyReader(readGithubPullRequestEvent, github.Decode)
func (f *file) familyReader(h *model.Handler) *jen.Statement {
	c := f.plan.Of(h.Event)
	return f.codecName("FamilyReader").Call(f.familyFunctions(c)...)
}

// familyFunctions are what reads the events of a family: a function of ours for
// those that generated code knows, and its package's own for those that it has
// learned since.
func (f *file) familyFunctions(c *coding.Coder) []jen.Code {
	pkg := family(c.Type).Obj().Pkg()
	return []jen.Code{jen.Id("read" + c.Name), f.qual(pkg.Path(), pkg.Name(), "Decode")}
}

// familyCoder emits the functions of a family. What encodes and decodes is for
// steps, whose records have the event's type beside it; what reads is for
// handlers, too:
//
//	func encodeGithubPullRequestEvent(e *codec.Encoder, key string, v *github.PullRequestEvent) {
//		switch x := (*v).(type) {
//		case github.PullRequestOpened, *github.PullRequestOpened:
//			codec.EncodeMember(e, key, github.PullRequestOpenedType, x, encodeGithubPullRequestOpened)
//		…
//		default:
//			codec.EncodeNoMember(e, key, x)
//		}
//	}
//
//	func decodeGithubPullRequestEvent(d *codec.Decoder, v *github.PullRequestEvent) {
//		codec.DecodeMember(d, v, readGithubPullRequestEvent, github.Decode)
//	}
//
//	func readGithubPullRequestEvent(d *codec.Decoder, eventType string) github.PullRequestEvent {
//		switch eventType {
//		case github.PullRequestOpenedType:
//			return codec.Read(d, decodeGithubPullRequestOpened)
//		…
//		}
//		return nil
//	}
func (f *file) familyCoder(c *coding.Coder) {
	if c.Encodes {
		var cases []jen.Code
		for _, m := range c.Members {
			of := []jen.Code{jen.Op("*").Add(f.goType(m.Coder.Type))}
			if !m.Pointer {
				of = append([]jen.Code{f.goType(m.Coder.Type)}, of...)
			}
			cases = append(cases, jen.Case(of...).Block(f.codecName("EncodeMember").Call(
				jen.Id("e"), jen.Id("key"), f.eventType(m), jen.Id("x"), f.instance(m.Coder, f.encoder(m.Coder)))))
		}
		cases = append(cases, jen.Default().Block(f.codecName("EncodeNoMember").Call(jen.Id("e"), jen.Id("key"), jen.Id("x"))))
		f.encodeFunc(c.Name, "v", f.goType(c.Type),
			jen.Switch(jen.Id("x").Op(":=").Parens(jen.Op("*").Id("v")).Assert(jen.Type())).Block(cases...))
		f.decodeFunc(c.Name, "v", f.goType(c.Type), f.codecName("DecodeMember").Call(
			append([]jen.Code{jen.Id("d"), jen.Id("v")}, f.familyFunctions(c)...)...))
	}
	var cases []jen.Code
	for _, m := range c.Members {
		read := "Read"
		if m.Pointer {
			read = "ReadPointer"
		}
		cases = append(cases, jen.Case(f.eventType(m)).Block(
			jen.Return(f.codecName(read).Call(jen.Id("d"), f.instance(m.Coder, f.decoder(m.Coder))))))
	}
	f.Func().Id("read"+c.Name).Params(
		jen.Id("d").Op("*").Add(f.codecName("Decoder")), jen.Id("eventType").String(),
	).Add(f.goType(c.Type)).Block(
		jen.Switch(jen.Id("eventType")).Block(cases...),
		jen.Return(jen.Nil()),
	)
	f.Line()
}

// eventType is the constant that holds the event type of a family's member.
func (f *file) eventType(m coding.Member) *jen.Statement {
	pkg := m.Obj.Pkg()
	return f.qual(pkg.Path(), pkg.Name(), m.Const)
}
