package templates

import (
	"go/ast"
	"go/parser"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// key is the function that computes a step's key, the user's expression over
// the inputs:
//
//	func(in sendReceiptIn) string {
//		return in.customer
//	}
func (f *file) key(s *model.Step) *jen.Statement {
	used := []string{}
	for name := range identifiers(s.Key) {
		used = append(used, name)
	}
	in := free("in", used...)
	return jen.Func().Params(jen.Id(in).Add(f.inputType(s))).String().Block(
		jen.Return(f.text(s.Key, func(param string) *jen.Statement { return jen.Id(in).Dot(param) })))
}

// order is the function that computes a handler's order key:
//
//	func(event stripe.ChargeSucceeded) string {
//		return event.Data.Object.Customer.ID()
//	}
func (f *file) order(h *model.Handler) *jen.Statement {
	return jen.Func().Params(jen.Id(h.Param).Add(f.goType(h.Event))).String().Block(
		jen.Return(f.text(h.Order, func(param string) *jen.Statement { return jen.Id(param) })))
}

// text is an expression's value as a string.
func (f *file) text(e *model.Expr, param func(name string) *jen.Statement) *jen.Statement {
	expr := new(jen.Statement)
	for _, p := range e.Parts {
		switch {
		case p.Param != "":
			expr.Add(param(p.Param))
		case p.Name != "":
			expr.Add(f.qual(p.Package, "", p.Name))
		default:
			expr.Id(p.Text)
		}
	}
	switch e.Result {
	case model.StringKind:
		return jen.String().Call(expr)
	case model.SignedResult:
		return f.qual("strconv", "strconv", "FormatInt").Call(jen.Int64().Call(expr), jen.Lit(10))
	case model.UnsignedResult:
		return f.qual("strconv", "strconv", "FormatUint").Call(jen.Uint64().Call(expr), jen.Lit(10))
	case model.StringerResult:
		if !isOperand(e) {
			expr = jen.Parens(expr)
		}
		return expr.Dot("String").Call()
	}
	return expr
}

// isOperand reports whether a selector can stand behind an expression as it is.
func isOperand(e *model.Expr) bool {
	parsed, err := parser.ParseExpr(e.String())
	if err != nil {
		return false
	}
	switch parsed.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr, *ast.IndexExpr, *ast.ParenExpr:
		return true
	}
	return false
}
