package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/model"
)

// signature is a marked function's signature beside its syntax.
type signature struct {
	fn     *types.Func
	sig    *types.Signature
	params []param
}

// param is one parameter.
type param struct {
	v   *types.Var
	pos token.Pos
}

// signature reads what handlers and steps have in common. It returns false if
// nothing more can be said about the function.
func (c *checker) signature(m *marked) (*signature, bool) {
	decl := m.Func
	fn, ok := c.src.Info.Defs[decl.Name].(*types.Func)
	switch name := decl.Name.Name; {
	case name == "_":
		c.fail(m, decl.Name.Pos(), "the function has no name", "")
		return nil, false
	case decl.Recv == nil && (name == "init" || name == "main" && c.src.Name == "main"):
		c.fail(m, decl.Name.Pos(), "Go calls the function by itself", "write a function of its own")
		return nil, false
	case !ok:
		c.fail(m, decl.Name.Pos(), "the function does not compile", c.whyNot())
		return nil, false
	}
	s := &signature{fn: fn, sig: fn.Signature()}
	if decl.Body == nil {
		c.fail(m, decl.Name.Pos(), "the function has no body", "")
		return nil, false
	}
	if s.sig.TypeParams().Len() > 0 {
		c.fail(m, decl.Type.TypeParams.Pos(), "is generic, and a record cannot tell one instance from another", "write a function for each type that is needed, and let it call this one")
		return nil, false
	}
	if named := receiver(s.sig); named != nil && named.TypeParams().Len() > 0 {
		c.fail(m, decl.Recv.Pos(), fmt.Sprintf("is a method of the generic type %s, and a record cannot tell one instance from another", named.Obj().Name()), "put the method on a type without type parameters")
		return nil, false
	}
	if s.sig.Variadic() {
		last := decl.Type.Params.List[len(decl.Type.Params.List)-1]
		c.fail(m, last.Pos(), "has a variadic parameter", "take a slice instead")
		return nil, false
	}
	positions := paramPositions(decl.Type.Params)
	for i := range s.sig.Params().Len() {
		s.params = append(s.params, param{s.sig.Params().At(i), positions[i]})
	}
	if c.invalid(m, s) {
		return nil, false
	}
	return s, true
}

// paramPositions returns where the parameters stand.
func paramPositions(list *ast.FieldList) []token.Pos {
	var positions []token.Pos
	for _, field := range list.List {
		for _, name := range field.Names {
			positions = append(positions, name.Pos())
		}
		if len(field.Names) == 0 {
			positions = append(positions, field.Pos())
		}
	}
	return positions
}

// receiver returns the named type of a method, nil for a function.
func receiver(sig *types.Signature) *types.Named {
	if sig.Recv() == nil {
		return nil
	}
	named, _ := deref(sig.Recv().Type()).(*types.Named)
	return named
}

// deref returns what t points to, or t, without aliases.
func deref(t types.Type) types.Type {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	return t
}

// invalid reports whether the signature does not compile, and what the type
// checker says of it.
func (c *checker) invalid(m *marked, s *signature) bool {
	decl := m.Func
	found := false
	for _, e := range c.src.TypeErrors {
		if decl.Pos() <= e.Pos && e.Pos < decl.Body.Pos() && !e.Soft && !strings.HasPrefix(e.Msg, "\t") {
			c.fail(m, e.Pos, "its signature does not compile: "+c.says(e), "")
			found = true
		}
	}
	if !found && (hasInvalid(s.sig.Params()) || hasInvalid(s.sig.Results()) || s.sig.Recv() != nil && receiver(s.sig) == nil) {
		c.fail(m, decl.Name.Pos(), "its signature does not compile", c.whyNot())
		found = true
	}
	return found
}

// whyNot returns the first error in the package's declarations, bodies of
// functions aside, "" if there is none.
func (c *checker) whyNot() string {
	for _, e := range c.src.TypeErrors {
		inFunction := slices.ContainsFunc(c.src.Files, func(f *model.File) bool {
			return slices.ContainsFunc(f.Syntax.Decls, func(d ast.Decl) bool {
				_, ok := d.(*ast.FuncDecl)
				return ok && d.Pos() <= e.Pos && e.Pos < d.End()
			})
		})
		if !inFunction && !e.Soft && !strings.HasPrefix(e.Msg, "\t") {
			return c.where(e.Pos) + ": " + c.says(e)
		}
	}
	return ""
}

// says returns the first line of a type error, with files of the package under
// their base names.
func (c *checker) says(e types.Error) string {
	line, _, _ := strings.Cut(e.Msg, "\n")
	return strings.ReplaceAll(line, c.src.Dir+string(filepath.Separator), "")
}

// hasInvalid reports whether a type is, or is written with, an invalid one.
// What a named type consists of does not count.
func hasInvalid(t types.Type) bool {
	switch t := t.(type) {
	case *types.Basic:
		return t.Kind() == types.Invalid
	case *types.Alias:
		return hasInvalid(types.Unalias(t))
	case *types.Named:
		if args := t.TypeArgs(); args != nil {
			for arg := range args.Types() {
				if hasInvalid(arg) {
					return true
				}
			}
		}
		basic, ok := t.Underlying().(*types.Basic)
		return ok && basic.Kind() == types.Invalid
	case *types.Pointer:
		return hasInvalid(t.Elem())
	case *types.Slice:
		return hasInvalid(t.Elem())
	case *types.Array:
		return hasInvalid(t.Elem())
	case *types.Chan:
		return hasInvalid(t.Elem())
	case *types.Map:
		return hasInvalid(t.Key()) || hasInvalid(t.Elem())
	case *types.Signature:
		return hasInvalid(t.Params()) || hasInvalid(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if hasInvalid(v.Type()) {
				return true
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if hasInvalid(f.Type()) {
				return true
			}
		}
	}
	return false
}

// isNamed reports whether t is the type name of the package at path.
func isNamed(t types.Type, path, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == path && named.Obj().Name() == name
}

func isContext(t types.Type) bool { return isNamed(t, "context", "Context") }

func isError(t types.Type) bool {
	return types.Identical(types.Unalias(t), types.Universe.Lookup("error").Type())
}

// contextAndError checks the first parameter and the last result.
func (c *checker) contextAndError(m *marked, s *signature) bool {
	ok := true
	if len(s.params) == 0 || !isContext(s.params[0].v.Type()) {
		pos := m.Func.Type.Params.Pos()
		if len(s.params) > 0 {
			pos = s.params[0].pos
		}
		hint := "the first parameter must be ctx context.Context"
		for _, p := range s.params {
			if isContext(p.v.Type()) {
				hint = "move the context to the front"
			}
		}
		c.fail(m, pos, "takes no context.Context", hint)
		ok = false
	}
	results := s.sig.Results()
	if n := results.Len(); n == 0 || !isError(results.At(n-1).Type()) {
		pos := m.Func.Type.Params.End()
		if m.Func.Type.Results != nil {
			pos = m.Func.Type.Results.Pos()
		}
		hint := "the last result must be an error"
		for v := range results.Variables() {
			if isError(v.Type()) {
				hint = "move the error to the end"
			}
		}
		c.fail(m, pos, "returns no error", hint)
		ok = false
	}
	return ok
}

// newFunc returns the common part of a handler's or step's model.
func (c *checker) newFunc(m *marked, s *signature) model.Func {
	f := model.Func{Name: m.Func.Name.Name, Obj: s.fn, Stem: m.stem, Pos: c.src.Position(m.Func.Name.Pos())}
	if named := receiver(s.sig); named != nil {
		f.Recv = named.Obj()
		_, f.RecvPointer = types.Unalias(s.sig.Recv().Type()).(*types.Pointer)
	}
	return f
}

// buildStep checks a step.
func (c *checker) buildStep(m *marked) {
	s, ok := c.signature(m)
	if !ok || !c.contextAndError(m, s) {
		return
	}
	k := m.Marker
	step := &model.Step{
		Func: c.newFunc(m, s), Record: recordName(m), Wrapper: m.Func.Name.Name + "Step",
		Attempts: k.Attempts, Backoff: model.Backoff{Min: k.BackoffMin, Max: k.BackoffMax}, Timeout: k.Timeout, Pure: k.Pure,
	}
	rest := c.transaction(m, step, s.params[1:])
	results := s.sig.Results()
	switch {
	case results.Len() > 2:
		c.fail(m, m.Func.Type.Results.Pos(), fmt.Sprintf("returns %d values beside the error, at most one is possible", results.Len()-1), "return a struct")
		return
	case results.Len() == 2:
		step.Output = results.At(0).Type()
		c.recorded(m, m.Func.Type.Results.Pos(), "output", step.Output)
	}
	for i, p := range rest {
		c.recorded(m, p.pos, inputLabel(p.v.Name(), i), p.v.Type())
		step.Inputs = append(step.Inputs, model.Param{Type: p.v.Type()})
	}
	c.nameParams(m, &step.Func, s, rest, step.Inputs)
	if k.Key.Text != "" && !m.broken {
		step.Key = c.key(m, s, rest, step.Inputs)
	}
	if step.Tx != model.NoTx && step.Pure {
		c.fail(m, s.params[1].pos, "takes a transaction, and pure says that it has no effect outside its result", "leave out one of the two")
	}
	m.step = step
}

// inputLabel names an input in problems.
func inputLabel(name string, i int) string {
	if name == "" || name == "_" {
		return fmt.Sprintf("input %d", i+1)
	}
	return "input " + name
}

// recorded checks a type that goes into records.
func (c *checker) recorded(m *marked, pos token.Pos, label string, t types.Type) {
	if reason := c.unnameable(t); reason != "" {
		c.fail(m, pos, label+": "+reason, "")
		return
	}
	if f := c.jsonFault(t); f != nil {
		c.fail(m, pos, label+": "+f.String(), f.Hint)
	}
}

const (
	pgxPath = "github.com/jackc/pgx/v5"
	sqlPath = "database/sql"
)

// transaction takes a transaction off the parameters behind the context, and
// reports one that stands elsewhere or has the wrong type.
func (c *checker) transaction(m *marked, step *model.Step, params []param) []param {
	rest := params
	if len(params) > 0 {
		switch t := params[0].v.Type(); txKind(t) {
		case model.PgxTx:
			step.Tx, step.TxType, rest = model.PgxTx, t, params[1:]
		case model.SQLTx:
			step.Tx, step.TxType, rest = model.SQLTx, t, params[1:]
		}
	}
	var inputs []param
	for i, p := range rest {
		t := p.v.Type()
		switch {
		case txKind(t) != model.NoTx && step.Tx != model.NoTx:
			c.fail(m, p.pos, "takes a second transaction", "a step takes one, as its second parameter")
		case txKind(t) != model.NoTx:
			c.fail(m, p.pos, fmt.Sprintf("takes its transaction as parameter %d", i+2), "it must be the second parameter, behind the context")
		case isNamed(deref(t), pgxPath, "Tx") || isNamed(t, sqlPath, "Tx") || isNamed(t, pgxPath+"/pgxpool", "Tx"):
			c.fail(m, p.pos, "the transaction has the type "+c.typeString(t), "it must be pgx.Tx or *sql.Tx")
		default:
			inputs = append(inputs, p)
		}
	}
	return inputs
}

// txKind returns which transaction t is.
func txKind(t types.Type) model.Tx {
	switch p, _ := types.Unalias(t).(*types.Pointer); {
	case isNamed(t, pgxPath, "Tx"):
		return model.PgxTx
	case p != nil && isNamed(p.Elem(), sqlPath, "Tx"):
		return model.SQLTx
	}
	return model.NoTx
}

// typeString writes a type as the user's package does.
func (c *checker) typeString(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == c.src.Types {
			return ""
		}
		return p.Name()
	})
}

// buildHandler checks a handler.
func (c *checker) buildHandler(m *marked) {
	s, ok := c.signature(m)
	if !ok || !c.contextAndError(m, s) {
		return
	}
	const form = "a handler has the form func(ctx context.Context, event E) error"
	switch {
	case len(s.params) < 2:
		c.fail(m, m.Func.Type.Params.Pos(), "takes no event", form)
		return
	case len(s.params) > 2:
		var extra []string
		for _, p := range s.params[2:] {
			extra = append(extra, c.typeString(p.v.Type()))
		}
		c.fail(m, s.params[2].pos, "takes more than an event: "+strings.Join(extra, ", "), form+"; what else it needs belongs into its receiver")
		return
	case s.sig.Results().Len() > 1:
		c.fail(m, m.Func.Type.Results.Pos(), "returns a value beside the error", form)
		return
	}
	k := m.Marker
	h := &model.Handler{
		Func: c.newFunc(m, s), FullName: c.handlerName(m), Event: s.params[1].v.Type(),
		Attempts: k.Attempts, Backoff: model.Backoff{Min: k.BackoffMin, Max: k.BackoffMax}, Timeout: k.Timeout,
	}
	c.eventParam(m, h, s.params[1])
	c.nameHandlerParams(m, h, s)
	if k.Order.Text != "" && !m.broken {
		h.Order = c.order(m, s, h)
	}
	m.handler = h
}
