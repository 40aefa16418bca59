package check

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/restaq/restaq/internal/calls"
	"github.com/restaq/restaq/internal/model"
	"github.com/restaq/restaq/internal/problem"
)

// predeclared are the names that generated code uses as Go predeclares them.
var predeclared = []string{"any", "bool", "byte", "error", "int64", "nil", "string", "true", "uint64"}

// takeNames notes the names that the package's files declare and import.
func (c *checker) takeNames() {
	for _, name := range c.src.Types.Scope().Names() {
		c.pkg.Taken[name] = true
	}
	clauses := map[string]string{}
	for _, p := range c.src.Types.Imports() {
		clauses[p.Path()] = p.Name()
	}
	for _, file := range c.src.Files {
		for _, spec := range file.Syntax.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil || importPath == "C" {
				continue
			}
			clause := clauses[importPath]
			if clause == "" {
				clause = path.Base(importPath)
			}
			c.pkg.Imports[importPath] = clause
			switch {
			case spec.Name == nil:
				c.pkg.Taken[clause] = true
			case spec.Name.Name != "_" && spec.Name.Name != ".":
				c.pkg.Taken[spec.Name.Name] = true
			}
		}
	}
}

// stems chooses the stems of the marked functions, for steps and handlers
// apart, as what is made of them differs. A stem depends on the names of
// functions alone, not on their order: where two receivers have a function of
// one name, both stems begin with the receiver's.
func (c *checker) stems() {
	var functions []*marked
	type name struct{ verb, plain string }
	count := map[name]int{}
	for _, m := range c.marked {
		if m.Func != nil {
			functions = append(functions, m)
			count[name{m.Marker.Verb, lower(m.Func.Name.Name)}]++
		}
	}
	slices.SortStableFunc(functions, func(a, b *marked) int { return cmp.Compare(c.declText(a), c.declText(b)) })
	used := map[name]bool{}
	for _, m := range functions {
		verb, stem := m.Marker.Verb, lower(m.Func.Name.Name)
		if recv := receiverName(m.Func); recv != "" && (count[name{verb, stem}] > 1 || !c.freeStem(stem)) {
			stem = lower(recv) + upper(m.Func.Name.Name)
		}
		m.stem = stem
		for n := 2; !c.freeStem(m.stem) || used[name{verb, m.stem}]; n++ {
			m.stem = stem + strconv.Itoa(n)
		}
		used[name{verb, m.stem}] = true
	}
}

// freeStem reports whether nothing of the user's has a name that generated code
// makes of the stem.
func (c *checker) freeStem(stem string) bool {
	return !slices.ContainsFunc(model.Suffixes, func(suffix string) bool { return c.pkg.Taken[stem+suffix] })
}

// lower returns an identifier with its first word in lower case.
func lower(name string) string {
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsUpper(r) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	return string(runes)
}

// upper returns an identifier with its first letter in upper case.
func upper(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}

// parameterNames hands out names of parameters.
type parameterNames struct{ used map[string]bool }

func newParameterNames(avoid ...string) *parameterNames {
	n := &parameterNames{used: map[string]bool{"": true, "_": true}}
	for _, name := range avoid {
		n.used[name] = true
	}
	return n
}

// take returns the first of names that is free, or the last with a number.
func (n *parameterNames) take(names ...string) string {
	for _, name := range names {
		if !n.used[name] {
			n.used[name] = true
			return name
		}
	}
	last := names[len(names)-1]
	for i := 2; ; i++ {
		if name := last + strconv.Itoa(i); !n.used[name] {
			n.used[name] = true
			return name
		}
	}
}

// avoidInBodies are names that generated function bodies use.
var avoidInBodies = []string{"context", "codec", "err", "in", "restaq", "rt", "strconv", "time", "int64", "nil", "string", "uint64"}

// importNames returns the names of the packages that the user's files import.
func (c *checker) importNames() []string {
	var names []string
	for _, clause := range c.pkg.Imports {
		names = append(names, clause)
	}
	return names
}

// nameReceiver chooses the names of receiver and context.
func (c *checker) nameReceiver(f *model.Func, decl *ast.FuncDecl, ctx string, names *parameterNames) {
	if f.Recv != nil {
		own := ""
		if list := decl.Recv.List[0].Names; len(list) > 0 {
			own = list[0].Name
		}
		f.RecvParam = names.take(own, initial(f.Recv.Name()), "recv")
	}
	f.Ctx = names.take(ctx, "ctx")
}

// initial returns the first letter of a type's name in lower case.
func initial(name string) string {
	r, _ := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r))
}

// nameParams chooses the parameters' names in a step's wrapper: the user's own,
// as long as they can be used.
func (c *checker) nameParams(m *marked, f *model.Func, s *signature, inputs []param, out []model.Param) {
	names := newParameterNames(append(c.importNames(), avoidInBodies...)...)
	for _, suffix := range model.Suffixes {
		names.used[f.Stem+suffix] = true
	}
	own := map[string]bool{} // so that a made-up name does not displace a user's
	for _, p := range s.params {
		own[p.v.Name()] = true
	}
	c.nameReceiver(f, m.Func, s.params[0].v.Name(), names)
	names = newParameterNames("err", f.RecvParam, f.Ctx)
	for _, suffix := range model.Suffixes {
		names.used[f.Stem+suffix] = true
	}
	for i, p := range inputs {
		if name := p.v.Name(); !names.used[name] {
			out[i].Name = names.take(name)
		}
	}
	for i, p := range inputs {
		if out[i].Name == "" {
			made := "arg" + strconv.Itoa(i+1)
			if name := p.v.Name(); name != "" && name != "_" {
				made = name + "Value"
			}
			for own[made] {
				made += "_"
			}
			out[i].Name = names.take(made)
		}
	}
}

// nameHandlerParams chooses a handler's parameter names in generated functions.
func (c *checker) nameHandlerParams(m *marked, h *model.Handler, s *signature) {
	names := newParameterNames(append(c.importNames(), avoidInBodies...)...)
	for _, suffix := range model.Suffixes {
		names.used[h.Stem+suffix] = true
	}
	c.nameReceiver(&h.Func, m.Func, s.params[0].v.Name(), names)
	h.Param = names.take(s.params[1].v.Name(), "event")
}

// nameGroups chooses the names of the receivers of RegisterHandlers.
func (c *checker) nameGroups() {
	for _, g := range c.pkg.Groups {
		if g.Type == nil {
			continue
		}
		names := newParameterNames(append(c.importNames(), avoidInBodies...)...)
		var own []string
		for _, h := range g.Handlers {
			own = append(own, h.RecvParam)
		}
		for _, s := range g.Steps {
			own = append(own, s.RecvParam)
		}
		g.Param = names.take(own...)
	}
}

// names reports names that are used twice or taken.
func (c *checker) names() {
	c.duplicates()
	if len(c.marked) > 0 {
		c.shadowed()
	}
	registered := map[*types.TypeName]bool{}
	for _, m := range c.marked {
		switch f := m.fn(); {
		case m.event != nil:
			c.taken(m, nil, m.event.Const, m.Type.Name.Pos(), "generated constant")
		case f != nil:
			if m.step != nil {
				c.taken(m, f.Recv, m.step.Wrapper, m.Func.Name.Pos(), "wrapper")
			}
			if !registered[f.Recv] {
				registered[f.Recv] = true
				c.taken(m, f.Recv, calls.Register, m.Func.Name.Pos(), "generated registration")
			}
		}
	}
}

// duplicates reports steps, handlers and events of one name.
func (c *checker) duplicates() {
	seen := map[string]*marked{}
	for _, m := range c.marked {
		name, reason := m.subject, "its name is taken by %s at %s"
		switch {
		case m.Type != nil && len(m.Marker.Types) > 0:
			name, reason = "event type "+m.Marker.Types[0].Text, "its event type is taken by %s at %s"
		case m.Type != nil || m.Func == nil:
			continue
		}
		first := seen[name]
		if first == nil {
			seen[name] = m
			continue
		}
		pos, at := declName(m).Pos(), declName(first)
		hint := ""
		if m.Func != nil && m.Marker.Name.Text == "" {
			hint = "give one of them another name with name="
		}
		c.fail(m, pos, fmt.Sprintf(reason, c.declText(first), c.where(at.Pos())), hint)
	}
}

// declName returns the identifier that a marked declaration declares.
func declName(m *marked) *ast.Ident {
	if m.Func != nil {
		return m.Func.Name
	}
	return m.Type.Name
}

// declText names a marked declaration as Go does: Billing.send, or send.
func (c *checker) declText(m *marked) string {
	if m.Func != nil {
		if recv := receiverName(m.Func); recv != "" {
			return recv + "." + m.Func.Name.Name
		}
	}
	return declName(m).Name
}

// where returns the position of something else in the package, with the file's
// base name: all files of a package lie in one folder.
func (c *checker) where(pos token.Pos) string {
	p := c.src.Position(pos)
	return fmt.Sprintf("%s:%d:%d", filepath.Base(p.Filename), p.Line, p.Column)
}

// taken reports a name that generated code needs and the user has given to
// something else: a field or method of recv, or, for nil, something at package
// level.
func (c *checker) taken(m *marked, recv *types.TypeName, name string, pos token.Pos, what string) {
	var other types.Object
	if recv == nil {
		other = c.src.Types.Scope().Lookup(name)
	} else if named, ok := recv.Type().(*types.Named); ok {
		for method := range named.Methods() {
			if method.Name() == name {
				other = method
			}
		}
		if s, ok := named.Underlying().(*types.Struct); ok && other == nil {
			for field := range s.Fields() {
				if field.Name() == name {
					other = field
				}
			}
		}
	}
	switch {
	case other != nil:
		c.fail(m, pos, fmt.Sprintf("the name of its %s, %s, is taken at %s", what, name, c.where(other.Pos())), "rename one of them")
	case recv == nil && c.pkg.Taken[name]:
		c.fail(m, pos, fmt.Sprintf("the name of its %s, %s, is taken by an import", what, name), "rename one of them")
	}
}

// shadowed reports declarations that hide what generated code needs.
func (c *checker) shadowed() {
	for _, name := range predeclared {
		if obj := c.src.Types.Scope().Lookup(name); obj != nil {
			c.problems.Add(problem.Problem{
				Pos:    c.src.Position(obj.Pos()),
				Reason: fmt.Sprintf("the package declares %s, which generated code needs as Go predeclares it", name),
				Hint:   "rename it",
			})
		}
	}
}
