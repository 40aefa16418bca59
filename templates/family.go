package templates

import (
	"go/types"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// familyDecoder emits the function that reads an event of a family:
//
//	// pullRequestDecode reads an event for the handler pullRequest.
//	func pullRequestDecode(eventType string, payload []byte) (github.PullRequestEvent, error) {
//		return codec.DecodeFamily[github.PullRequestEvent](github.Decode, eventType, payload)
//	}
func (f *file) familyDecoder(h *model.Handler) {
	if h.Kind != model.FamilyEvent {
		return
	}
	f.Comment("// " + h.Stem + "Decode reads an event for the handler " + h.Name + ".")
	f.Func().Id(h.Stem+"Decode").Params(
		jen.Id("eventType").String(), jen.Id("payload").Index().Byte(),
	).Params(f.goType(h.Event), jen.Error()).Block(
		jen.Return(f.qual(codecPath, "codec", "DecodeFamily").Types(f.goType(h.Event)).Call(
			f.qual(h.Decoder, "", "Decode"), jen.Id("eventType"), jen.Id("payload"))),
	)
	f.Line()
}

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

// member is an event of a family in a form that can be encoded and decoded:
//
//	codec.NewMember(&in.event, pullRequestEventType, github.Decode)
func (f *file) member(pointer *jen.Statement, t types.Type) *jen.Statement {
	named := family(t)
	pkg := named.Obj().Pkg()
	return f.qual(codecPath, "codec", "NewMember").Call(
		pointer, jen.Id(f.familyTypeOf(named)), f.qual(pkg.Path(), pkg.Name(), "Decode"))
}

// familyTypeOf returns the name of the function that tells the event types of a
// family, which familyTypes will emit.
func (f *file) familyTypeOf(named *types.Named) string {
	key := types.TypeString(named, nil)
	if name, ok := f.typeOf[key]; ok {
		return name
	}
	first, size := utf8.DecodeRuneInString(named.Obj().Name())
	name := string(unicode.ToLower(first)) + named.Obj().Name()[size:] + "Type"
	for f.avoid[name] || f.pkg.Taken[name] {
		name += "_"
	}
	f.avoid[name] = true
	f.typeOf[key] = name
	f.families = append(f.families, named)
	return name
}

// familyTypes emits the functions that tell event types:
//
//	// pullRequestEventType returns the event type of a github.PullRequestEvent.
//	func pullRequestEventType(e github.PullRequestEvent) string {
//		switch e.(type) {
//		case github.PullRequestOpened, *github.PullRequestOpened:
//			return github.PullRequestOpenedType
//		…
//		}
//		return ""
//	}
func (f *file) familyTypes() {
	for _, named := range f.families {
		pkg := named.Obj().Pkg()
		name := f.typeOf[types.TypeString(named, nil)]
		var cases []jen.Code
		for _, member := range members(named) {
			typ := f.qual(pkg.Path(), pkg.Name(), member)
			cases = append(cases, jen.Case(typ.Clone(), jen.Op("*").Add(typ.Clone())).Block(
				jen.Return(f.qual(pkg.Path(), pkg.Name(), member+"Type"))))
		}
		f.Comment("// " + name + " returns the event type of a " + types.TypeString(named, (*types.Package).Name) + ".")
		f.Func().Id(name).Params(jen.Id("e").Add(f.goType(named))).String().Block(
			jen.Switch(jen.Id("e").Assert(jen.Type())).Block(cases...),
			jen.Return(jen.Lit("")),
		)
		f.Line()
	}
}

// members returns the structs of a family that stand for event types, by name.
func members(named *types.Named) []string {
	iface := named.Underlying().(*types.Interface)
	scope := named.Obj().Pkg().Scope()
	var found []string
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || types.IsInterface(obj.Type()) {
			continue
		}
		if _, ok := scope.Lookup(name + "Type").(*types.Const); ok && types.Implements(obj.Type(), iface) {
			found = append(found, name)
		}
	}
	return found
}
