package check

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/restaq/restaq/internal/marker"
	"github.com/restaq/restaq/internal/model"
)

// key checks a step's key=, an expression over its inputs.
func (c *checker) key(m *marked, s *signature, inputs []param, names []model.Param) *model.Expr {
	operands := map[types.Object]string{}
	for i, p := range inputs {
		operands[p.v] = names[i].Name
	}
	e := c.expr(m, s, "key", m.Marker.Key, operands)
	if e == nil {
		return nil
	}
	for _, part := range e.Parts {
		if part.Param != "" {
			return e
		}
	}
	c.fail(m, m.Marker.Key.Pos, fmt.Sprintf("key=%s: uses no input, so that every call has the same key", m.Marker.Key.Text), "")
	return nil
}

// order checks a handler's order=, an expression over its event.
func (c *checker) order(m *marked, s *signature, h *model.Handler) *model.Expr {
	return c.expr(m, s, "order", m.Marker.Order, map[types.Object]string{s.params[1].v: h.Param})
}

// expr parses and type-checks an expression in the scope of a function's
// parameters and its file's imports. Operands are the parameters that it may
// use, with their names in generated code.
func (c *checker) expr(m *marked, s *signature, option string, w marker.Word, operands map[types.Object]string) *model.Expr {
	fail := func(hint, format string, args ...any) *model.Expr {
		c.fail(m, w.Pos, fmt.Sprintf("%s=%s: ", option, w.Text)+fmt.Sprintf(format, args...), hint)
		return nil
	}
	if strings.ContainsAny(w.Text, "\n\r") {
		c.fail(m, w.Pos, option+"=: an expression stands on one line", "")
		return nil
	}
	fset := token.NewFileSet()
	x, err := parser.ParseExprFrom(fset, "", w.Text, 0)
	if err != nil {
		if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
			return fail("", "%s", list[0].Msg)
		}
		return fail("", "%s", err)
	}
	if hasComment(w.Text) {
		return fail("", "an expression cannot hold a comment")
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	if err := types.CheckExpr(fset, c.src.Types, m.Func.Body.Lbrace, x, info); err != nil {
		if e, ok := err.(types.Error); ok {
			return fail("", "%s", e.Msg)
		}
		return fail("", "%s", err)
	}
	if reason := forbidden(x, info, s, operands); reason != "" {
		return fail("", "%s", reason)
	}
	if path := c.unusedImport(m, info); path != "" {
		return fail("let a function of the package compute it", "nothing else in the file uses the import %q, which Go does not allow", path)
	}
	value := info.Types[x]
	if !value.IsValue() {
		return fail("", "is no value")
	}
	result, ok := resultOf(value)
	if !ok {
		return fail("the value must be a string, an integer or a fmt.Stringer", "has the type %s", c.typeString(types.Default(value.Type)))
	}
	return &model.Expr{Parts: c.parts(fset, w.Text, x, info, operands), Result: result}
}

// unusedImport returns the path of an import that an expression uses and the
// file does not, "" if there is none: to Go, markers are comments.
func (c *checker) unusedImport(m *marked, info *types.Info) string {
	for _, spec := range m.file.Syntax.Imports {
		unused := slices.ContainsFunc(c.src.TypeErrors, func(e types.Error) bool {
			return e.Soft && spec.Pos() <= e.Pos && e.Pos < spec.End()
		})
		path, err := strconv.Unquote(spec.Path.Value)
		if !unused || err != nil {
			continue
		}
		for _, obj := range info.Uses {
			name, isName := obj.(*types.PkgName)
			if isName && name.Imported().Path() == path || !isName && obj.Pkg() != nil && obj.Pkg().Path() == path {
				return path
			}
		}
	}
	return ""
}

// hasComment reports whether Go source holds a comment.
func hasComment(src string) bool {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	for {
		switch _, tok, _ := s.Scan(); tok {
		case token.COMMENT:
			return true
		case token.EOF:
			return false
		}
	}
}

// forbidden says what an expression must not use, "" if it uses nothing such.
func forbidden(x ast.Expr, info *types.Info, s *signature, operands map[types.Object]string) string {
	reason := ""
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			reason = "function literals are not possible"
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				reason = "receiving from a channel is not possible"
			}
		case *ast.Ident:
			obj, ok := info.Uses[n].(*types.Var)
			if _, operand := operands[obj]; !ok || operand {
				break
			}
			switch {
			case obj == s.sig.Recv():
				reason = fmt.Sprintf("uses the receiver %s, which the key must not depend on", n.Name)
			case len(s.params) > 0 && obj == s.params[0].v:
				reason = fmt.Sprintf("uses the context %s", n.Name)
			case obj.Parent() != nil && obj.Pkg() != nil && obj.Parent() != obj.Pkg().Scope():
				reason = fmt.Sprintf("uses %s, which is no input", n.Name)
			}
		}
		return reason == ""
	})
	return reason
}

// resultOf says how a value becomes a string.
func resultOf(value types.TypeAndValue) (model.Result, bool) {
	t := value.Type
	if basic, ok := t.Underlying().(*types.Basic); ok {
		switch {
		case basic.Info()&types.IsString != 0:
			if types.Identical(types.Unalias(t), types.Typ[types.String]) || basic.Kind() == types.UntypedString && t == basic {
				return model.StringResult, true
			}
			return model.StringKind, true
		case basic.Info()&types.IsUnsigned != 0:
			return model.UnsignedResult, true
		case basic.Info()&types.IsInteger != 0:
			if value.Value != nil && basic.Info()&types.IsUntyped != 0 {
				_, fits := constant.Int64Val(constant.ToInt(value.Value))
				return model.SignedResult, fits
			}
			return model.SignedResult, true
		}
	}
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, "String")
	method, ok := obj.(*types.Func)
	if !ok {
		return 0, false
	}
	sig := method.Signature()
	return model.StringerResult, sig.Params().Len() == 0 && sig.Results().Len() == 1 &&
		types.Identical(sig.Results().At(0).Type(), types.Typ[types.String])
}

// parts cuts an expression's text at its operands and at the names of imported
// packages.
func (c *checker) parts(fset *token.FileSet, text string, x ast.Expr, info *types.Info, operands map[types.Object]string) []model.Part {
	var list []model.Part
	done := 0
	offset := func(pos token.Pos) int { return fset.PositionFor(pos, false).Offset }
	put := func(from, to token.Pos, part model.Part) {
		if between := text[done:offset(from)]; between != "" {
			list = append(list, model.Part{Text: between})
		}
		list = append(list, part)
		done = offset(to)
	}
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				if name, ok := info.Uses[id].(*types.PkgName); ok {
					put(n.Pos(), n.End(), model.Part{Package: name.Imported().Path(), Name: n.Sel.Name})
					return false
				}
			}
			return true
		case *ast.Ident:
			obj := info.Uses[n]
			if obj == nil {
				return true
			}
			if name, ok := operands[obj]; ok {
				put(n.Pos(), n.End(), model.Part{Param: name})
			} else if obj.Pkg() != nil && obj.Pkg() != c.src.Types && obj.Parent() == obj.Pkg().Scope() {
				// From a dot import.
				put(n.Pos(), n.End(), model.Part{Package: obj.Pkg().Path(), Name: n.Name})
			}
		}
		return true
	})
	if rest := strings.TrimRight(text[done:], " \t"); rest != "" {
		list = append(list, model.Part{Text: rest})
	}
	return list
}
